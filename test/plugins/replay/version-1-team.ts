import type { ChatModel, EnsembleOptions, TaskScope } from "agentensemble";
import { Task, tool } from "agentensemble";

const add = tool({
  name: "add",
  description: "Adds",
  input: { type: "object" },
  execute: ({ a, b }: Readonly<Record<string, unknown>>) => ({ sum: Number(a) + Number(b) }),
});

async function ask(scope: TaskScope, content: string): Promise<string> {
  const request = { messages: [{ role: "user" as const, content }] };
  return (await scope.chat(request, { purpose: "task" })).message.content;
}

/** A task with everything that a tool may use; a replay executes it again. */
function scoped(description: string, work: (scope: TaskScope) => Promise<string>): Task {
  const handler = tool({
    name: "use-scope",
    description: "Does what the test wants",
    replay: "run",
    execute: (_input, { scope }) => work(scope),
  });
  return new Task({ description, handler });
}

/**
 * The team of `test/fixtures/recordings/version-1.jsonl`: its requests do not depend on prompt
 * texts of the package.
 */
export function version1Team(model: ChatModel): EnsembleOptions {
  const slow = scoped("Slow", async (scope) => {
    const number = await ask(scope, "Name a number");
    const call = { id: "c1", name: "add", arguments: JSON.stringify({ a: Number(number), b: 1 }) };
    const sum = await scope.callTool(call, [add]);
    return `${number} and one is ${sum.output}`;
  });
  const fast = scoped("Fast", async (scope) => {
    const first = await ask(scope, "Name a letter");
    return `${first}, ${await ask(scope, "Name a letter")}`;
  });
  const broken = scoped("Retried", (scope) => ask(scope, "Fail once"));
  return { model, tasks: [slow, fast, broken], workflow: "PARALLEL" };
}
