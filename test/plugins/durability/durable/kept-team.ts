// Common parts of tests of durable runs.
import type { EnsembleOptions, Task as AnyTask } from "agentensemble";
import { Agent, AgentEnsembleError, Ensemble, Task } from "agentensemble";
import type { DurableOptions, Journal } from "agentensemble/durability";
import { durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { rejectionOf } from "../../../support/rejection.js";

export const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Work", ...more });

export const task = (name: string, more: object = {}): Task =>
  new Task({ name, description: `Do ${name}`, agent: agent(name), ...more });

export interface CountedModel {
  readonly model: ScriptedModel;
  /** The names of the tasks that called it. */
  readonly calls: string[];
}

/** Answers a task with its name; fails for the task in `fails`. */
export function modelOf(fails: () => string | undefined = () => undefined): CountedModel {
  const calls: string[] = [];
  const model = new ScriptedModel(({ messages }) => {
    const name = /Do (one|two|three|deep|last)/.exec(JSON.stringify(messages))?.[1] ?? "";
    if (fails() === name) throw new Error("not today");
    calls.push(name);
    return { text: `done ${name}`, usage: { inputTokens: 10, outputTokens: 1 } };
  });
  return { model, calls };
}

/** An ensemble with a journal, and a listener for its warnings. */
export function keptEnsemble(options: EnsembleOptions, o: DurableOptions): Ensemble {
  return new Ensemble({
    on: () => undefined,
    ...options,
    plugins: [durable(o), ...(options.plugins ?? [])],
  });
}

/** A journal with some of its methods replaced. */
export function journalWith(journal: Journal, methods: Partial<Journal>): Journal {
  return new Proxy(journal, {
    get(target, name: keyof Journal) {
      const given: unknown = methods[name] ?? target[name];
      return typeof given === "function" ? (given.bind(target) as unknown) : given;
    },
  });
}

export const failure = (work: PromiseLike<unknown>): Promise<AgentEnsembleError> =>
  rejectionOf(AgentEnsembleError, work);

/** A task that ends when the run is stopped. `began` resolves when it waits. */
export function endless(name: string): { readonly waits: AnyTask; readonly began: Promise<void> } {
  let begin: () => void;
  const began = new Promise<void>((resolve) => (begin = resolve));
  const waits = new Task({
    name,
    description: "Waits",
    handler: ({ signal }) =>
      new Promise<string>((_resolve, reject) => {
        begin();
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  });
  return { waits, began };
}
