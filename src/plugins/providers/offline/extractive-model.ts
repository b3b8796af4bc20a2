import type {
  ChatCallOptions,
  ChatChunk,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  Usage,
} from "../../../contracts/chat-model.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { LanguageTools } from "./language-tools.js";
import type { Quote } from "./quotes.js";
import { Pacer } from "./pacer.js";
import { passagesOf } from "./passages.js";
import { messageText, promptSources } from "./prompt-sources.js";
import { collectQuotes } from "./quotes.js";
import { rank } from "./ranking.js";
import { SchemaFiller } from "./schema-filler.js";

/** The response if a prompt delimits no text. */
export const NO_SOURCE =
  "No source text was given between delimiters, so there is nothing to quote. Put the text between two lines of ---.";
/** The response if a text contains only headings, tables, code and links. */
export const NO_SENTENCE = "The source text holds no sentence that could be quoted.";

const NO_PARTS = Object.freeze({ user: Object.freeze([]), tool: Object.freeze([]) });
const SHARE = 0.1;
const [LEAST, MOST] = [3, 12];
const TOKEN_SLICE = 60_000;
const MAX_SOURCE_LENGTH = 160;

/**
 * The result of a selection. `all`: all quotable pieces of the prompt's sources. `chosen`: the
 * selected pieces, best first. `fallback`: the text to return if there are none.
 */
interface Selection {
  readonly all: readonly Quote[];
  readonly chosen: readonly Quote[];
  readonly fallback: string;
}

/** Responds only with sentences of the source text in the prompt. */
export class ExtractiveModel implements ChatModel {
  readonly provider = "offline";
  readonly modelId = "extractive";
  readonly capabilities = Object.freeze({ structuredOutput: true, parts: NO_PARTS });
  readonly #tools: LanguageTools;
  readonly #sentences: number | undefined;

  constructor(tools: LanguageTools, sentences: number | undefined) {
    this.#tools = tools;
    this.#sentences = sentences;
    Object.freeze(this);
  }

  async chat(request: ChatRequest, options: ChatCallOptions = {}): Promise<ChatResponse> {
    const pacer = new Pacer(options.signal);
    const selection = await this.#select(request.messages, pacer);
    const schema = request.responseFormat?.schema;
    const content = schema === undefined ? markdown(selection) : json(schema, selection);
    const usage = await estimateUsage(request.messages, content, pacer);
    return {
      message: { role: "assistant", content },
      finishReason: "stop",
      usage,
      modelId: this.modelId,
    };
  }

  async *stream(request: ChatRequest, options: ChatCallOptions = {}): AsyncIterable<ChatChunk> {
    const response = await this.chat(request, options);
    for (const text of response.message.content.split(/(?<=\n)/)) {
      options.signal?.throwIfAborted();
      yield { type: "text", text };
    }
    yield { type: "finish", response };
  }

  async #select(messages: readonly ChatMessage[], pacer: Pacer): Promise<Selection> {
    const sources = promptSources(messages);
    if (sources.length === 0) return { all: [], chosen: [], fallback: NO_SOURCE };
    await this.#tools.ready(this.provider, this.modelId);
    await pacer.rest();
    // keyed by text: a sentence that occurs twice is one quote
    const quotes = new Map<string, Quote>();
    for (const source of sources)
      await collectQuotes(await passagesOf(source, pacer), this.#tools, pacer, quotes);
    const all = [...quotes.values()];
    const count =
      this.#sentences ?? Math.min(MOST, Math.max(LEAST, Math.round(all.length * SHARE)));
    return { all, chosen: rank(all, count), fallback: NO_SENTENCE };
  }
}

/** Formats one bullet per quote, in the order of the source. */
function markdown({ all, chosen, fallback }: Selection): string {
  if (chosen.length === 0) return fallback;
  const taken = new Set(chosen);
  return all
    .filter((quote) => taken.has(quote))
    .map(
      ({ text, source }) =>
        `- "${text}"${source === undefined ? "" : ` (${source.replace(/\s+/g, " ").slice(0, MAX_SOURCE_LENGTH)})`}`,
    )
    .join("\n");
}

function json(schema: JsonSchema, { all, chosen, fallback }: Selection): string {
  return JSON.stringify(new SchemaFiller(schema, chosen, all, fallback).fill(), null, 2);
}

/** Estimates the tokens, because no vendor counts them. */
async function estimateUsage(
  messages: readonly ChatMessage[],
  content: string,
  pacer: Pacer,
): Promise<Usage> {
  const { estimateTokenCount } = await import("tokenx");
  let inputTokens = 0;
  for (const text of messages.map(messageText)) {
    for (let start = 0; start < text.length; start += TOKEN_SLICE) {
      inputTokens += estimateTokenCount(text.slice(start, start + TOKEN_SLICE));
      await pacer.pause();
    }
  }
  return { inputTokens, outputTokens: estimateTokenCount(content) };
}
