import type { EnsembleOptions } from "../../../src/contracts/ensemble-options.js";
import type { EnsembleOutput } from "../../../src/contracts/output.js";
import type { Plugin } from "../../../src/contracts/plugin.js";
import type { Step } from "../../../src/plugins/testing/index.js";
import { Agent } from "../../../src/contracts/agent.js";
import { Task, type AnyTask } from "../../../src/contracts/task.js";
import type { AnyTool } from "../../../src/contracts/tool.js";
import { Ensemble } from "../../../src/ensemble/ensemble.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";

/** The run of one agent with guards. */
export interface GuardedRun {
  readonly output: EnsembleOutput;
  readonly error: Error | undefined;
  readonly model: ScriptedModel;
  /** The text of all tokens. */
  readonly shown: string;
  /** The tokens one by one. */
  readonly tokens: readonly string[];
}

/** The task and the tools of the agent. */
export interface GuardedTeam extends Omit<EnsembleOptions, "tasks" | "model" | "plugins"> {
  readonly description?: string;
  readonly tools?: readonly AnyTool[];
  readonly retries?: number;
  readonly task?: AnyTask;
  readonly inputs?: Readonly<Record<string, unknown>>;
}

/** Runs a task of one agent whose model follows the script, with tokens streamed. */
export async function guarded(
  plugins: readonly Plugin[],
  script: readonly Step[] | ((request: { readonly messages: readonly unknown[] }) => Step),
  { description = "Answer", tools = [], retries, task, inputs, ...options }: GuardedTeam = {},
): Promise<GuardedRun> {
  const model = new ScriptedModel(script);
  const tokens: string[] = [];
  const agent = new Agent({ role: "Clerk", goal: "Help", tools });
  await using team = new Ensemble({
    ...options,
    model,
    plugins,
    onToken: ({ token }) => void tokens.push(token),
    tasks: [
      task ??
        new Task({
          description,
          agent,
          ...(retries !== undefined && { guardrailRetries: retries }),
        }),
    ],
  });
  const output = await team.run(inputs, { throwOnError: false });
  return { output, error: output.error, model, shown: tokens.join(""), tokens };
}

/** Cuts a text into pieces of a few characters, as a stream does. */
export function pieces(text: string, size = 3): readonly string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
}

/** Returns the message of the error of a task, with its causes. */
export function reasonsOf(error: unknown): string {
  return error instanceof Error ? `${error.message} <- ${reasonsOf(error.cause)}` : "";
}
