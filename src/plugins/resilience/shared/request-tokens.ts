import type { ChatMessage, ChatRequest, ToolSpec } from "../../../contracts/chat-model.js";
import type { TokenCounter } from "../../../contracts/token-counter.js";
import type { Awaitable } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageSize, type MessageSize } from "../../shared/message-size.js";

/** The tokens that vendors add to each message and tool: role, separators, ids. */
const FRAME_TOKENS = 4;

type RequestPart = ChatMessage | ToolSpec | NonNullable<ChatRequest["responseFormat"]>;

/**
 * Counts the input tokens of requests with a counter. Each message and each tool is counted once,
 * even if it is sent repeatedly. The count of a growing conversation therefore costs the same in
 * every turn.
 */
export class RequestTokens {
  readonly #known = new WeakMap<TokenCounter, WeakMap<RequestPart, number>>();

  /**
   * Returns a promise only if the counter does.
   * @throws ValidationError if the counter returns no count; the errors of the counter.
   */
  of(
    { messages, tools = [], responseFormat }: ChatRequest,
    counter: TokenCounter,
  ): Awaitable<number> {
    const known = this.#knownBy(counter);
    let sum = 0;
    const pending: Promise<number>[] = [];
    const add = (part: RequestPart, sizeOf: () => MessageSize): void => {
      const tokens = known.get(part) ?? countPart(part, sizeOf(), counter, known);
      if (typeof tokens === "number") sum += tokens;
      else pending.push(Promise.resolve(tokens));
    };
    for (const message of messages) add(message, () => messageSize(message));
    for (const tool of tools) add(tool, () => jsonSize(tool));
    if (responseFormat !== undefined) add(responseFormat, () => jsonSize(responseFormat));
    return pending.length === 0
      ? sum
      : Promise.all(pending).then((counts) => counts.reduce((total, n) => total + n, sum));
  }

  #knownBy(counter: TokenCounter): WeakMap<RequestPart, number> {
    let known = this.#known.get(counter);
    if (known === undefined) this.#known.set(counter, (known = new WeakMap()));
    return known;
  }
}

function countPart(
  part: RequestPart,
  { text, fileTokens }: MessageSize,
  counter: TokenCounter,
  known: WeakMap<RequestPart, number>,
): Awaitable<number> {
  const keep = (tokens: number): number => {
    const all = tokens + FRAME_TOKENS + fileTokens;
    known.set(part, all);
    return all;
  };
  const tokens = countOf(text, counter);
  return typeof tokens === "number" ? keep(tokens) : Promise.resolve(tokens).then(keep);
}

/** Counts the tokens of a text. @throws ValidationError if the counter returns no count. */
export function countOf(text: string, counter: TokenCounter): Awaitable<number> {
  const tokens = counter.count(text);
  return typeof tokens === "number"
    ? checkedCount(tokens)
    : Promise.resolve(tokens).then(checkedCount);
}

function checkedCount(tokens: unknown): number {
  if (typeof tokens === "number" && tokens >= 0 && Number.isFinite(tokens))
    return Math.ceil(tokens);
  throw new ValidationError(`The TokenCounter must return a number >= 0, got: ${preview(tokens)}`);
}

function jsonSize(value: object): MessageSize {
  return { text: JSON.stringify(value), fileTokens: 0 };
}
