import type { ChatResponse, ToolCall } from "../../../contracts/chat-model.js";
import type { EnsembleEvent, Ev, EventType } from "../../../contracts/events.js";
import type { After, LlmCall, RunCall, ToolCallContext } from "../../../contracts/hooks.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { ToolResult } from "../../../contracts/tool-result.js";
import type { LabelValues } from "./label-values.js";
import type { MetricSet } from "./metric-set.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { errorTypeOf } from "../shared/failures.js";
import { KeyedQueue } from "../shared/keyed-queue.js";
import { isRecorded, modelCallKey } from "../shared/model-calls.js";

export type EndedRun = After<RunCall, "output", EnsembleOutput>;
export type EndedLlmCall = After<
  LlmCall & { readonly durationMs: number },
  "response",
  ChatResponse
>;
export type EndedToolCall = After<ToolCallContext, "result", ToolResult>;

/** The state of one run in progress. */
interface GoingRun {
  readonly workflow: string;
  activeTasks: number;
  /** The start of each executed call. */
  readonly modelCalls: KeyedQueue<string, number>;
  readonly toolCalls: KeyedQueue<ToolCall, number>;
  /** The names of the tools that models could call. */
  readonly offered: Set<string>;
  /** Tool calls that were counted by their hook and whose event has not arrived. */
  readonly counted: KeyedQueue<string, true>;
}

/** The events that are counted. */
export const COUNTED: readonly EventType[] = [
  "ensemble_started",
  "ensemble_completed",
  "task_started",
  "task_completed",
  "task_failed",
  "retry_scheduled",
  "rate_limited",
  "tool_called",
];

/** Converts the hooks and events of runs into metrics. */
export class RunMetrics {
  readonly #runs = new Map<string, GoingRun>();

  constructor(
    readonly metrics: MetricSet,
    readonly labels: LabelValues,
    readonly clock: Clock,
  ) {}

  handle(e: EnsembleEvent): void {
    if (e.type === "ensemble_started") return this.#runStarted(e);
    const run = this.#runs.get(e.runId);
    if (run === undefined) return;
    if (e.type === "ensemble_completed") this.#runEnded(e, run);
    else if (e.type === "task_started") this.#activate(run, 1);
    else if (e.type === "task_completed") {
      this.#activate(run, -1);
      this.metrics.completedTasks.inc(this.#role(e));
      this.metrics.taskSeconds.observe(this.#role(e), e.durationMs / 1000);
    } else if (e.type === "task_failed") {
      this.#activate(run, -1);
      this.metrics.failedTasks.inc({
        ...this.#role(e),
        error_type: this.labels.of("error_type", errorTypeOf(e.cause)),
      });
      this.metrics.taskSeconds.observe(this.#role(e), e.durationMs / 1000);
    } else if (e.type === "retry_scheduled") this.metrics.retries.inc(this.#role(e));
    else if (e.type === "rate_limited") this.metrics.rateLimited.inc(this.#role(e));
    else if (e.type === "tool_called") this.#countUnexecuted(e, run);
  }

  beginModelCall(call: LlmCall): void {
    if (!isRecorded(call))
      this.#runs.get(call.run.id)?.modelCalls.push(modelCallKey(call), this.clock.monotonicMs());
  }

  endModelCall(call: EndedLlmCall): void {
    const { model, purpose, outcome, request, response } = call;
    const run = this.#runs.get(call.run.id);
    for (const { name } of request.tools ?? []) run?.offered.add(name);
    const startedMs = run?.modelCalls.shift(modelCallKey(call));
    if (startedMs === undefined) return; // refused, or no model was called
    const seconds = (this.clock.monotonicMs() - startedMs) / 1000;
    const modelLabel = this.labels.of("model", model.modelId);
    const provider = this.labels.of("provider", model.provider);
    this.metrics.modelCallSeconds.observe(
      { provider, model: modelLabel, purpose, outcome },
      seconds,
    );
    if (outcome === "answered") return;
    this.#count("input", modelLabel, response?.usage?.inputTokens);
    this.#count("output", modelLabel, response?.usage?.outputTokens);
  }

  beginToolCall({ run, call }: ToolCallContext): void {
    this.#runs.get(run.id)?.toolCalls.push(call, this.clock.monotonicMs());
  }

  endToolCall({ run, call, tool, agentRole, outcome, result }: EndedToolCall): void {
    const going = this.#runs.get(run.id);
    const labels = {
      tool_name: this.labels.of("tool_name", tool.name),
      agent_role: this.labels.of("agent_role", agentRole),
    };
    const startedMs = going?.toolCalls.shift(call);
    if (startedMs !== undefined)
      this.metrics.toolSeconds.observe(labels, (this.clock.monotonicMs() - startedMs) / 1000);
    const failed = outcome === "rejected" || result?.ok === false;
    this.metrics.toolExecutions.inc({
      ...labels,
      outcome: failed ? "failure" : result === undefined ? "error" : "success",
    });
    going?.counted.push(toolCallKey(call.name, call.arguments), true);
  }

  /**
   * Counts the costs of an ended run. Its ledger has them, also for a failed run. Costs of runs
   * that joined it are counted separately.
   */
  runEnded({ run, output, error }: EndedRun): void {
    const { metrics } =
      output ?? (AgentEnsembleError.isInstance(error) ? error.output : undefined) ?? {};
    for (const { runId, cost, currency = "USD" } of metrics?.ledger ?? []) {
      if (runId === run.id && cost !== undefined)
        this.metrics.cost.inc({ currency: this.labels.of("currency", currency) }, cost);
    }
  }

  #runStarted(e: Ev<"ensemble_started">): void {
    const before = this.#runs.get(e.runId);
    if (before !== undefined) this.#release(before);
    const workflow = this.labels.of("workflow", e.workflow);
    this.#runs.set(e.runId, {
      workflow,
      activeTasks: 0,
      modelCalls: new KeyedQueue(),
      toolCalls: new KeyedQueue(),
      offered: new Set(),
      counted: new KeyedQueue(),
    });
    this.metrics.activeRuns.inc();
  }

  #runEnded(e: Ev<"ensemble_completed">, run: GoingRun): void {
    this.#runs.delete(e.runId);
    this.#release(run);
    this.metrics.runs.inc({ workflow: run.workflow, exit_reason: e.exitReason });
    this.metrics.runSeconds.observe({ workflow: run.workflow }, e.durationMs / 1000);
  }

  #release(run: GoingRun): void {
    this.metrics.activeRuns.dec();
    this.#activate(run, -run.activeTasks);
  }

  #activate(run: GoingRun, change: number): void {
    run.activeTasks += change;
    this.metrics.activeTasks.inc(change);
  }

  /**
   * Counts calls without a hook. They did not reach a tool: the arguments were invalid, or a model
   * invented the name.
   */
  #countUnexecuted(e: Ev<"tool_called">, run: GoingRun): void {
    if (run.counted.shift(toolCallKey(e.toolName, e.toolArguments)) === true) return;
    const { offered } = run;
    const { toolName } = e;
    this.metrics.toolExecutions.inc({
      tool_name: offered.has(toolName)
        ? this.labels.of("tool_name", toolName)
        : this.labels.seen("tool_name", toolName),
      ...this.#role(e),
      outcome: "failure",
    });
  }

  #count(direction: "input" | "output", model: string, tokens: number | undefined): void {
    if (tokens !== undefined && tokens > 0) this.metrics.tokens.inc({ direction, model }, tokens);
  }

  #role({ agentRole }: { readonly agentRole: string }): { readonly agent_role: string } {
    return { agent_role: this.labels.of("agent_role", agentRole) };
  }
}

function toolCallKey(name: string, text: string): string {
  return `${name}\n${text}`;
}
