import type { ChatRequest, EnsembleOptions, RunOptions } from "agentensemble";
import { Agent } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { runToEnd, type Ended } from "../../../support/kernel-fixtures.js";

type Script = Exclude<ConstructorParameters<typeof ScriptedModel>[0], readonly unknown[]>;
/** A step of a scripted model. */
export type Step = Awaited<ReturnType<Script>>;

export const researcher = new Agent({ role: "Researcher", goal: "Find facts" });
export const writer = new Agent({ role: "Writer", goal: "Write", background: "A poet" });

/** One request of the manager's model. */
export interface Wish {
  readonly agentRole?: unknown;
  readonly taskDescription?: unknown;
  readonly taskNumber?: unknown;
}

/** A turn in which the manager delegates, concurrently for several tasks. */
export function delegateTask(...wishes: readonly Wish[]): Step {
  return {
    toolCalls: wishes.map((wish) => ({
      name: "delegateTask",
      arguments: { taskDescription: "Do it", ...wish },
    })),
  };
}

/** A hierarchical run with its models. */
export interface Led extends Ended {
  readonly manager: ScriptedModel;
  readonly workers: ScriptedModel;
}

/** The text of a request's message: 0 is the system's, 1 the user's. */
export function textAt(request: ChatRequest | undefined, index: number): string {
  const content = request?.messages[index]?.content;
  return typeof content === "string" ? content : "";
}

/** The role of the request's agent. */
export function roleIn(request: ChatRequest): string {
  return /^You are ([^\n]*)\./.exec(textAt(request, 0))?.[1] ?? "";
}

/**
 * Runs a team whose manager follows a script. Workers answer `{role} {number of the call}` by
 * default.
 */
export async function lead(
  script: readonly Step[],
  options: EnsembleOptions,
  answer: Script = (request, index) => `${roleIn(request)} ${index + 1}`,
  runOptions: RunOptions = {},
): Promise<Led> {
  const manager = new ScriptedModel(script);
  const workers = new ScriptedModel(answer);
  const ended = await runToEnd(
    { model: workers, managerModel: manager, workflow: "HIERARCHICAL", ...options },
    runOptions,
  );
  return { ...ended, manager, workers };
}

/** The results of the tool for the manager, call by call. */
export function told({ manager }: Led): readonly string[] {
  const last = manager.requests.at(-1);
  return (last?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [message.content] : [],
  );
}
