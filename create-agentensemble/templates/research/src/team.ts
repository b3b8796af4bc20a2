import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Agent, Ensemble, Task, type Plugin } from "agentensemble";
import { model } from "./model.js";

const SOURCES = "sources";

const researcher = new Agent({
  role: "Researcher",
  goal: "Find what a source contributes to the question, and quote it word for word",
});
const writer = new Agent({
  role: "Writer",
  goal: "Answer the question from the findings alone, and name the source of each statement",
});

/** One task for each source, in parallel. Then one task that answers from their findings. */
export function createTeam(plugins: readonly Plugin[] = []): Ensemble {
  const findings = readdirSync(SOURCES)
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map((file) => {
      const text = readFileSync(join(SOURCES, file), "utf8")
        .replaceAll("{", "{{")
        .replaceAll("}", "}}");
      return new Task({
        name: `read ${basename(file, ".md")}`,
        description: `What does this source (${file}) contribute to the question "{question}"?\n---\n${text}\n---`,
        agent: researcher,
      });
    });
  const answer = new Task({
    name: "answer",
    description: 'Answer the question "{question}" from the findings.',
    agent: writer,
    context: findings,
    outputGuardrails: [({ raw }) => raw.length > 20], // an empty answer is refused and requested again
  });
  return new Ensemble({ model, workflow: "PARALLEL", tasks: [...findings, answer], plugins });
}

export default () => createTeam();
