import type {
  ChatCallOptions,
  ChatChunk,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
} from "../../contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../contracts/errors.js";
import type { Awaitable } from "../../contracts/types.js";
import { checkOptions, preview } from "../../contracts/validation.js";
import { sleep } from "../../util/abort/timeouts.js";
import { resolveStep, toToolCalls, type ResolvedStep, type ScriptStep } from "./script-step.js";
import { counted } from "../../util/text.js";

/** Settings of a `ScriptedModel`. */
export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly provider?: string | undefined;
  /** Default `scripted`. */
  readonly modelId?: string | undefined;
  /** The behaviour after the last step: an error (default), or the last step again. */
  readonly onExhausted?: "throw" | "repeat-last" | undefined;
}

type Script =
  readonly ScriptStep[] | ((request: ChatRequest, index: number) => Awaitable<ScriptStep>);

function lastUserText(messages: readonly ChatMessage[]): string {
  const last = messages.findLast((message) => message.role === "user");
  if (last === undefined) return "(there was no user message)";
  return preview(
    typeof last.content === "string"
      ? last.content
      : last.content.map((part) => (part.type === "text" ? part.text : "(image)")).join(" "),
  );
}

function checkSteps(script: readonly ScriptStep[]): void {
  const given: unknown = script;
  if (!Array.isArray(given))
    throw new ValidationError(
      `ScriptedModel script must be an array of steps or a function, got: ${preview(given)}`,
    );
  script.forEach((step, index) => resolveStep(`ScriptedModel step ${index}`, step));
}

/**
 * A chat model that answers from a script, for tests. The script is a list of steps in order, or a
 * function. The function gets the request and the number of the call, from 0. The model records
 * every request, with a copy of its messages.
 *
 * @example
 * new ScriptedModel([
 *   { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
 *   "The sum is 3.",
 * ])
 * @throws ValidationError for an unknown option or an invalid step.
 */
export class ScriptedModel implements ChatModel {
  readonly provider: string;
  readonly modelId: string;
  readonly #script: Script;
  readonly #repeatLast: boolean;
  readonly #requests: ChatRequest[] = [];
  #toolCallCount = 0;

  constructor(script: Script, options: ScriptedModelOptions = {}) {
    checkOptions("ScriptedModel", options, ["provider", "modelId", "onExhausted"]);
    const { onExhausted = "throw" } = options;
    if (onExhausted !== "throw" && onExhausted !== "repeat-last") {
      throw new ValidationError(
        `ScriptedModel onExhausted must be 'throw' or 'repeat-last', got: ${preview(onExhausted)}`,
      );
    }
    if (typeof script !== "function") checkSteps(script);
    this.provider = options.provider ?? "scripted";
    this.modelId = options.modelId ?? "scripted";
    this.#script = typeof script === "function" ? script : [...script];
    this.#repeatLast = onExhausted === "repeat-last";
  }

  /** All requests so far, in order, including failed ones. */
  get requests(): readonly ChatRequest[] {
    return this.#requests;
  }

  async chat(request: ChatRequest, options: ChatCallOptions = {}): Promise<ChatResponse> {
    return this.#respond(await this.#take(request, options));
  }

  async *stream(
    request: ChatRequest,
    options: ChatCallOptions = {},
  ): AsyncGenerator<ChatChunk, void, undefined> {
    const step = await this.#take(request, options);
    const pieces: readonly ChatChunk[] = [
      ...step.reasoning.map((text) => ({ type: "reasoning" as const, index: 0, text })),
      ...step.chunks.map((text) => ({ type: "text" as const, text })),
    ];
    for (const piece of pieces) {
      options.signal?.throwIfAborted();
      yield piece;
    }
    options.signal?.throwIfAborted();
    const response = this.#respond(step);
    for (const [index, call] of (response.message.toolCalls ?? []).entries()) {
      yield {
        type: "tool_call",
        index,
        id: call.id,
        name: call.name,
        argumentsDelta: call.arguments,
      };
    }
    yield { type: "finish", response };
  }

  /** @throws Error if steps are left, or if the script is a function, which never ends. */
  assertExhausted(): void {
    if (typeof this.#script === "function")
      throw new Error("assertExhausted() needs a script that is an array; a function has no end");
    const used = this.#requests.length;
    if (used >= this.#script.length) return;
    throw new Error(
      `ScriptedModel was called ${counted(used, "time")}, but its script has ${counted(this.#script.length, "step")}. The next would be: ${preview(this.#script[used])}`,
    );
  }

  async #take(request: ChatRequest, options: ChatCallOptions): Promise<ResolvedStep> {
    options.signal?.throwIfAborted();
    const index = this.#requests.length;
    const recorded = Object.freeze({ ...request, messages: Object.freeze([...request.messages]) });
    this.#requests.push(recorded);
    const step = resolveStep(
      `ScriptedModel step ${index}`,
      typeof this.#script === "function"
        ? await this.#script(recorded, index)
        : this.#stepAt(this.#script, index),
    );
    options.signal?.throwIfAborted();
    if (step.delayMs > 0) await sleep(step.delayMs, options.signal);
    if (step.error !== undefined) throw step.error;
    return step;
  }

  #stepAt(script: readonly ScriptStep[], index: number): ScriptStep {
    const step = script[index] ?? (this.#repeatLast ? script.at(-1) : undefined);
    if (step !== undefined) return step;
    const message = `ScriptedModel has no step for call ${index + 1}: its script has ${counted(script.length, "step")}. Last user message: ${lastUserText(this.#requests.at(-1)?.messages ?? [])}`;
    const hint = "Add a step, or set onExhausted: 'repeat-last'.";
    throw new ModelCallError(
      message,
      { provider: this.provider, modelId: this.modelId, retryable: false },
      { hint },
    );
  }

  #respond(step: ResolvedStep): ChatResponse {
    const toolCalls = toToolCalls(step, () => `call_${++this.#toolCallCount}`);
    const reasoning = step.reasoning.join("");
    const { provider, modelId } = this;
    return {
      message: {
        role: "assistant",
        content: step.text,
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
        ...(reasoning !== "" && {
          reasoning: [{ type: "reasoning", text: reasoning, provider, modelId, index: 0 }],
        }),
      },
      ...(reasoning !== "" && { reasoning }),
      finishReason: toolCalls.length === 0 ? "stop" : "tool_calls",
      ...(step.usage === undefined ? {} : { usage: step.usage }),
    };
  }
}
