import type { Anthropic } from "@anthropic-ai/sdk";
import type { CacheOption } from "../../../contracts/content.js";
import { limitMarks } from "../shared/mark-limits.js";

type Mark = Anthropic.CacheControlEphemeral;
type Markable = { cache_control?: Mark | null };

/** Returns the field that marks the end of a prefix. Returns no field without a time. */
export function markOf(cache: CacheOption | undefined): { readonly cache_control?: Mark } {
  if (typeof cache !== "object") return {};
  // The vendor does not offer 30 minutes. The next longer time is an hour.
  return { cache_control: { type: "ephemeral", ...(cache.ttl !== "5m" && { ttl: "1h" }) } };
}

/** Blocks of a request in the order of the prompt. */
interface MarkedRequest {
  readonly tools: readonly Markable[];
  readonly system: readonly Markable[];
  readonly messages: readonly Anthropic.MessageParam[];
}

/**
 * Sets the marks that concern the whole request. `off` removes all marks. `auto` and `{ ttl }` mark
 * the last tool, the end of the system prompt and the last block of the conversation. Without an
 * option, `byDefault` marks the tool and the system prompt.
 */
export function setMarks(
  { tools, system, messages }: MarkedRequest,
  cache: CacheOption | undefined,
  byDefault: boolean,
): void {
  const content = messages.flatMap(
    ({ content: blocks }): readonly Markable[] =>
      typeof blocks === "string" ? [] : (blocks as readonly Markable[]), // thinking is never marked
  );
  if (cache === "off") {
    for (const block of [...tools, ...system, ...content]) delete block.cache_control;
    return;
  }
  const mark = markOf(cache).cache_control ?? { type: "ephemeral" as const };
  const isMarking = cache !== undefined || byDefault;
  for (const list of isMarking ? [tools, system] : []) setMark(list.at(-1), mark);
  if (cache !== undefined) setMark(lastMarkable(messages), mark);
  const marked = [...tools, ...system, ...content].filter((block) => isMarked(block));
  limitMarks(marked, {
    isHour: (block) => block.cache_control?.ttl === "1h",
    drop: (block) => delete block.cache_control,
    lengthen: (block) => (block.cache_control = { type: "ephemeral", ttl: "1h" }),
  });
}

function isMarked({ cache_control: mark }: Markable): boolean {
  return mark !== undefined && mark !== null;
}

function setMark(block: Markable | undefined, mark: Mark): void {
  if (block !== undefined) block.cache_control ??= mark;
}

/** Returns the last block of the conversation, if the vendor allows a mark there. */
function lastMarkable(messages: readonly Anthropic.MessageParam[]): Markable | undefined {
  const content = messages.at(-1)?.content;
  const last = typeof content === "string" ? undefined : content?.at(-1);
  if (last === undefined || last.type === "thinking" || last.type === "redacted_thinking")
    return undefined;
  return last;
}
