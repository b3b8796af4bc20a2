import type {
  AnyTask,
  EnsembleEvent,
  EnsembleOptions,
  EnsembleOutput,
  Plugin,
  RunOptions,
  TaskContext,
  TaskScope,
} from "agentensemble";
import { AgentEnsembleError, Ensemble, Task, definePlugin, tool } from "agentensemble";
import { rejectionOf } from "./rejection.js";

/** A task whose handler returns its own description. */
export function echo(description: string, context: readonly AnyTask[] = []): Task {
  return new Task({ description, context, handler: (ctx) => ctx.description });
}

/** A task whose handler may use everything that a tool may use: it can fire hooks of all kinds. */
export function scoped(
  description: string,
  work: (scope: TaskScope) => Promise<string | void | undefined>,
): Task {
  const use = tool({
    name: "use-scope",
    description: "Does what the test wants",
    execute: async (_input, { scope }) => (await work(scope)) ?? "done",
  });
  return new Task({ description, handler: use });
}

/** A plugin that only registers taps. */
export function tapping(name: string, apply: NonNullable<Plugin["apply"]>): Plugin {
  return definePlugin({ name, apply });
}

/** Ends with the signal. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** A task that waits for its signal; `onStart` is called when it waits. */
export function waiting(
  description: string,
  onStart: (ctx: TaskContext) => void = () => undefined,
): Task {
  return new Task({
    description,
    handler: (ctx): Promise<string> => {
      onStart(ctx);
      return untilAborted(ctx.signal);
    },
  });
}

/** The result of an ensemble's run, and every event. The kernel is disposed of. */
export interface Ended {
  readonly output: EnsembleOutput;
  readonly error: AgentEnsembleError | undefined;
  readonly events: readonly EnsembleEvent[];
}

/** Runs a new ensemble until any end. @throws the error of a run without an output. */
export async function runToEnd(
  options: EnsembleOptions,
  runOptions: RunOptions = {},
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<Ended> {
  const events: EnsembleEvent[] = [];
  const ensemble = new Ensemble({ ...options, on: (event) => void events.push(event) });
  try {
    return { output: await ensemble.run(inputs, runOptions), error: undefined, events };
  } catch (error) {
    if (!AgentEnsembleError.isInstance(error) || error.output === undefined) throw error;
    return { output: error.output, error, events };
  } finally {
    await ensemble.dispose();
  }
}

/** The names of events, in order. */
export function typesOf(events: readonly EnsembleEvent[]): readonly string[] {
  return events.map(({ type }) => type);
}

/** A task whose handler throws. */
export function failing(
  description: string,
  error: Error = new Error(`${description} is broken`),
): Task {
  return new Task({ description, handler: (): Promise<string> => Promise.reject(error) });
}

/** The framework's error that a promise rejects with. */
export function failure(work: PromiseLike<unknown>): Promise<AgentEnsembleError> {
  return rejectionOf(AgentEnsembleError, work);
}
