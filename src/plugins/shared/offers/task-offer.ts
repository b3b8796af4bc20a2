import type { AnyTask } from "../../../contracts/task.js";
import type { Arguments, Offer } from "./offer.js";
import type { OfferPorts } from "./ports.js";
import { structuredOf } from "./offer.js";
import { finished } from "./run-result.js";
import { outputSchemaOf } from "./schemas.js";

const LONGEST_NAME = 64;

/**
 * Offers a task. The variables of the task are the arguments. Each call runs the task and the tasks
 * in its context.
 */
export function taskOffer(task: AnyTask, ports: OfferPorts, defaultExpectation: string): Offer {
  const tasks = withContext(task);
  const variables = [...new Set(tasks.flatMap((each) => ports.variablesOf(each)))];
  const run = ports.prepare(tasks);
  return {
    name: offeredName(task),
    description: offeredDescription(task, defaultExpectation),
    inputSchema: ports.inputSchema ?? {
      type: "object",
      properties: Object.fromEntries(variables.map((name) => [name, { type: "string" }])),
      required: variables,
      additionalProperties: false, // reports a misspelt argument, which would otherwise be ignored
    },
    checksInput: true,
    outputSchema: outputSchemaOf(task.outputType),
    async call(args: Arguments, { signal, timeoutMs, listener }) {
      const output = finished(
        await run({
          inputs: Object.fromEntries(Object.entries(args)),
          signal,
          timeoutMs,
          listener,
        }),
        task,
      );
      return { text: output.raw, structured: structuredOf(output.parsed) };
    },
  };
}

/**
 * Describes a task to other programs. Omits an expected output that equals `defaultExpectation`.
 */
export function offeredDescription(task: AnyTask, defaultExpectation: string): string {
  return [task.description, task.expectedOutput]
    .filter((text) => text !== defaultExpectation)
    .join("\n\n");
}

/** Returns the task and all its context tasks, each after its dependencies. */
export function withContext(task: AnyTask, found: Set<AnyTask> = new Set()): readonly AnyTask[] {
  for (const needed of task.context) if (!found.has(needed)) withContext(needed, found);
  found.add(task);
  return [...found];
}

/**
 * Returns a name that every client accepts: the name of the task, or else the beginning of its
 * description.
 */
function offeredName(task: AnyTask): string {
  const text = task.name ?? task.description.toLowerCase().split(/\s+/).slice(0, 6).join("_");
  const name = text
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .slice(0, LONGEST_NAME)
    .replace(/^_+|_+$/g, "");
  return name === "" ? "task" : name;
}
