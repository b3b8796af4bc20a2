import type { ChatChunk, ChatResponse } from "../../../contracts/chat-model.js";
import type { JsonSchema } from "../../../contracts/types.js";
import { removeNulls } from "./null-removal.js";

type ToolCallChunk = Extract<ChatChunk, { readonly type: "tool_call" }>;

/** Keeps back the parts of a stream out of which nulls may have to be taken, until they are whole. */
export interface HeldChunks {
  /** Of these chunks those that can go out now. */
  add(chunks: readonly ChatChunk[]): readonly ChatChunk[];
  /** What was kept back, as it stands in the finished response. */
  rest(response: ChatResponse): readonly ChatChunk[];
}

class Held implements HeldChunks {
  readonly #holdsText: boolean;
  readonly #tools: ReadonlyMap<string, JsonSchema>;
  readonly #indexes = new Set<number>();

  constructor(holdsText: boolean, tools: ReadonlyMap<string, JsonSchema>) {
    this.#holdsText = holdsText;
    this.#tools = tools;
  }

  add(chunks: readonly ChatChunk[]): readonly ChatChunk[] {
    return chunks.flatMap((chunk) => {
      if (chunk.type === "text") return this.#holdsText ? [] : [chunk];
      return chunk.type === "tool_call" ? this.#addToolCall(chunk) : [chunk];
    });
  }

  rest(response: ChatResponse): readonly ChatChunk[] {
    const { content, toolCalls = [] } = response.message;
    const text: ChatChunk[] =
      this.#holdsText && content !== "" ? [{ type: "text", text: content }] : [];
    const calls = [...this.#indexes].map((index): ChatChunk => ({
      type: "tool_call",
      index,
      argumentsDelta: toolCalls[index]?.arguments ?? "",
    }));
    return [...text, ...calls];
  }

  #addToolCall(chunk: ToolCallChunk): readonly ChatChunk[] {
    const { argumentsDelta, ...named } = chunk;
    if (chunk.name !== undefined && this.#tools.has(chunk.name)) this.#indexes.add(chunk.index);
    if (!this.#indexes.has(chunk.index)) return [chunk];
    return chunk.name === undefined && chunk.id === undefined ? [] : [named];
  }
}

const NOTHING_HELD: HeldChunks = Object.freeze({
  add: (chunks: readonly ChatChunk[]) => chunks,
  rest: () => [],
});

/** Takes the nulls that strict schemas asked for out of an answer, so that nobody but the vendor ever sees them. */
export class NullRemover {
  readonly #text: JsonSchema | undefined;
  readonly #tools: ReadonlyMap<string, JsonSchema>;

  /** `text` and `tools` (by name) are the schemas, before they were made strict, that have optional properties. */
  constructor(o: {
    readonly text: JsonSchema | undefined;
    readonly tools: ReadonlyMap<string, JsonSchema>;
  }) {
    this.#text = o.text;
    this.#tools = o.tools;
  }

  response(response: ChatResponse): ChatResponse {
    const { content, toolCalls } = response.message;
    if (this.#text === undefined && this.#tools.size === 0) return response;
    const calls = toolCalls?.map((call) => {
      const schema = this.#tools.get(call.name);
      return schema === undefined
        ? call
        : { ...call, arguments: removeNulls(call.arguments, schema) };
    });
    return {
      ...response,
      message: {
        role: "assistant",
        content: this.#text === undefined ? content : removeNulls(content, this.#text),
        ...(calls === undefined ? {} : { toolCalls: calls }),
      },
    };
  }

  holdBack(): HeldChunks {
    return this.#text === undefined && this.#tools.size === 0
      ? NOTHING_HELD
      : new Held(this.#text !== undefined, this.#tools);
  }
}
