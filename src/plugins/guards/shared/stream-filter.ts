import type { ChatModel } from "../../../contracts/chat-model.js";
import type { Awaitable } from "../../../contracts/types.js";

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
    async *stream(request, options) {
      const filter = begin();
      for await (const chunk of stream(request, options)) {
        const text =
          chunk.type === "text"
            ? filter.push(chunk.text)
            : chunk.type === "finish"
              ? await filter.end()
              : "";
        if (text !== "") yield { type: "text", text };
        if (chunk.type !== "text" && chunk.type !== "reasoning") yield chunk;
      }
    },
    ...(model.check !== undefined && { check: model.check.bind(model) }),
    ...(model.identity !== undefined && { identity: model.identity.bind(model) }),
    ...(model.redact !== undefined && { redact: model.redact.bind(model) }),
  };
}

/** Characters of shown text that a detector sees before new text. */
const CONTEXT = 120;

/** How a filter of segments treats its text. */
export interface SegmentRules {
  /** Returns the index from which the text could be the beginning of a finding. */
  holdFrom(text: string): number;
  /** Returns the text to show, or `undefined` to show nothing more. `context` precedes the text and was shown before. */
  release(text: string, context: string): string | undefined;
}

/** Shows text as soon as no finding can reach into it. */
export class SegmentFilter implements StreamFilter {
  #held = "";
  #context = "";
  #isClosed = false;

  constructor(readonly rules: SegmentRules) {}

  push(text: string): string {
    if (this.#isClosed) return "";
    this.#held += text;
    return this.#release(Math.min(this.rules.holdFrom(this.#held), this.#held.length));
  }

  end(): string {
    return this.#isClosed ? "" : this.#release(this.#held.length);
  }

  #release(end: number): string {
    if (end <= 0) return "";
    const ready = this.#held.slice(0, end);
    const shown = this.rules.release(ready, this.#context);
    this.#isClosed = shown === undefined;
    this.#held = this.#held.slice(end);
    this.#context = (this.#context + ready).slice(-CONTEXT);
    return shown ?? "";
  }
}

/** Holds the whole text until it is judged. */
export class WholeFilter implements StreamFilter {
  #text = "";

  /** `accepts` receives the whole text. */
  constructor(readonly accepts: (text: string) => Awaitable<boolean>) {}

  push(text: string): string {
    this.#text += text;
    return "";
  }

  async end(): Promise<string> {
    return (await this.accepts(this.#text)) ? this.#text : "";
  }
}
