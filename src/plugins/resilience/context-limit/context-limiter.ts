import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { LlmCall, Reject, Replace } from "../../../contracts/hooks.js";
import type { TokenCounter } from "../../../contracts/token-counter.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { ContextLimitSettings } from "./context-limit-options.js";
import type { ContextLimitTemplateName } from "./context-limit-prompts.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { RequestTokens } from "../shared/request-tokens.js";
import { CONTEXT_LIMIT_TEMPLATES } from "./context-limit-prompts.js";

type ToolMessage = Extract<ChatMessage, { readonly role: "tool" }>;

/** Limits the input tokens of requests. */
export class ContextLimiter {
  readonly #tokens = new RequestTokens();
  readonly #library = new PromptLibrary(CONTEXT_LIMIT_TEMPLATES);
  /** Shortened results, by the texts for shortening. A result is shortened and counted once. */
  readonly #shortened = new WeakMap<
    PromptTexts<ContextLimitTemplateName>,
    WeakMap<ToolMessage, ToolMessage>
  >();
  /** Conversations that were already reported. */
  readonly #announced = new WeakSet<readonly ChatMessage[]>();

  constructor(readonly settings: ContextLimitSettings) {}

  /**
   * Shortens the oldest tool results until the request fits. The conversation itself is not
   * changed.
   */
  compact(call: LlmCall): Awaitable<Replace<{ readonly request: ChatRequest }> | undefined> {
    const { compact, maxInputTokens } = this.settings;
    if (compact === undefined) return undefined;
    const fitting = (
      tokens: number,
    ): Awaitable<Replace<{ readonly request: ChatRequest }> | undefined> =>
      tokens <= maxInputTokens ? undefined : this.#compact(call, tokens, compact.keepTurns);
    const tokens = this.#tokens.of(call.request, counterOf(call));
    return typeof tokens === "number" ? fitting(tokens) : Promise.resolve(tokens).then(fitting);
  }

  /** Refuses a request that is still too long. */
  judge(call: LlmCall): Awaitable<Reject | undefined> {
    const tokens = this.#tokens.of(call.request, counterOf(call));
    return typeof tokens === "number"
      ? this.#verdict(call, tokens)
      : Promise.resolve(tokens).then((n) => this.#verdict(call, n));
  }

  #verdict({ model, request }: LlmCall, tokens: number): Reject | undefined {
    const { maxInputTokens, compact } = this.settings;
    if (tokens <= maxInputTokens) return undefined;
    const { provider, modelId } = model;
    const message = `The request for ${provider}:${modelId} has about ${tokens} input tokens in ${request.messages.length} messages, more than the limit of ${maxInputTokens}; it was not sent`;
    const shorten =
      compact === undefined
        ? "Set compact, limit tool outputs with maxToolOutputLength"
        : "Limit tool outputs with maxToolOutputLength";
    return reject(
      new ModelCallError(
        message,
        { provider, modelId, code: "AE_MODEL_CONTEXT_LENGTH" },
        { hint: `${shorten}, pass less context, or raise maxInputTokens.` },
      ),
    );
  }

  async #compact(
    call: LlmCall,
    tokens: number,
    keepTurns: number,
  ): Promise<Replace<{ readonly request: ChatRequest }> | undefined> {
    const { request, run } = call;
    const counter = counterOf(call);
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    const messages = [...request.messages];
    let left = tokens;
    let count = 0;
    for (const [index, message] of messages
      .slice(0, endOfOldTurns(messages, keepTurns))
      .entries()) {
      if (left <= this.settings.maxInputTokens) break;
      if (message.role !== "tool") continue;
      const shorter = this.#shorten(message, texts);
      const saved =
        shorter === message
          ? 0
          : (await this.#count(message, counter)) - (await this.#count(shorter, counter));
      if (saved <= 0) continue;
      messages[index] = shorter;
      left -= saved;
      count++;
    }
    if (count === 0) return undefined;
    this.#announce(call, count);
    return replace({ request: { ...request, messages } });
  }

  async #count(message: ChatMessage, counter: TokenCounter): Promise<number> {
    return this.#tokens.of({ messages: [message] }, counter);
  }

  #shorten(message: ToolMessage, texts: PromptTexts<ContextLimitTemplateName>): ToolMessage {
    let known = this.#shortened.get(texts);
    if (known === undefined) this.#shortened.set(texts, (known = new WeakMap()));
    let shorter = known.get(message);
    if (shorter === undefined)
      known.set(
        message,
        (shorter = shortenedMessages(message, this.settings.compact?.keepCharacters ?? 0, texts)),
      );
    return shorter;
  }

  /** Reports a conversation once. */
  #announce({ run, taskId, request }: LlmCall, count: number): void {
    if (this.#announced.has(request.messages)) return;
    this.#announced.add(request.messages);
    run.warn(
      `The conversation of task '${taskId}' has outgrown ${this.settings.maxInputTokens} input tokens: its oldest tool results are shortened from now on (${count} so far)`,
    );
  }
}

/**
 * Returns the index at which the last turns begin. Each turn begins with a response of the model.
 */
function endOfOldTurns(messages: readonly ChatMessage[], keepTurns: number): number {
  let turns = 0;
  for (let index = messages.length - 1; index >= 0 && turns < keepTurns; index--)
    if (messages[index]?.role === "assistant" && ++turns === keepTurns) return index;
  return keepTurns === 0 ? messages.length : 0;
}

/**
 * Returns the message with the beginning of its text and without its files. Returns the same
 * message if the change saves nothing.
 */
function shortenedMessages(
  message: ToolMessage,
  keepCharacters: number,
  texts: PromptTexts<ContextLimitTemplateName>,
): ToolMessage {
  const { parts = [], ...result } = message;
  const content = shortenedText(message, keepCharacters, texts);
  if (parts.length === 0)
    return content.length < message.content.length ? { ...result, content } : message;
  const { toolName } = message;
  const note = texts.render("context.filesRemoved", { count: parts.length, toolName });
  return { ...result, content: content === "" ? note : `${content}\n${note}` };
}

function shortenedText(
  { content, toolName }: ToolMessage,
  keepCharacters: number,
  texts: PromptTexts<ContextLimitTemplateName>,
): string {
  const { length } = content;
  if (length <= keepCharacters) return content;
  // avoids an unpaired surrogate
  const beginning = content.slice(0, keepCharacters).replace(/[\uD800-\uDBFF]$/, "");
  const removed = length - beginning.length;
  const shorter = texts.render("context.shortened", { beginning, removed, length, toolName });
  return shorter.length < length ? shorter : content;
}

function counterOf({ run }: LlmCall): TokenCounter {
  return run.get(Tokens.TokenCounter);
}
