import type { Token } from "./token.js";
import type { Inputs } from "./types.js";

/** Public information about a run. */
export interface RunInfo {
  readonly id: string;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /**
   * Returns the value of a token for this run. Looks in the run's bindings, its `values`, the
   * ensemble's options, the container's bindings and the defaults, in this order.
   * @throws ValidationError with the name of an unbound token.
   */
  get<T>(token: Token<T>): T;
  /** As `get`, but returns `undefined` for an unbound token. */
  find<T>(token: Token<T>): T | undefined;
}

/** A task that starts another run. Pass the context of its handler, or its scope. */
export interface CallingTask {
  readonly run: RunInfo;
  readonly taskId: string;
}

/** The name of a memory scope, or a function that returns the name for each run. */
export type ScopeName = string | ((run: RunInfo) => string);

/** The value of a token for one run. Created by `runValue`. */
export interface RunValue {
  readonly token: unknown;
  readonly value: unknown;
}

/** Options of `runValue`. */
export interface ValueOptions<T> {
  /**
   * Returns the representation of the value in the trace, listed in `values` under the name of the
   * token. Default: the trace omits the value.
   */
  readonly trace?: ((value: T) => unknown) | undefined;
}
