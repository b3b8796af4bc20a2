import type { ChatChunk, ChatModel } from "../../../contracts/chat-model.js";
import type { Awaitable } from "../../../contracts/types.js";
import { isSpace } from "./characters.js";

/**
 * Maximum number of shown texts that are stored before the texts outside the context are removed.
 */
const MOST_SHOWN = 1_024;

/** Selects the text of a streamed response that is shown, piece by piece. */
export interface StreamFilter {
  /** Returns the text to show now. The rest is held back. */
  push(text: string): string;
  /** Returns the rest, after the last piece. */
  end(): Awaitable<string>;
}

/**
 * Returns the model with a filter for the text of each streamed response. Pieces of reasoning are
 * omitted, because no filter judges them. The response itself stays unchanged. Hooks judge the
 * response.
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

type Read = IteratorResult<ChatChunk, unknown>;

/**
 * The chunks of a stream after its filter. Not a generator, because each step of a generator would
 * cost more than the filter.
 */
class FilteredChunks implements AsyncIterableIterator<ChatChunk> {
  readonly #source: AsyncIterator<ChatChunk>;
  /** The last chunk, while the rest of the text is returned before it. */
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

  next(): Promise<Read> {
    if (this.#finish === undefined) return this.#source.next().then(this.#read);
    const value = this.#finish;
    this.#finish = undefined;
    return Promise.resolve({ done: false, value });
  }

  /**
   * Returns the chunk. If the chunk shows nothing, reads the next chunks. An additional promise for
   * each chunk would cost more than the filter.
   */
  readonly #read = (result: Read): Awaitable<Read> => this.#shown(result) ?? this.#readOn();

  async #readOn(): Promise<Read> {
    for (;;) {
      const shown = this.#shown(await this.#source.next());
      if (shown !== undefined) return shown;
    }
  }

  /** Returns the chunk, a chunk with other text, or `undefined` to show nothing. */
  #shown(result: Read): Awaitable<Read> | undefined {
    if (result.done === true) return result;
    const { value } = result;
    if (value.type === "text") {
      const text = this.#pushed(value.text);
      if (text === value.text) return result;
      return text === "" ? undefined : { done: false, value: { type: "text", text } };
    }
    if (value.type === "reasoning") return undefined;
    return value.type === "finish" ? this.#ended(result, value) : result;
  }

  async #ended(result: Read, finish: ChatChunk): Promise<Read> {
    const text = await this.#rest();
    if (text === "") return result;
    this.#finish = finish;
    return { done: false, value: { type: "text", text } };
  }

  async return(): Promise<Read> {
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

/**
 * Decides about pieces of a stream without the held text. Most pieces are ordinary words. Joining
 * and searching texts costs more than all other steps. Each stream has its own rule.
 */
export interface QuickRule {
  /**
   * Returns the index in the piece from which the piece is held. The held text and the piece before
   * the index are shown without `release`. Returns 0 if the held text and the piece are held.
   * Returns -1 if the other rules decide. `held` is the length of the held text.
   */
  decide(piece: string, held: number): number;
  /** Receives the text that is held after the other rules have decided. */
  looked?(held: string): void;
}

/** The rules of a filter of segments. */
export interface SegmentRules {
  /**
   * Whether the last word is always held, so that text is shown only up to white space. Default
   * false.
   */
  readonly byWord?: boolean;
  /** Number of characters of shown text that `release` receives. Default 0. */
  readonly context?: number;
  /**
   * Returns the index from which the text could be the beginning of a finding. For its first
   * `asked` characters, the previous result was 0. Default with `byWord`: the index of the last
   * word.
   */
  readonly holdFrom?: ((text: string, asked: number) => number) | undefined;
  readonly quick?: QuickRule | undefined;
  /**
   * Returns the text to show, or `undefined` to show nothing more. `before` returns the context:
   * the end of the text that was shown before.
   */
  release(text: string, before: () => string): string | undefined;
}

/**
 * Returns the index after the last match of a global pattern that begins at `from` or later.
 * Returns 0 without a match.
 */
export function lastEndOf(pattern: RegExp, text: string, from: number): number {
  let end = 0;
  pattern.lastIndex = Math.max(0, from);
  while (pattern.test(text)) end = pattern.lastIndex;
  return end;
}

/**
 * Returns the index of the last word. For a text that ends with a space, this is the length of the
 * text.
 */
export function lastWordAt(text: string): number {
  let at = text.length;
  while (at > 0 && !isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Shows text as soon as no finding can include it. */
export class SegmentFilter implements StreamFilter {
  #held = "";
  /** The last shown texts, with at least as many characters as the context. */
  #shown: string[] = [];
  #isClosed = false;
  // Copies of the rules, because objects of rules have different shapes.
  readonly #byWord: boolean;
  readonly #context: number;
  readonly #quick: QuickRule | undefined;
  readonly #holdFrom: SegmentRules["holdFrom"];

  constructor(readonly rules: SegmentRules) {
    this.#byWord = rules.byWord ?? false;
    this.#context = rules.context ?? 0;
    this.#quick = rules.quick;
    this.#holdFrom = rules.holdFrom;
  }

  push(text: string): string {
    if (this.#isClosed) return "";
    const quick = this.#quick;
    if (quick === undefined) return this.#push(text);
    const end = quick.decide(text, this.#held.length);
    if (end > 0) return this.#pass(text, end);
    if (end === 0) {
      this.#held += text;
      return "";
    }
    const shown = this.#push(text);
    quick.looked?.(this.#held);
    return shown;
  }

  #push(text: string): string {
    const word = this.#byWord ? lastWordAt(text) : text.length;
    if (word === 0) {
      this.#held += text;
      return "";
    }
    const holdFrom = this.#holdFrom;
    // The last space is in the new text, so the held text is not searched.
    if (holdFrom === undefined)
      return this.#release(this.#held + text.slice(0, word), text.slice(word));
    const asked = this.#held.length;
    const all = asked === 0 ? text : this.#held + text;
    return this.#cut(all, holdFrom(all, asked));
  }

  end(): string {
    return this.#isClosed || this.#held === "" ? "" : this.#release(this.#held, "");
  }

  /** Shows the held text and the piece before `end`. */
  #pass(text: string, end: number): string {
    const isWhole = end === text.length;
    const ready = isWhole ? text : text.slice(0, end);
    const shown = this.#held === "" ? ready : this.#held + ready;
    this.#held = isWhole ? "" : text.slice(end);
    if (this.#context > 0) this.#remember(shown);
    return shown;
  }

  #cut(text: string, end: number): string {
    if (end >= text.length) return this.#release(text, "");
    if (end > 0) return this.#release(text.slice(0, end), text.slice(end));
    this.#held = text;
    return "";
  }

  #release(ready: string, held: string): string {
    this.#held = held;
    const shown = this.rules.release(ready, this.#before);
    this.#isClosed = shown === undefined;
    if (this.#context > 0) this.#remember(ready);
    return shown ?? "";
  }

  #remember(text: string): void {
    if (this.#shown.push(text) < MOST_SHOWN) return;
    let first = this.#shown.length;
    for (let length = 0; first > 0 && length < this.#context;)
      length += this.#shown[--first]?.length ?? 0;
    this.#shown = this.#shown.slice(first);
  }

  readonly #before = (): string => {
    if (this.#context === 0) return "";
    const before = this.#shown.join("").slice(-this.#context);
    this.#shown = [before];
    return before;
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
