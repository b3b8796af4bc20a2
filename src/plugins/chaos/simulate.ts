import type { LlmCall } from "../../contracts/hooks.js";
import type { CostEstimate } from "../../contracts/cost.js";
import type { ChatModel } from "../../contracts/chat-model.js";
import type { EnsembleOutput } from "../../contracts/output.js";
import type { Plugin } from "../../contracts/plugin.js";
import type { HookRun } from "../../contracts/run.js";
import type { Inputs } from "../../contracts/types.js";
import type { SimulateOptions } from "./simulate-options.js";
import { AgentEnsembleError, ValidationError } from "../../contracts/errors.js";
import { answer, replace } from "../../contracts/hooks.js";
import { definePlugin } from "../../contracts/plugin.js";
import { Tokens } from "../../contracts/tokens.js";
import { estimateInput, usedTokens } from "../shared/rate-limits/token-estimate.js";
import { VirtualTime } from "../shared/virtual-time.js";
import { MeasuredTasks } from "./measured-tasks.js";
import { checkSimulateOptions } from "./simulate-options.js";
import { StandIn } from "./stand-in.js";
import { VirtualLimits } from "./virtual-limits.js";

export type { SimulatedCall, SimulateOptions } from "./simulate-options.js";

/**
 * The distribution of a figure over the runs of a simulation. A percentile is the value of one run.
 * With 100 runs, p90 is the 90th smallest value.
 */
export interface SimulatedFigure {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** The result of a simulation. */
export interface SimulationReport {
  readonly runs: number;
  /** Duration of a run in milliseconds, including waits. */
  readonly durationMs: SimulatedFigure;
  /**
   * Cost of a run by the `costConfiguration` of the ensemble, in `currency`. Missing without
   * `costConfiguration`.
   */
  readonly cost?: SimulatedFigure;
  readonly currency?: string;
  readonly inputTokens: SimulatedFigure;
  readonly outputTokens: SimulatedFigure;
  readonly llmCalls: SimulatedFigure;
  /** Total wait of a run for rate limits, in milliseconds. Concurrent waits are added up. */
  readonly rateLimitWaitMs: SimulatedFigure;
  /**
   * Number of failed runs, by the code of the first framework error in the chain of causes. Failed
   * runs are included in all figures.
   */
  readonly failures: Readonly<Record<string, number>>;
  /** Number of model calls of all runs that repeat a measured call. */
  readonly measuredCalls: number;
  /** Number of model calls of all runs without a measurement, answered by `defaults`. */
  readonly assumedCalls: number;
}

/** The wall clock at the start of a simulation. */
const START = Date.UTC(2026, 0, 1);
/** Time limit of a run in milliseconds, for a team that waits in real time. */
const TIMEOUT_MS = 60_000;

/**
 * Runs a team with simulated models and tools in virtual time. Reports the expected time, cost and
 * waits for rate limits. No model and no tool is called, and there are no real waits. Each attempt
 * of a task repeats an attempt that is drawn at random from the traces. The candidates are those of
 * the same task, agent and model. If there are none, they are those of the agent and model, or else
 * of the model. Calls of unmeasured models follow `defaults`. Each run begins with unused rate
 * limits. Handlers and memory are executed, and take no virtual time. Delegations are executed with
 * simulated model calls. Time limits of tasks are not simulated.
 *
 * @throws ValidationError for an unknown option, a value out of range, or a team with an invalid
 * configuration; FileFormatError for a file that is not a trace.
 */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  checkSimulateOptions(options);
  const { runs = 100, seed = 1, traces = [], defaults = {}, inputs = {} } = options;
  const tasks = new MeasuredTasks();
  for (const trace of traces) await tasks.add(trace);
  const time = simulatedTime();
  const limits = new VirtualLimits(time);
  const standIn = new StandIn(time, tasks, seed, defaults);
  let current: HookRun | undefined;
  const plugin = simulation({ time, limits, standIn, begin: (run) => void (current = run) });
  const figures: RunFigures[] = [];
  const team = options.team(plugin);
  const list: readonly Inputs[] = Array.isArray(inputs) ? inputs : [inputs];
  try {
    for (let run = 0; run < runs; run++) {
      const runId = `simulation-${run + 1}`;
      const output = await team.run(list[run % list.length] ?? {}, {
        runId,
        timeoutMs: TIMEOUT_MS,
        throwOnError: false,
      });
      if (ValidationError.isInstance(output.error)) throw output.error;
      const waitMs = current === undefined ? 0 : limits.waitedMs(current);
      figures.push(figuresOf(output, Math.round(waitMs)));
      standIn.endRun();
    }
  } finally {
    await team[Symbol.asyncDispose]();
  }
  return reportOf(figures, standIn);
}

/** The figures of one run, without its output. */
interface RunFigures extends Record<
  "durationMs" | "inputTokens" | "outputTokens" | "llmCalls" | "rateLimitWaitMs",
  number
> {
  readonly cost: CostEstimate | undefined;
  readonly code: string | undefined;
}

function figuresOf(
  { totalDurationMs, metrics, error }: EnsembleOutput,
  rateLimitWaitMs: number,
): RunFigures {
  return {
    durationMs: Math.round(totalDurationMs),
    inputTokens: metrics.inputTokens,
    outputTokens: metrics.outputTokens,
    llmCalls: metrics.llmCallCount,
    rateLimitWaitMs,
    cost: metrics.costEstimate,
    code: rootCodeOf(error),
  };
}

/** Returns the code of the framework error at the start of a chain of causes. */
function rootCodeOf(error: unknown): string | undefined {
  if (!AgentEnsembleError.isInstance(error)) return undefined;
  return rootCodeOf(error.cause) ?? error.code;
}

function reportOf(
  figures: readonly RunFigures[],
  { measuredCalls, assumedCalls }: StandIn,
): SimulationReport {
  const figure = (of: (run: RunFigures) => number): SimulatedFigure => figureOf(figures.map(of));
  const currency = figures.find(({ cost }) => cost !== undefined)?.cost?.currency;
  const failures: Record<string, number> = {};
  for (const { code } of figures)
    if (code !== undefined) failures[code] = (failures[code] ?? 0) + 1;
  return {
    runs: figures.length,
    durationMs: figure(({ durationMs }) => durationMs),
    ...(currency !== undefined && {
      cost: figure(({ cost }) => cost?.totalCost ?? 0),
      currency,
    }),
    inputTokens: figure(({ inputTokens }) => inputTokens),
    outputTokens: figure(({ outputTokens }) => outputTokens),
    llmCalls: figure(({ llmCalls }) => llmCalls),
    rateLimitWaitMs: figure(({ rateLimitWaitMs }) => rateLimitWaitMs),
    failures,
    measuredCalls,
    assumedCalls,
  };
}

function figureOf(values: readonly number[]): SimulatedFigure {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/** Returns a clock that advances to the next due wait when all work waits. */
function simulatedTime(): VirtualTime {
  const time: VirtualTime = new VirtualTime(
    () => undefined,
    { now: () => new Date(START + time.monotonicMs()), monotonicMs: () => 0 },
    () => false,
  );
  return time;
}

interface SimulationParts {
  readonly time: VirtualTime;
  readonly limits: VirtualLimits;
  readonly standIn: StandIn;
  readonly begin: (run: HookRun) => void;
}

/** The plugin of one simulation. */
function simulation({ time, limits, standIn, begin }: SimulationParts): Plugin {
  /** The calls of the simulation, with their original models. */
  const calls = new WeakMap<ChatModel, LlmCall>();
  const ends = new WeakMap<ChatModel, (usedTokens: number) => void>();
  let ids = 0;
  const tap = { name: "simulation" };
  return definePlugin({
    name: "simulation",
    bind(bind) {
      bind.single(Tokens.Clock, { override: true }).toConstantValue(time);
      bind.single(Tokens.ModelCheck, { override: true }).toConstantValue(() => undefined);
      bind
        .single(Tokens.IdGenerator, { override: true })
        .toConstantValue({ next: () => `simulated-${++ids}` });
    },
    apply({ hooks }) {
      hooks.beforeRun.tap({ ...tap, lane: "policy", order: "pre" }, ({ run }) => begin(run));
      hooks.beforeLlmCall.tap({ ...tap, lane: "transform", order: "pre" }, (call) => {
        const model = standIn.modelFor(call);
        calls.set(model, call);
        return replace({ model });
      });
      hooks.beforeLlmCall.tap({ ...tap, lane: "policy", order: "post" }, async (call) => {
        const replaced = calls.get(call.model);
        if (replaced === undefined || replaced.rateLimits.length === 0) return undefined;
        const { run, request, signal } = call;
        const started = await limits.start(
          run,
          replaced.rateLimits,
          estimateInput(request),
          signal,
        );
        if (typeof started !== "function") return started;
        ends.set(call.model, started);
        return undefined;
      });
      hooks.afterLlmCall.tap({ ...tap, lane: "transform", order: "pre" }, (call) => {
        const { model, request, response } = call;
        const reserved = estimateInput(request);
        ends.get(model)?.(response === undefined ? reserved : usedTokens(response, reserved));
        ends.delete(model);
      });
      hooks.beforeToolCall.tap({ ...tap, lane: "answer", order: "pre" }, async (call) => {
        const result = await standIn.toolResult(call);
        return result === undefined ? undefined : answer(result);
      });
    },
  });
}
