import type { HookRun } from "./run.js";
import { createToken } from "./token.js";

/**
 * An operation of a run outside its gateways. Examples are a decision on a review, an access to a
 * store, and the export of a trace. `T` is the type of the result.
 */
export interface OutsideCall<T = unknown> {
  readonly run: Pick<HookRun, "id" | "all">;
  readonly kind: "review" | "read" | "change" | "export";
  /** The subject of the call, for example `scope:facts`. Not unique within a task. */
  readonly name: string;
  /** The task that causes the call. Absent for exports. */
  readonly taskId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the instant at which an earlier execution of the run started this call, before the
   * call is repeated. Called only if the instant is known.
   */
  readonly begunAt?: ((at: Date) => void) | undefined;
  /** Converts the value to JSON and back. Default: the value is already JSON. */
  readonly codec?: { toJson(value: T): unknown; fromJson(json: unknown): T } | undefined;
}

/**
 * Intercepts the operations of runs outside their gateways, to record or answer them. Contributed
 * to `Tokens.OutsideAccess`.
 */
export interface OutsideAccess {
  /** Executes the call with `work` and returns its result, or returns another result. */
  access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T>;
  /**
   * Returns whether it decides the reviews of the run. No reviewer is needed in this case. Default
   * false.
   */
  decidesReviews?(run: Pick<HookRun, "id">): boolean;
}

/** `Tokens.OutsideAccess`. */
export const OUTSIDE_ACCESS = createToken<OutsideAccess>("OutsideAccess", "many");

/**
 * Executes an operation outside of the gateways. All contributions to `Tokens.OutsideAccess`
 * intercept it. The first contribution is outermost.
 */
export function askOutside<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
  const accesses = call.run.all(OUTSIDE_ACCESS);
  return accesses.reduceRight<() => Promise<T>>(
    (inner, outer) => () => outer.access(call, inner),
    work,
  )();
}
