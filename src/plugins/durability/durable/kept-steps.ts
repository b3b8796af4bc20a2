import type { RunInfo } from "../../../contracts/run-info.js";
import type { KeptCall } from "./kept-values.js";
import { createToken } from "../../../contracts/token.js";

/** A step of a handler. */
export interface HandlerStep {
  /** `TaskContext.idempotencyKey`. */
  readonly idempotencyKey: string;
  readonly name: string;
}

/** Ends a run in the journal after its end was delayed. */
export type ReleaseEnd = (o?: { readonly isInterrupted?: boolean }) => Promise<void>;

/** The functions of the journal for handlers of durable runs. */
export interface KeptSteps {
  keeps(run: RunInfo): boolean;
  /**
   * Counts calls of a run that joined `run` under the task whose handler started it. They are not
   * repeated after that task has finished.
   */
  countNested(run: RunInfo, nestedId: string, calls: readonly KeptCall[]): void;
  /** Executes a step of a handler once in all executions of a run. */
  step<T>(run: RunInfo, step: HandlerStep, work: () => Promise<T>): Promise<T>;
  /**
   * Writes a value for later executions of a run. Does nothing if the value exists or is larger
   * than the limit of an entry.
   */
  note(run: RunInfo, step: HandlerStep, value: unknown): Promise<void>;
  /** Returns the value that an earlier execution wrote with `note`. */
  noted(run: RunInfo, step: HandlerStep): unknown;
  /**
   * Delays the end of the run in the journal until the returned function is called, if the run
   * completes. If the process dies before, the run can be resumed. With `isInterrupted`, the run
   * ends as interrupted and can also be resumed. The function may be called at any time. Only the
   * first call has an effect. It rejects with the error of the journal.
   */
  holdEnd(run: RunInfo): ReleaseEnd;
}

/** Bound by `durable()`. */
export const KEPT_STEPS = createToken<KeptSteps>("DurableSteps");
