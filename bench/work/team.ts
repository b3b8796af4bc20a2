import type { AnyTask, ChatModel, EnsembleOptions, EnsembleOutput } from "agentensemble";
import { Agent, Ensemble, Task } from "agentensemble";
import type { Work } from "../harness/scenario.js";
import { exportTrace } from "./trace.js";

/** The agent of every task: no agent has to be created. */
const AGENT = new Agent({
  role: "Calculator",
  goal: "Say the right number",
  maxIterations: 1_000_000,
});

export function agentTask(description: string, context: readonly AnyTask[] = []): Task {
  return new Task({ description, agent: AGENT, context });
}

/**
 * Runs one ensemble repeatedly, as a server, and checks each output. Checks once that the trace
 * contains every task.
 */
export function teamWork(
  model: ChatModel,
  options: EnsembleOptions & { readonly tasks: readonly AnyTask[] },
  check: (output: EnsembleOutput) => void,
): Work {
  const ensemble = new Ensemble({ ...options, model });
  let traced = false;
  return async () => {
    const output = await ensemble.run();
    check(output);
    if (!traced && output.trace.taskTraces.length !== options.tasks.length)
      throw new Error("The trace is not complete");
    traced = true;
    exportTrace(output);
    return output;
  };
}
