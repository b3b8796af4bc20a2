import type { RunInfo } from "../../../contracts/run-info.js";
import { createToken } from "../../../contracts/token.js";

/** A part of a handler. */
export interface HandlerStep {
  /** `TaskContext.idempotencyKey`. */
  readonly idempotencyKey: string;
  readonly name: string;
}

/** Does parts of handlers once in all executions of a run. */
export interface KeptSteps {
  step<T>(run: RunInfo, step: HandlerStep, work: () => Promise<T>): Promise<T>;
}

/** Bound by `durable()`. */
export const KEPT_STEPS = createToken<KeptSteps>("DurableSteps");
