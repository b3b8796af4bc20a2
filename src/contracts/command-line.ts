import type { ChatModel } from "./chat-model.js";
import type { KernelDescription, Plugin } from "./plugin.js";
import type { JsonSchema } from "./types.js";

/** Under this key an ensemble shows the command line what it runs on. It is the same in every copy of the package. */
export const COMMAND_LINE = Symbol.for("agentensemble/command-line");

/** Something for which a run of an ensemble would be refused, or would fail. */
export interface SetUpProblem {
  readonly error: unknown;
  /** The page of the documentation, from the root of the project. */
  readonly page: string;
}

/** What the command line may do with an ensemble that somebody else made; for nobody else. */
export interface CommandLineAccess {
  /** Adds a plugin. @throws ValidationError once the kernel has booted. */
  use(plugin: Plugin): void;
  /** A model from its name, by the providers of the ensemble's own kernel. @throws ValidationError naming the providers there are. */
  model(name: string): Promise<ChatModel>;
  /** The inputs that the tasks name or the ensemble sets. `undefined` where code of a task reads inputs too, so that nobody knows all. */
  inputNames(): readonly string[] | undefined;
  /** The JSON Schema of the inputs, where the ensemble has an `inputType`. Older copies of the package lack it. */
  inputSchema?(): JsonSchema | undefined;
  /** What the plugins of the kernel bind and tap. */
  describe(): Promise<KernelDescription>;
  /** Everything that would stop a run before its first model call, or at a question that nobody can answer. Older copies of the package lack it. */
  problems?(): Promise<readonly SetUpProblem[]>;
  /** Ends the kernel, whoever made it. */
  end(): Promise<void>;
}
