import type { ChatModel, ChatRequest, ChatResponse, ToolCall } from "../../contracts/chat-model.js";
import type { LlmCall, ToolCallContext } from "../../contracts/hooks.js";
import type { VirtualTime } from "../shared/virtual-time.js";
import type { MeasuredCall, MeasuredTask, MeasuredTasks, MeasuredTool } from "./measured-tasks.js";
import type { SimulatedCall } from "./simulate-options.js";
import { ToolResult } from "../../contracts/tool-result.js";
import { estimateInput } from "../shared/rate-limits/token-estimate.js";
import { fraction } from "./fraction.js";

/** Estimated number of characters of one token. */
const CHARACTERS = 4;

/** The measured task that an attempt of a task repeats. */
interface DrawnAttempt {
  readonly task: MeasuredTask | undefined;
  readonly firstIteration: number;
}

/** Answers the calls of models and tools of one simulation, from measurements or by assumptions. */
export class StandIn {
  /** Number of calls answered from traces. `assumedCalls` counts the other calls. */
  measuredCalls = 0;
  assumedCalls = 0;
  readonly #drawn = new Map<string, DrawnAttempt>();
  /** The tool calls in progress, by their ids. */
  readonly #tools = new Map<string, MeasuredTool>();
  #ids = 0;

  constructor(
    readonly time: VirtualTime,
    readonly tasks: MeasuredTasks,
    readonly seed: number,
    readonly defaults: SimulatedCall,
  ) {}

  /** Deletes the state of a run. */
  endRun(): void {
    this.#drawn.clear();
    this.#tools.clear();
  }

  /**
   * Returns the model of one call. It has no rate limit, because the simulation applies the limits
   * in virtual time.
   */
  modelFor(call: LlmCall): ChatModel {
    const { provider, modelId, capabilities } = call.model;
    return {
      provider,
      modelId,
      capabilities: { ...capabilities, exemptFromRateLimits: true },
      wraps: call.model.wraps ?? call.model,
      chat: async (request, options) => {
        const signal = options?.signal ?? call.signal;
        const measured = this.#measuredCall(call);
        if (measured === undefined) return this.#assumed(call, request, signal);
        this.measuredCalls++;
        await this.time.until(this.time.monotonicMs() + measured.ms, signal);
        return this.#response(measured, request);
      },
    };
  }

  /**
   * Returns the result of a tool call that the stand-in requested. Returns `undefined` for other
   * calls, which are executed.
   */
  async toolResult({ call, signal, tool }: ToolCallContext): Promise<ToolResult | undefined> {
    const measured = this.#tools.get(call.id);
    if (measured === undefined || tool.delegates === true) return undefined;
    await this.time.until(this.time.monotonicMs() + measured.ms, signal);
    return measured.isError
      ? ToolResult.failure(measured.result)
      : ToolResult.success(measured.result);
  }

  /**
   * Returns the call of the drawn task at this index. Returns its last call if the task makes more
   * calls.
   */
  #measuredCall(call: LlmCall): MeasuredCall | undefined {
    const { run, taskId, taskAttempt, iteration } = call;
    const step = `${run.id} ${taskId}@${taskAttempt}`;
    let drawn = this.#drawn.get(step);
    if (drawn === undefined) {
      const choices = this.tasks.of(call);
      const task = choices[Math.floor(fraction(`${this.seed} ${step}`) * choices.length)];
      drawn = { task, firstIteration: iteration };
      this.#drawn.set(step, drawn);
    }
    return drawn.task?.[iteration - drawn.firstIteration] ?? drawn.task?.at(-1);
  }

  #response(call: MeasuredCall, request: ChatRequest): ChatResponse {
    const { text, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = call;
    const toolCalls = this.#toolCalls(call, request);
    return {
      message: {
        role: "assistant",
        content: text,
        ...(toolCalls.length > 0 && { toolCalls }),
      },
      finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
      usage: {
        inputTokens: inputTokens ?? estimateInput(request),
        outputTokens: outputTokens ?? Math.ceil(text.length / CHARACTERS),
        cachedInputTokens,
        reasoningTokens,
      },
    };
  }

  /** Returns calls of the measured tools that the task provides. */
  #toolCalls({ tools }: MeasuredCall, { tools: offered = [] }: ChatRequest): readonly ToolCall[] {
    return tools
      .filter(({ name }) => offered.some((tool) => tool.name === name))
      .map((tool) => {
        const id = `simulated-${++this.#ids}`;
        this.#tools.set(id, tool);
        return { id, name: tool.name, arguments: tool.arguments };
      });
  }

  async #assumed(call: LlmCall, request: ChatRequest, signal: AbortSignal): Promise<ChatResponse> {
    this.assumedCalls++;
    const { outputTokens: median = 300, spread = 0.5, text = "Simulated answer" } = this.defaults;
    const { firstTokenMs = 500, msPerOutputToken = 15 } = this.defaults;
    const step = `${this.seed} ${call.run.id} ${call.taskId}@${call.taskAttempt} call ${call.iteration}`;
    const outputTokens = Math.round(median * Math.exp(spread * normal(step)));
    await this.time.until(
      this.time.monotonicMs() + firstTokenMs + outputTokens * msPerOutputToken,
      signal,
    );
    return {
      message: { role: "assistant", content: text },
      finishReason: "stop",
      usage: { inputTokens: estimateInput(request), outputTokens },
    };
  }
}

/** Returns a number of the standard normal distribution that depends only on the text. */
function normal(text: string): number {
  const radius = Math.sqrt(-2 * Math.log(1 - fraction(`${text} radius`)));
  return radius * Math.cos(2 * Math.PI * fraction(`${text} angle`));
}
