import type { ChatChunk, ChatModel } from "../../../contracts/chat-model.js";
import type { Awaitable } from "../../../contracts/types.js";

/**
 * Maximum number of shown characters that are kept. A filter that rarely needs its context rarely
 * cuts it.
 */
const MOST_SHOWN = 4_096;
/** White space that ends a word. */
export const SPACE = /\s/;

/** Decides which text of a streamed response is shown, piece by piece. */
export interface StreamFilter {
  /** Returns the text to show now; the rest is held back. */
  push(text: string): string;
  /** Returns the rest, after the last piece. */
  end(): Awaitable<string>;
}

/**
 * Returns the model with a filter for the text of each streamed response. Pieces of reasoning, which no filter has judged, are left out.
 * The response itself stays unchanged: hooks judge it.
 */
export function filteredModel(model: ChatModel, begin: () => StreamFilter): ChatModel {
  const stream = model.stream?.bind(model);
  if (stream === undefined) return model;
  const { provider, modelId, capabilities, rateLimit } = model;
  return {
    ...{ provider, modelId, capabilities, rateLimit, wraps: model.wraps ?? model },
    chat: (request, options) => model.chat(request, options),
    stream: (request, options) => new FilteredChunks(stream(request, options), begin()),
    ...(model.check !== undefined && { check: model.check.bind(model) }),
    ...(model.identity !== undefined && { identity: model.identity.bind(model) }),
    ...(model.redact !== undefined && { redact: model.redact.bind(model) }),
  };
}

/**
 * The chunks of a stream after its filter. Not a generator: each of its steps would cost more than
 * the filter.
 */
class FilteredChunks implements AsyncIterableIterator<ChatChunk> {
  readonly #source: AsyncIterator<ChatChunk>;
  /** The last chunk, while the rest of the text precedes it. */
  #finish: ChatChunk | undefined;

  constructor(
    chunks: AsyncIterable<ChatChunk>,
    readonly filter: StreamFilter,
  ) {
    this.#source = chunks[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ChatChunk>> {
    if (this.#finish !== undefined) {
      const value = this.#finish;
      this.#finish = undefined;
      return { done: false, value };
    }
    for (;;) {
      const result = await this.#source.next();
      if (result.done === true) return { done: true, value: undefined };
      const { value } = result;
      if (value.type === "tool_call") return result;
      if (value.type === "reasoning") continue;
      const text = value.type === "text" ? this.#pushed(value.text) : await this.#rest();
      if (text === (value.type === "text" ? value.text : "")) return result;
      if (value.type === "finish") this.#finish = value;
      if (text !== "") return { done: false, value: { type: "text", text } };
    }
  }

  async return(): Promise<IteratorResult<ChatChunk>> {
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  #pushed(text: string): string {
    try {
      return this.filter.push(text);
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #rest(): Promise<string> {
    try {
      return await this.filter.end();
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Ends the source, because no reader continues after an error. */
  #failed(error: unknown): never {
    void this.#source.return?.().then(undefined, () => undefined);
    throw error;
  }
}

/** The rules of a filter of segments. */
export interface SegmentRules {
  /**
   * The pattern that new text must contain so that held text can be shown before the end. Default:
   * anything.
   */
  readonly boundary?: RegExp;
  /** Characters of shown text that `release` receives. Default 0. */
  readonly context?: number;
  /** Returns the index from which the text could be the beginning of a finding. For its first `asked` characters the index was 0. */
  holdFrom(text: string, asked: number): number;
  /** Returns the text to show, or `undefined` to show nothing more. `before` gives the context, which precedes the text and was shown. */
  release(text: string, before: () => string): string | undefined;
}

/** Returns the index after the last match of a global pattern that begins at `from` or later; 0 without a match. */
export function lastEndOf(pattern: RegExp, text: string, from: number): number {
  let end = 0;
  pattern.lastIndex = Math.max(0, from);
  while (pattern.test(text)) end = pattern.lastIndex;
  return end;
}

/** Returns the index of the last word. For a text that ends with a space this is its length. */
export function lastWordAt(text: string): number {
  let at = text.length;
  while (at > 0 && !isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code > 8 && code < 14);
  return SPACE.test(String.fromCharCode(code));
}

/** Shows text as soon as no finding can reach into it. */
export class SegmentFilter implements StreamFilter {
  #held = "";
  #shown = "";
  #isClosed = false;

  constructor(readonly rules: SegmentRules) {}

  push(text: string): string {
    if (this.#isClosed) return "";
    const asked = this.#held.length;
    this.#held += text;
    const { boundary } = this.rules;
    if (boundary !== undefined && !boundary.test(text)) return "";
    return this.#release(Math.min(this.rules.holdFrom(this.#held, asked), this.#held.length));
  }

  end(): string {
    return this.#isClosed ? "" : this.#release(this.#held.length);
  }

  #release(end: number): string {
    if (end <= 0) return "";
    const ready = this.#held.slice(0, end);
    const shown = this.rules.release(ready, this.#before);
    this.#isClosed = shown === undefined;
    this.#held = this.#held.slice(end);
    this.#shown += ready;
    if (this.#shown.length > MOST_SHOWN) this.#before();
    return shown ?? "";
  }

  readonly #before = (): string => {
    const { context = 0 } = this.rules;
    return (this.#shown = context === 0 ? "" : this.#shown.slice(-context));
  };
}

/** Holds the complete text until it is judged. */
export class WholeFilter implements StreamFilter {
  #text = "";

  /** `accepts` receives the complete text. */
  constructor(readonly accepts: (text: string) => Awaitable<boolean>) {}

  push(text: string): string {
    this.#text += text;
    return "";
  }

  async end(): Promise<string> {
    return (await this.accepts(this.#text)) ? this.#text : "";
  }
}
