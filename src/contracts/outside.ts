import type { HookRun } from "./run.js";
import { createToken } from "./token.js";

/**
 * A call of a run to the world outside of its gateways: a person's decision, a read or a change of
 * a store, the export of a trace. `T` is the type of the result.
 */
export interface OutsideCall<T = unknown> {
  readonly run: Pick<HookRun, "id" | "all">;
  readonly kind: "review" | "read" | "change" | "export";
  /**
   * The subject of the call, for instance `scope:facts`. Several calls of a task may have the same
   * name.
   */
  readonly name: string;
  /** The task that causes the call; absent for exports. */
  readonly taskId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Receives the instant at which an earlier execution of the run began this call, before the call
   * is made again. Called only by an access that knows it.
   */
  readonly begunAt?: ((at: Date) => void) | undefined;
  /** Converts the value to JSON and back. Default: unchanged. */
  readonly codec?: { toJson(value: T): unknown; fromJson(json: unknown): T } | undefined;
}

/**
 * Intercepts the calls of runs to the world outside: records them, or answers in their place. A
 * contribution to `Tokens.OutsideAccess`.
 */
export interface OutsideAccess {
  /** Makes the call with `work`, or returns another value. */
  access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T>;
  /** Whether it decides reviews, so that no person is needed. Default false. */
  decidesReviews?(run: Pick<HookRun, "id">): boolean;
}

/** `Tokens.OutsideAccess`. */
export const OUTSIDE_ACCESS = createToken<OutsideAccess>("OutsideAccess", "many");

/**
 * Makes a call to the world outside through the contributions to `Tokens.OutsideAccess`, the first
 * one outermost.
 */
export function askOutside<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
  const accesses = call.run.all(OUTSIDE_ACCESS);
  return accesses.reduceRight<() => Promise<T>>(
    (inner, outer) => () => outer.access(call, inner),
    work,
  )();
}
