import type { HookRun } from "./run.js";
import { createToken } from "./token.js";

/**
 * An operation of a run outside its gateways: a decision on a review, a read or a change of a
 * store, the export of a trace. `T` is the type of the result.
 */
export interface OutsideCall<T = unknown> {
  readonly run: Pick<HookRun, "id" | "all">;
  readonly kind: "review" | "read" | "change" | "export";
  /**
   * The subject of the call, for example `scope:facts`. Several calls of a task may have the same
   * name.
   */
  readonly name: string;
  /** The task that causes the call; absent for exports. */
  readonly taskId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Receives the instant at which an earlier execution of the run started this call, before the
   * call is repeated. Called only by an access that knows the instant.
   */
  readonly begunAt?: ((at: Date) => void) | undefined;
  /** Converts the value to JSON and back. Default: unchanged. */
  readonly codec?: { toJson(value: T): unknown; fromJson(json: unknown): T } | undefined;
}

/**
 * Intercepts the operations of runs outside their gateways: records or answers them. A contribution
 * to `Tokens.OutsideAccess`.
 */
export interface OutsideAccess {
  /** Executes the call with `work`, or returns another value. */
  access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T>;
  /** Whether it decides reviews, so that no reviewer is needed. Default false. */
  decidesReviews?(run: Pick<HookRun, "id">): boolean;
}

/** `Tokens.OutsideAccess`. */
export const OUTSIDE_ACCESS = createToken<OutsideAccess>("OutsideAccess", "many");

/**
 * Executes an operation outside the gateways through the contributions to `Tokens.OutsideAccess`,
 * the first one outermost.
 */
export function askOutside<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
  const accesses = call.run.all(OUTSIDE_ACCESS);
  return accesses.reduceRight<() => Promise<T>>(
    (inner, outer) => () => outer.access(call, inner),
    work,
  )();
}
