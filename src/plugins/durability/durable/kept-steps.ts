import type { RunInfo } from "../../../contracts/run-info.js";
import type { KeptCall } from "./kept-values.js";
import { createToken } from "../../../contracts/token.js";

/** A part of a handler. */
export interface HandlerStep {
  /** `TaskContext.idempotencyKey`. */
  readonly idempotencyKey: string;
  readonly name: string;
}

/** What handlers of kept runs need of their journal. */
export interface KeptSteps {
  keeps(run: RunInfo): boolean;
  /** Counts calls of a run that joined `run` with the task whose handler started it: they are not made again once that task is finished. */
  countNested(run: RunInfo, nestedId: string, calls: readonly KeptCall[]): void;
  /** Does a part of a handler once in all executions of a run. */
  step<T>(run: RunInfo, step: HandlerStep, work: () => Promise<T>): Promise<T>;
}

/** Bound by `durable()`. */
export const KEPT_STEPS = createToken<KeptSteps>("DurableSteps");
