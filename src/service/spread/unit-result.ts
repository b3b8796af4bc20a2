import type { RestoredCall } from "../../contracts/hooks.js";
import type { EnsembleOutput } from "../../contracts/output.js";
import type { GivenTask } from "../../plugins/durability/shared/task-spreader.js";
import type { StoredError } from "../../plugins/shared/stored-error.js";
import type { PlanEntry } from "../../engine/plan/plan.js";
import { NetworkError } from "../../contracts/network-errors.js";
import { ParallelExecutionError } from "../../contracts/workflow-errors.js";
import { TaskExecutionError } from "../../contracts/errors.js";
import { BudgetExceededError } from "../../contracts/state-errors.js";
import { storeError } from "../../plugins/shared/stored-error.js";
import { asFields, asList } from "../../util/objects.js";

/** The result of one task of a unit. JSON data. */
export type UnitTask = { readonly id: string } & (
  GivenTask | { readonly error: StoredError; readonly calls: readonly RestoredCall[] }
);

/** The structured result of the request for a unit. */
export interface UnitResult {
  readonly tasks: readonly UnitTask[];
  /** The error that ends the complete run: its budget is exhausted. */
  readonly stop?: StoredError | undefined;
}

/** The result of a unit in the form for the run. */
export interface ReceivedUnit {
  readonly tasks: ReadonlyMap<string, UnitTask>;
  readonly stop: StoredError | undefined;
}

/** Returns the result of the run of a unit. Tasks that were not reached are absent. */
export function unitResultOf(entries: readonly PlanEntry[], output: EnsembleOutput): UnitResult {
  const calls = callsByTask(output);
  const outputs = new Map(output.taskOutputs.map((one) => [one.taskId, one]));
  const failures = ParallelExecutionError.find(output.error)?.failedTaskCauses;
  const stop = stopOf(output);
  return {
    ...(stop !== undefined && { stop: storeError(stop) }),
    tasks: entries.flatMap(({ id }): UnitTask[] => {
      const made = { id, calls: calls.get(id) ?? [] };
      const done = outputs.get(id);
      const failure = failures?.get(id) ?? stop;
      if (done !== undefined) {
        const { raw, parsed, toolCallCount, agentRole } = done;
        return [
          {
            ...made,
            raw,
            ...(parsed !== undefined && parsed !== raw && { parsed }),
            toolCallCount,
            agentRole,
          },
        ];
      }
      if (failure === undefined) return [];
      return [{ ...made, error: storeError(causeOf(failure)) }];
    }),
  };
}

/**
 * Returns the error of a unit that ended because the budget of the run is exhausted. Its tasks have
 * failed or were not reached.
 */
export function stopOf({ error }: EnsembleOutput): BudgetExceededError | undefined {
  return ParallelExecutionError.isInstance(error) ? undefined : BudgetExceededError.find(error);
}

/** Returns the error of the task without wrappers. The requesting run adds the wrappers. */
function causeOf(failure: Error): unknown {
  return TaskExecutionError.isInstance(failure) ? (failure.cause ?? failure) : failure;
}

function callsByTask(output: EnsembleOutput): ReadonlyMap<string, readonly RestoredCall[]> {
  const calls = new Map<string, RestoredCall[]>();
  for (const record of output.metrics.ledger) {
    const { taskId, provider, modelId, purpose, inputTokens, outputTokens } = record;
    const { cachedInputTokens, reasoningTokens } = record;
    const ofTask = calls.get(taskId) ?? [];
    const usage = { inputTokens, outputTokens, cachedInputTokens, reasoningTokens };
    ofTask.push({
      ...{ provider, modelId, purpose, iteration: ofTask.length + 1 },
      response: { message: { role: "assistant", content: "" }, finishReason: "stop", usage },
    });
    calls.set(taskId, ofTask);
  }
  return calls;
}

/**
 * Parses a result of another process, its tasks by id.
 * @throws NetworkError for an invalid value.
 */
export function unitResultIn(value: unknown): ReceivedUnit {
  const { tasks, stop } = asFields(value) ?? {};
  if (!Array.isArray(tasks))
    throw new NetworkError("The result of a unit has no tasks", {
      hint: "Start all workers with the same version of the program.",
    });
  return {
    // The engine checks texts and calls.
    tasks: new Map(asList(tasks).map((task) => [String(asFields(task)?.["id"]), task as UnitTask])),
    stop: stop === undefined ? undefined : (stop as StoredError), // written by `unitResultOf`
  };
}
