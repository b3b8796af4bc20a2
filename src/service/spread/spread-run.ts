import type { TaskCall } from "../../contracts/hooks.js";
import type { NetworkBackend, Transport, WorkRequest, WorkResponse } from "../../contracts/network.js"; // prettier-ignore
import type { RunOptions } from "../../contracts/run.js";
import type { Clock } from "../../contracts/runtime.js";
import type { GivenTask, TaskSpreader } from "../../plugins/durability/shared/task-spreader.js";
import type { SpentUsage } from "../../contracts/usage.js";
import type { ReceivedUnit, UnitTask } from "./unit-result.js";
import type { RunUnit, UnitInputs, Units } from "./units.js";
import { type AgentEnsembleError, RunCancelledError } from "../../contracts/errors.js";
import { NetworkError } from "../../contracts/network-errors.js";
import { WORK_VERSION } from "../../contracts/network.js";
import { RunFencedError } from "../../contracts/journal-errors.js";
import { BudgetExceededError } from "../../contracts/state-errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { TASK_SPREADER } from "../../plugins/durability/shared/task-spreader.js";
import { restoreError } from "../../plugins/shared/stored-error.js";
import { setMaxListeners } from "node:events";
import { transportOf } from "../../plugins/network/shared/transport.js";
import { toError } from "../../util/errors.js";
import { backoffMs, clockPause } from "../../util/abort/pauses.js";
import { startTimer } from "../../util/abort/timer.js";
import { unitResultIn } from "./unit-result.js";
import { unitQueue, unitRunId, UNITS } from "./units.js";

/**
 * Interval at which a request is sent again during the wait for its result. The store may have lost
 * the request.
 */
const RESEND_MS = 30_000;
const AWAY = { firstMs: 100, mostMs: 5_000 };
/** Delays between checks whether a unit was acknowledged. */
const ACKNOWLEDGING = { firstMs: 10, mostMs: 5_000 };
/** Time limit in ms for the removal of the units of a finished run. */
const CLEAR_MS = 2_000;

/** The settings for requests of units of a run. */
export interface SpreadParts {
  readonly ensemble: string;
  readonly backend: NetworkBackend;
  readonly clock: Clock;
  readonly resultTtlMs: number;
  readonly units: Units;
}

/** The part of the request of a run that its units use. */
type SpreadRequest = Pick<WorkRequest, "requestId" | "priority" | "budget">;

/** A requested unit. */
interface GivenUnit {
  readonly result: Promise<ReceivedUnit>;
  /** Tasks whose output is not in the journal of the run yet. */
  readonly open: Set<string>;
  requestId: string;
}

/** Passes the tasks of one run to other processes, and receives their outputs. */
export class SpreadRun implements TaskSpreader {
  readonly #parts: SpreadParts;
  readonly #transport: Transport;
  readonly #request: SpreadRequest;
  readonly #given = new Map<number, GivenUnit>();
  readonly #ended = new AbortController();
  /** Removals of units in progress. */
  readonly #forgetting = new Set<Promise<void>>();
  #journal: { delete(runId: string): Promise<boolean> } | undefined;

  constructor(parts: SpreadParts, request: SpreadRequest) {
    const { ensemble, backend, clock, resultTtlMs } = parts;
    this.#parts = parts;
    this.#request = request;
    setMaxListeners(0, this.#ended.signal); // one for each unit
    this.#transport = transportOf(unitQueue(ensemble), backend, { clock, resultTtlMs });
  }

  /** Executes the run with these options. @throws the errors of the run. */
  async run<T>(options: RunOptions, work: (options: RunOptions) => Promise<T>): Promise<T> {
    const { bindings, listeners = [] } = options;
    try {
      const output = await work({
        ...options,
        bindings: (bind) => {
          bindings?.(bind);
          bind.single(TASK_SPREADER).toConstantValue(this);
        },
        listeners: [...listeners, { onTaskComplete: ({ taskId }) => this.#completed(taskId) }],
      });
      await this.#cleared();
      return output;
    } catch (error) {
      await this.#end(error);
      throw error;
    }
  }

  take(call: TaskCall): Promise<GivenTask> | undefined {
    const { taskId, attempt, revision } = call;
    const unit = attempt > 1 || revision !== undefined ? undefined : this.#parts.units.of(taskId);
    return unit === undefined ? undefined : this.#taken(unit, call);
  }

  /**
   * Called when the output of a task is in the journal of the run. Removes a unit without open
   * tasks.
   */
  #completed(taskId: string): void {
    const unit = this.#parts.units.of(taskId);
    const given = unit === undefined ? undefined : this.#given.get(unit.index);
    if (unit === undefined || given === undefined) return;
    given.open.delete(taskId);
    if (given.open.size > 0) return;
    this.#given.delete(unit.index);
    const forgotten = this.#forget(unit, given.requestId).finally(() =>
      this.#forgetting.delete(forgotten),
    );
    this.#forgetting.add(forgotten);
  }

  /** Waits until the finished units are removed, for a limited time. */
  async #cleared(): Promise<void> {
    const stop = startTimer(CLEAR_MS, () => this.#ended.abort());
    await Promise.all(this.#forgetting);
    stop();
  }

  /**
   * Cancels the work of the run in other processes, because the run has failed or was cancelled.
   * Units are kept if the run may continue in another process.
   */
  async #end(error: unknown): Promise<void> {
    this.#ended.abort();
    const goesOn =
      RunCancelledError.find(error)?.isShutdown === true ||
      RunFencedError.find(error) !== undefined;
    if (goesOn) return;
    const reason = `Run '${this.#request.requestId}' has ended`;
    for (const { requestId } of this.#given.values())
      // Its result is not needed.
      await this.#transport.cancel(requestId, reason).catch(() => undefined);
  }

  async #taken(unit: RunUnit, call: TaskCall): Promise<GivenTask> {
    this.#journal ??= call.run.find(Tokens.Journal);
    const given = this.#given.get(unit.index) ?? this.#give(unit, call);
    const { tasks, stop } = await until(given.result, call.signal);
    const task = tasks.get(call.taskId);
    if (task === undefined)
      throw new NetworkError(`Unit ${unit.index + 1} has no output of task '${call.taskId}'`);
    if (!("error" in task)) return task;
    call.run.spent(task.calls.map(usageOfRestored));
    const ending = stop === undefined ? undefined : restoreError(stop);
    if (BudgetExceededError.isInstance(ending)) call.run.stop(ending);
    throw restoreError(task.error);
  }

  #give(unit: RunUnit, call: TaskCall): GivenUnit {
    const given: GivenUnit = {
      open: new Set(unit.tasks.map(({ id }) => id)),
      requestId: "",
      result: Promise.resolve().then(() =>
        this.#done(unit, call, (requestId) => (given.requestId = requestId)),
      ),
    };
    given.result.catch(() => undefined); // each task of the unit receives the error
    this.#given.set(unit.index, given);
    return given;
  }

  /**
   * Executes the tasks of a unit. A failure in an earlier execution of the run does not count. The
   * failed tasks are repeated, with another request id and the same run id.
   */
  async #done(
    unit: RunUnit,
    call: TaskCall,
    onId: (requestId: string) => void,
  ): Promise<ReceivedUnit> {
    const base = unitRunId(this.#request.requestId, unit.index);
    for (let n = 1; ; n++) {
      const requestId = n === 1 ? base : `${base}~${n}`;
      onId(requestId);
      const { response, wasKnown } = await this.#requested(requestId, unit, call);
      if (response.status === "COMPLETED") {
        const received = unitResultIn(response.parsed);
        const hasFailed = [...received.tasks.values()].some((task) => "error" in task);
        if (!hasFailed || !wasKnown) return received;
      } else if (!wasKnown) throw failureIn(response, unit);
    }
  }

  async #requested(
    requestId: string,
    unit: RunUnit,
    { run }: TaskCall,
  ): Promise<{ readonly response: WorkResponse; readonly wasKnown: boolean }> {
    const { ensemble, clock } = this.#parts;
    const { signal } = this.#ended;
    const { requestId: runId, priority, budget } = this.#request;
    const inputs: UnitInputs = {
      run: runId,
      unit: unit.index,
      tasks: unit.tasks.map(({ id }) => id),
      inputs: run.inputs,
    };
    const request: WorkRequest = {
      ...{ v: WORK_VERSION, requestId, from: ensemble, to: unitQueue(ensemble) },
      ...{ type: "TASK", task: UNITS, inputs: { ...inputs } },
      ...(priority !== undefined && { priority }),
      ...(budget !== undefined && { budget }),
    };
    let wasKnown: boolean | undefined;
    for (let failures = 0; ;) {
      signal.throwIfAborted();
      try {
        const { status } = await this.#transport.send(request);
        wasKnown ??= status === "DUPLICATE";
        failures = 0;
        const o = { timeoutMs: RESEND_MS, signal };
        const response = await this.#transport.response(requestId, o);
        if (response !== undefined) return { response, wasKnown };
      } catch (error) {
        if (!NetworkError.isInstance(error) || error.isPermanent) throw error;
        await clockPause(clock, backoffMs(++failures, AWAY), signal);
      }
    }
  }

  /** Removes a unit whose results are in the journal of the run. */
  async #forget({ index }: RunUnit, requestId: string): Promise<void> {
    try {
      if (!(await this.#isAcknowledged(requestId))) return;
      await this.#parts.backend.results.forget(requestId);
      await this.#journal?.delete(unitRunId(this.#request.requestId, index));
    } catch {
      // The result expires. The run of the unit remains in the list of runs.
    }
  }

  /**
   * Returns whether the request of a unit has been acknowledged. No process then executes it. A
   * process may end after it stored the result and before it acknowledged the request. Another
   * process then receives the request. If result and run were removed, this process would repeat
   * the whole unit.
   */
  async #isAcknowledged(requestId: string): Promise<boolean> {
    const { ensemble, backend, clock } = this.#parts;
    const { signal } = this.#ended;
    for (let looks = 1; !signal.aborted; looks++) {
      const state = await backend.queue.status(unitQueue(ensemble), requestId);
      if (state !== "LEASED" && state !== "QUEUED") return true;
      await clockPause(clock, backoffMs(looks, ACKNOWLEDGING), signal);
    }
    return false;
  }
}

/** Resolves with the value. Rejects if the signal aborts before. */
function until<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(toError(signal.reason));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function usageOfRestored({
  provider,
  modelId,
  purpose,
  response,
}: UnitTask["calls"][number]): SpentUsage {
  const { inputTokens = -1, outputTokens = -1 } = response.usage ?? {};
  return {
    ...{ provider, modelId, purpose },
    ...(inputTokens >= 0 && { inputTokens }),
    ...(outputTokens >= 0 && { outputTokens }),
  };
}

function failureIn(
  { status, reason, error }: WorkResponse,
  { index }: RunUnit,
): AgentEnsembleError {
  const why = [reason, error].filter((part) => part !== undefined).join(": ");
  return new NetworkError(
    `Unit ${index + 1} of the run is ${status}${why === "" ? "" : `: ${why}`}`,
  );
}
