// An ensemble whose runs several processes execute: five model calls per run, three of them
// concurrent.
import type { EnsembleOptions } from "agentensemble";
import { Agent, Ensemble, Task } from "agentensemble";
import { openai } from "agentensemble/providers/openai";

export const PRESS = "press";
/** Model calls of one run, and the concurrent ones. */
export const CALLS = 5;
export const CALLS_AT_ONCE = 3;

/** The ensemble, whose model is at the URL `vendor`. */
export function press(vendor: string, more: Partial<EnsembleOptions> = {}): Ensemble {
  const agent = (role: string): Agent => new Agent({ role, goal: "Write well" });
  const task = (name: string, context: readonly Task[] = []): Task =>
    new Task({
      name,
      description: `Write ${name} of order {order}`,
      agent: agent(name),
      context: [...context],
    });
  const open = task("open");
  const parts = ["north", "east", "south"].map((name) => task(name, [open]));
  return new Ensemble({
    name: PRESS,
    model: openai("m", { baseURL: vendor, apiKey: "key" }),
    tasks: [open, ...parts, task("end", parts)],
    ...more,
  });
}
