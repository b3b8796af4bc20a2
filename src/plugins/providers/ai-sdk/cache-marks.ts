import type { LanguageModelV3FilePart, LanguageModelV3Message } from "@ai-sdk/provider";
import type { CacheOption } from "../../../contracts/content.js";
import { asFields, type Fields } from "../../../util/objects.js";
import { limitMarks } from "../shared/mark-limits.js";

type SettingsByProvider = NonNullable<LanguageModelV3FilePart["providerOptions"]>;
/** An object with options for its provider. */
export interface MarkableBlock {
  providerOptions?: SettingsByProvider;
}

const FIVE_MINUTES = { type: "ephemeral" } as const;
const HOUR = { type: "ephemeral", ttl: "1h" } as const;

/**
 * Returns the field that marks the end of a prefix. Returns no field for a provider without marks.
 */
export function cacheMark(
  { cache }: { readonly cache?: CacheOption | undefined },
  provider: string,
): MarkableBlock {
  if (typeof cache !== "object" || !acceptsMarks(provider)) return {};
  const cacheControl = cache.ttl === "5m" ? FIVE_MINUTES : HOUR; // other times are not available
  return { providerOptions: { anthropic: { cacheControl } } };
}

function acceptsMarks(provider: string): boolean {
  return /^anthropic\b/.test(provider);
}

/** A request in its form for the model, with the marks of its parts. */
interface WrittenRequest {
  readonly tools: readonly MarkableBlock[];
  readonly prompt: readonly LanguageModelV3Message[];
}

/**
 * Sets the marks that concern the whole request. `off` removes every mark. `{ ttl }` marks the last
 * tool, the end of the system prompt and the end of the last message.
 */
export function setRequestMarks(
  { tools, prompt }: WrittenRequest,
  cache: CacheOption | undefined,
  provider: string,
): void {
  if (!acceptsMarks(provider)) return;
  const isSystem = ({ role }: LanguageModelV3Message): boolean => role === "system";
  const system = prompt.filter(isSystem);
  const content = prompt.filter((message) => !isSystem(message)).flatMap(markableBlocks);
  if (typeof cache === "object") {
    const mark = cacheMark({ cache }, provider);
    for (const block of [tools.at(-1), system.at(-1), content.at(-1)])
      if (block !== undefined)
        block.providerOptions = { ...mark.providerOptions, ...block.providerOptions };
  }
  const marked = [...tools, ...system, ...content].filter(
    (block) => controlOf(block) !== undefined,
  );
  if (cache === "off") marked.forEach(removeMark);
  else
    limitMarks(marked, {
      isHour: (block) => controlOf(block)?.["ttl"] === "1h",
      drop: removeMark,
      lengthen: (block) => {
        block.providerOptions = { ...block.providerOptions, anthropic: { cacheControl: HOUR } };
      },
    });
}

/** Returns the blocks of a message. Blocks inside results of tools precede the results. */
function markableBlocks({ content }: LanguageModelV3Message): readonly MarkableBlock[] {
  if (typeof content === "string") return [];
  return (
    content as readonly (MarkableBlock & { readonly output?: { readonly value?: unknown } })[]
  ).flatMap((part) => {
    const inner = part.output?.value;
    return [...(Array.isArray(inner) ? (inner as readonly MarkableBlock[]) : []), part];
  });
}

function controlOf({ providerOptions }: MarkableBlock): Fields | undefined {
  return asFields(providerOptions?.["anthropic"]?.["cacheControl"]);
}

function removeMark(block: MarkableBlock): void {
  delete block.providerOptions;
}
