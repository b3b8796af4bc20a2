import type { Token } from "./token.js";
import type { Inputs } from "./types.js";

/** Public information about a run. */
export interface RunInfo {
  readonly id: string;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /**
   * Returns the run's value of a token: from its bindings, its `values`, an ensemble option, a
   * container binding, or a default. @throws ValidationError with the name of an unbound token.
   */
  get<T>(token: Token<T>): T;
  /** As `get`, but returns `undefined` for an unbound token. */
  find<T>(token: Token<T>): T | undefined;
}

/** The task that starts a run: the context of its handler, or its scope. */
export interface CallingTask {
  readonly run: RunInfo;
  readonly taskId: string;
}

/** The name of a memory scope, or a function that names it for each run. */
export type ScopeName = string | ((run: RunInfo) => string);

/** The value of a token for one run. Created by `runValue`. */
export interface RunValue {
  readonly token: unknown;
  readonly value: unknown;
}

/** Options of a value of a run. */
export interface ValueOptions<T> {
  /** Returns the value for the trace, shown as `values` by the name of the token. Default: not in the trace. */
  readonly trace?: ((value: T) => unknown) | undefined;
}
