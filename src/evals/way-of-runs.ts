import type { EnsembleOutput } from "../contracts/output.js";
import type { DelegationTrace, TaskTrace, ToolCallTrace } from "../contracts/trace.js";
import type { UsageRecord } from "../contracts/usage.js";
import type {
  EvaluationSpending,
  TrialWay,
  WayDelegation,
  WayMessage,
  WayToolCall,
} from "./trial-way.js";
import { parsedOrText } from "../util/json/parsed-or-text.js";
import { asList } from "../util/objects.js";

/** Usage without calls. */
export const NO_SPENDING: EvaluationSpending = Object.freeze({
  calls: 0,
  answered: 0,
  inputTokens: 0,
  outputTokens: 0,
});

const addAmounts = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);

/** Returns the sum of two amounts. */
export function addSpending(a: EvaluationSpending, b: EvaluationSpending): EvaluationSpending {
  const cost = addAmounts(a.cost, b.cost);
  const recordedCost = addAmounts(a.recordedCost, b.recordedCost);
  return {
    calls: a.calls + b.calls,
    answered: a.answered + b.answered,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cost !== undefined && { cost }),
    ...(recordedCost !== undefined && { recordedCost }),
  };
}

/** Returns the usage of the calls of a ledger. */
export function spendingOf(ledger: readonly UsageRecord[]): EvaluationSpending {
  let [calls, answered, inputTokens, outputTokens] = [0, 0, 0, 0];
  let [cost, recordedCost]: (number | undefined)[] = [];
  for (const record of ledger) {
    if (record.outcome === "answered") answered += record.calls ?? 1;
    else calls += record.calls ?? 1;
    inputTokens += Math.max(0, record.inputTokens);
    outputTokens += Math.max(0, record.outputTokens);
    if (record.recorded === true) recordedCost = addAmounts(recordedCost, record.cost);
    else cost = addAmounts(cost, record.cost);
  }
  return {
    calls,
    answered,
    inputTokens,
    outputTokens,
    ...(cost !== undefined && { cost }),
    ...(recordedCost !== undefined && { recordedCost }),
  };
}

/** Returns whether a run made no calls. Its trace then contains no steps. */
function isWithoutCalls({ isComplete, metrics }: EnsembleOutput): boolean {
  const { ledger, toolCallCount, delegationCount } = metrics;
  return isComplete && ledger.length + toolCallCount + delegationCount === 0;
}

/** The part of a way that is read from traces. */
type WaySteps = Pick<
  TrialWay,
  "toolCalls" | "delegations" | "refusedDelegations" | "conversations"
>;

/** Returns the steps of the runs of a trial. Traces of runs without calls are not read. */
export function wayOfRuns(
  runs: readonly EnsembleOutput[],
  spending: EvaluationSpending,
  durationMs: number,
): TrialWay {
  return wayOfTasks(
    runs.map(({ runId }) => runId),
    () => runs.flatMap((run) => (isWithoutCalls(run) ? [] : run.trace.taskTraces)),
    spending,
    durationMs,
  );
}

/**
 * Returns the steps of the tasks of traces, including tasks of workers within delegations. Reads
 * the traces once, at the first access to a step. Most scorers access none, and building a trace
 * takes longer than scoring an output.
 */
export function wayOfTasks(
  runIds: readonly string[],
  traces: () => readonly TaskTrace[],
  spending: EvaluationSpending,
  durationMs: number,
): TrialWay {
  return new LazyWay(runIds, traces, { spending, durationMs });
}

class LazyWay implements TrialWay {
  declare readonly toolCalls: TrialWay["toolCalls"];
  declare readonly delegations: TrialWay["delegations"];
  declare readonly refusedDelegations: number;
  declare readonly conversations: TrialWay["conversations"];
  readonly spending: EvaluationSpending;
  readonly durationMs: number;
  #traces: (() => readonly TaskTrace[]) | undefined;
  #steps: WaySteps | undefined;

  constructor(
    readonly runIds: readonly string[],
    traces: () => readonly TaskTrace[],
    { spending, durationMs }: Pick<TrialWay, "spending" | "durationMs">,
  ) {
    Object.defineProperties(this, LazyWay.#accessors);
    this.spending = spending;
    this.durationMs = durationMs;
    this.#traces = traces;
  }

  /** Own and enumerable: copies and JSON then have the values. Shared by all ways. */
  static readonly #accessors: PropertyDescriptorMap = {
    toolCalls: LazyWay.#accessor("toolCalls"),
    delegations: LazyWay.#accessor("delegations"),
    refusedDelegations: LazyWay.#accessor("refusedDelegations"),
    conversations: LazyWay.#accessor("conversations"),
  };

  static #accessor(name: keyof WaySteps): PropertyDescriptor {
    return {
      enumerable: true,
      get(this: LazyWay) {
        return this.#read()[name];
      },
    };
  }

  #read(): WaySteps {
    this.#steps ??= stepsOfTasks(this.#traces?.() ?? []);
    this.#traces = undefined; // releases the runs
    return this.#steps;
  }
}

function stepsOfTasks(traces: readonly TaskTrace[]): WaySteps {
  const toolCalls: WayToolCall[] = [];
  const delegations: WayDelegation[] = [];
  const conversations: { readonly task: string; readonly messages: readonly WayMessage[] }[] = [];
  let refusedDelegations = 0;
  const visit = (task: TaskTrace): void => {
    const interactions = task.llmInteractions;
    const calls = interactions.flatMap((interaction) => interaction.toolCalls);
    for (const call of [...calls, ...task.toolCalls.filter((one) => !calls.includes(one))])
      toolCalls.push(toolCallOf(call, task.taskId));
    for (const delegation of task.delegations) {
      delegations.push(delegationOf(delegation));
      if (delegation.workerTrace !== undefined && delegation.workerTrace !== null)
        visit(delegation.workerTrace);
    }
    refusedDelegations += task.metrics?.refusedDelegationCount ?? 0;
    const last = interactions.findLast(({ messages }) => asList(messages).length > 0);
    if (last !== undefined)
      conversations.push({ task: task.taskId, messages: last.messages.map(messageOfTrace) });
  };
  for (const task of traces) visit(task);
  return { toolCalls, delegations, refusedDelegations, conversations };
}

function toolCallOf(call: ToolCallTrace, taskId: string): WayToolCall {
  const { toolName: name, result, outcome } = call;
  return { name, arguments: parsedOrText(call.arguments), result, outcome, taskId };
}

function delegationOf({
  delegatorRole: from,
  workerRole: to,
  taskDescription: task,
  succeeded,
}: DelegationTrace): WayDelegation {
  return { from, to, task, succeeded };
}

function messageOfTrace({
  role,
  content,
  toolCalls,
  toolName,
}: TaskTrace["llmInteractions"][number]["messages"][number]): WayMessage {
  return {
    role,
    content,
    ...(asList(toolCalls).length > 0 && { toolCalls }),
    ...(typeof toolName === "string" && { toolName }),
  };
}
