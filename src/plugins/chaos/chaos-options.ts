import type { ModelErrorCode } from "../../contracts/model-error-code.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  knownNames,
  preview,
  requireDuration,
  requireInteger,
} from "../../contracts/validation.js";

/** The faults that can be injected. */
export type ChaosFaultKind =
  | "vendor error"
  | "delay"
  | "cut stream"
  | "wrong JSON"
  | "tool failure"
  | "denied review"
  | "lost worker";

/** One kind of fault, and how often to inject it. */
export interface ChaosFault {
  readonly kind: ChaosFaultKind;
  /** Probability of the fault at each possible step, from 0 to 1. Default 0.1. */
  readonly chance?: number | undefined;
  /** Limit of the number of faults of this entry in one run. Default: no limit. */
  readonly limit?: number | undefined;
  /**
   * The code of an injected vendor error. Default `AE_MODEL_SERVER`. Codes of transient failures
   * are retryable.
   */
  readonly code?: ModelErrorCode | undefined;
  /** The injected delay in milliseconds, by the run's clock. Default 1,000. */
  readonly delayMs?: number | undefined;
}

/** Options of {@link chaos}. */
export interface ChaosOptions {
  /**
   * The seed of the random numbers. The same seed injects the same faults at the same steps, even
   * if parallel tasks run in another order. Default 1.
   */
  readonly seed?: number | undefined;
  readonly faults: readonly ChaosFault[];
}

const KINDS: readonly ChaosFaultKind[] = [
  "vendor error",
  "delay",
  "cut stream",
  "wrong JSON",
  "tool failure",
  "denied review",
  "lost worker",
];

/** @throws ValidationError */
export function checkChaosOptions(options: ChaosOptions): void {
  checkOptions("chaos", options, ["seed", "faults"]);
  requireInteger("chaos seed", options.seed, 0);
  const faults: unknown = options.faults;
  if (!Array.isArray(faults) || faults.length === 0)
    throw new ValidationError(`chaos faults must be a list of faults, got: ${preview(faults)}`);
  options.faults.forEach((fault, index) => checkFault(`chaos faults[${index}]`, fault));
}

function checkFault(what: string, fault: ChaosFault): void {
  checkOptions(what, fault, ["kind", "chance", "limit", "code", "delayMs"]);
  if (!KINDS.includes(fault.kind))
    throw new ValidationError(
      `${what} has an unknown kind: ${preview(fault.kind)}. ${knownNames(String(fault.kind), KINDS)}`,
    );
  const { chance = 0.1, code, delayMs } = fault;
  if (typeof chance !== "number" || !(chance >= 0 && chance <= 1))
    throw new ValidationError(`${what} chance must be from 0 to 1, got: ${preview(chance)}`);
  requireInteger(`${what} limit`, fault.limit, 1);
  requireDuration(`${what} delayMs`, delayMs);
  if (code !== undefined && fault.kind !== "vendor error")
    throw new ValidationError(`${what} code needs the kind 'vendor error'`);
  if (delayMs !== undefined && fault.kind !== "delay")
    throw new ValidationError(`${what} delayMs needs the kind 'delay'`);
}
