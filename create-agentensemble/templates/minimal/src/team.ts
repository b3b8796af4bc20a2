import { Agent, Ensemble, Task, type Plugin } from "agentensemble";
import { model } from "./model.js";

const reader = new Agent({ role: "Reader", goal: "Find what matters in a text" });
const writer = new Agent({ role: "Writer", goal: "Write short, clear sentences" });

/**
 * Two tasks: the second task uses the result of the first. Tests pass a plugin that replays a
 * recorded run.
 */
export function createTeam(plugins: readonly Plugin[] = []): Ensemble {
  const points = new Task({
    name: "points",
    description: "Name the three most important points of this text:\n---\n{text}\n---",
    agent: reader,
  });
  const summary = new Task({
    name: "summary",
    description: "Summarize the points in two sentences.",
    agent: writer,
    context: [points],
  });
  return new Ensemble({ model, tasks: [points, summary], plugins });
}

export default () => createTeam();
