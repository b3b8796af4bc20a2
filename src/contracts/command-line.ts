import type { ChatModel } from "./chat-model.js";
import type { KernelDescription, Plugin } from "./plugin.js";
import type { ExecutionTrace } from "./trace.js";
import type { Inputs, JsonSchema } from "./types.js";

/** The options of a replay. See `replayFrom`. */
export interface ReplayRequest {
  /** The file of a recording, or a trace of captureMode FULL. */
  readonly source: string | ExecutionTrace;
  readonly onMiss?: "fail" | "live" | undefined;
}

/**
 * The key under which an ensemble gives the command line access to its parts. Equal in every copy
 * of the package.
 */
export const COMMAND_LINE = Symbol.for("agentensemble/command-line");

/** The key by which the command line recognizes evaluations. Equal in every copy of the package. */
export const EVALUATION = Symbol.for("agentensemble/evaluation");

/** A problem that prevents a run of an ensemble or makes it fail. */
export interface SetUpProblem {
  readonly error: unknown;
  /** The page of the documentation, relative to the root of the project. */
  readonly page: string;
}

/** Access of the command line and the dashboard to an ensemble. For internal use only. */
export interface CommandLineAccess {
  /** Adds a plugin. @throws ValidationError after the kernel has booted. */
  use(plugin: Plugin): void;
  /**
   * Returns the model with this name, created by the providers of the ensemble's kernel.
   * @throws ValidationError with the names of the providers.
   */
  model(name: string): Promise<ChatModel>;
  /**
   * Returns the names of the inputs that the tasks use or the ensemble sets. Returns `undefined` if
   * code of a task also reads inputs, because the list would be incomplete.
   */
  inputNames(): readonly string[] | undefined;
  /**
   * Returns the JSON Schema of the inputs. Returns `undefined` without an `inputType`. Missing in
   * older copies of the package.
   */
  inputSchema?(): JsonSchema | undefined;
  /** Returns the values of the ensemble's `inputs`. Missing in older copies of the package. */
  filledInputs?(): Inputs;
  /**
   * Returns whether the ensemble's kernel has this plugin, or a plugin of this name. Missing in
   * older copies of the package.
   */
  hasPlugin?(plugin: Plugin | string): boolean;
  /** Creates the plugin that replays a recording. Missing in older copies of the package. */
  replay?(request: ReplayRequest): Promise<Plugin>;
  /** Names the ensemble unless it has a name. Missing in older copies of the package. */
  nameIfNone?(name: string): void;
  /** Returns the bindings and taps of the kernel's plugins. */
  describe(): Promise<KernelDescription>;
  /**
   * Returns every problem that would stop a run before its first model call, or at a review without
   * a reviewer. Missing in older copies of the package.
   */
  problems?(): Promise<readonly SetUpProblem[]>;
  /** Disposes the kernel, even if the ensemble did not create it. */
  end(): Promise<void>;
}
