import type { Token } from "./token.js";
import type { Inputs } from "./types.js";

/** What anyone may know about a run. */
export interface RunInfo {
  readonly id: string;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /** The run's value of a token: its bindings, its `values`, ensemble option, container binding, default. @throws ValidationError naming the token where there is none. */
  get<T>(token: Token<T>): T;
  /** The same, `undefined` where nothing is bound. */
  find<T>(token: Token<T>): T | undefined;
}

/** The task that starts a run: the context of its handler, or its scope. */
export interface CallingTask {
  readonly run: RunInfo;
  readonly taskId: string;
}

/** Wherever a scope of memory is named: a name, or a function that names it for each run. */
export type ScopeName = string | ((run: RunInfo) => string);

/** A value that one run has for a token; made by `runValue`. */
export interface RunValue {
  readonly token: unknown;
  readonly value: unknown;
}
