import type { HookRun } from "./run.js";
import { createToken } from "./token.js";

/**
 * Something that a run asks of the world, or tells it, beside its gateways: the decision of a person, a read or a change of a store, the export of a trace.
 * `T` is what comes back.
 */
export interface OutsideCall<T = unknown> {
  readonly run: Pick<HookRun, "id" | "all">;
  readonly kind: "review" | "read" | "change" | "export";
  /** What is asked, for instance `scope:facts`. Several calls of a task may have the same name. */
  readonly name: string;
  /** The task on whose behalf it happens; absent for exports. */
  readonly taskId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How JSON keeps the value. Default: as it is. */
  readonly codec?: { toJson(value: T): unknown; fromJson(json: unknown): T } | undefined;
}

/** Stands between runs and the world outside: records it, or answers in its place. A contribution to `Tokens.OutsideAccess`. */
export interface OutsideAccess {
  /** Does the call with `work`, or gives a value of its own. */
  access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T>;
  /** Whether it decides reviews, so that no person has to be there. Default false. */
  decidesReviews?(run: Pick<HookRun, "id">): boolean;
}

/** `Tokens.OutsideAccess`. */
export const OUTSIDE_ACCESS = createToken<OutsideAccess>("OutsideAccess", "many");

/** Asks the world outside the gateways, through the contributions to `Tokens.OutsideAccess`, the first one outermost. */
export function askOutside<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
  const accesses = call.run.all(OUTSIDE_ACCESS);
  return accesses.reduceRight<() => Promise<T>>(
    (inner, outer) => () => outer.access(call, inner),
    work,
  )();
}
