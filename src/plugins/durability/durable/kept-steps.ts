import type { RunInfo } from "../../../contracts/run-info.js";
import type { KeptCall } from "./kept-values.js";
import { createToken } from "../../../contracts/token.js";

/** A step of a handler. */
export interface HandlerStep {
  /** `TaskContext.idempotencyKey`. */
  readonly idempotencyKey: string;
  readonly name: string;
}

/** Ends a run in the journal whose end was delayed. */
export type ReleaseEnd = (o?: { readonly isInterrupted?: boolean }) => Promise<void>;

/** The functions of the journal for handlers of durable runs. */
export interface KeptSteps {
  keeps(run: RunInfo): boolean;
  /**
   * Counts calls of a run that joined `run` under the task whose handler started it. They are not
   * repeated once that task is finished.
   */
  countNested(run: RunInfo, nestedId: string, calls: readonly KeptCall[]): void;
  /** Executes a step of a handler once in all executions of a run. */
  step<T>(run: RunInfo, step: HandlerStep, work: () => Promise<T>): Promise<T>;
  /** Writes a value for later executions of a run, unless it is there or larger than an entry may be. */
  note(run: RunInfo, step: HandlerStep, value: unknown): Promise<void>;
  /** Returns the value that an earlier execution noted. */
  noted(run: RunInfo, step: HandlerStep): unknown;
  /**
   * Delays the end of the run in the journal, if the run completes, until the returned function is
   * called. If the process dies before, the run can be resumed; also with `isInterrupted`, which
   * ends it as interrupted. The function may be called at any time; only the first call has an
   * effect. It rejects with the error of the journal.
   */
  holdEnd(run: RunInfo): ReleaseEnd;
}

/** Bound by `durable()`. */
export const KEPT_STEPS = createToken<KeptSteps>("DurableSteps");
