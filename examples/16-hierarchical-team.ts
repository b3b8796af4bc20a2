// A generated manager delegates the tasks to a team and combines the results. The framework
// enforces the constraints, not the prompt.
// Run it: npm run example -- 16
import {
  Agent,
  ConstraintViolationError,
  Ensemble,
  HierarchicalConstraints,
  Task,
} from "agentensemble";
import type { ChatRequest } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const researcher = new Agent({
  role: "Researcher",
  goal: "Find out what is known, and say nothing else",
});
const writer = new Agent({
  role: "Writer",
  goal: "Write texts that visitors like to read",
  background: "You write for the walls of a small museum.",
});
const editor = new Agent({ role: "Editor", goal: "Cut what is not needed" });

const facts = Task.of("Collect three facts about {animal}s", "One line per fact");
const panel = new Task({
  description: "Write the text of a wall panel about {animal}s",
  expectedOutput: "Two sentences",
  context: [facts],
});

const assign = (agentRole: string, taskDescription: string, taskNumber?: number) => ({
  name: "delegateTask",
  arguments: { agentRole, taskDescription, taskNumber },
});

/**
 * The calls of the scripted manager, turn by turn. The first delegation to the Editor is refused,
 * because it comes too early.
 */
const turns = [
  { toolCalls: [assign("Editor", "Shorten the panel")] },
  { toolCalls: [assign("Researcher", "Collect the facts", 1)] },
  { toolCalls: [assign("Writer", "Write the panel", 2)] },
  {
    toolCalls: [
      assign(
        "Editor",
        "Shorten this: Swifts sleep in the air. They land only to breed, and hardly ever touch the ground.",
      ),
    ],
  },
  "The panel is ready:\nSwifts sleep in the air. They land only to breed.",
];

function answer({ messages }: ChatRequest) {
  const system = messages.find((message) => message.role === "system");
  const role = /^You are (\w+)/.exec(system?.content ?? "")?.[1];
  if (role === "Researcher")
    return "They sleep in the air.\nThey land only to breed.\nThey eat insects.";
  if (role === "Writer")
    return "Swifts sleep in the air. They land only to breed, and hardly ever touch the ground.";
  if (role === "Editor") return "Swifts sleep in the air. They land only to breed.";
  return (
    turns[messages.filter((message) => message.role === "assistant").length] ??
    "The panel is ready."
  );
}

const { model, name, note } = realOrScripted(answer);
console.log(`Model: ${name} (${note})\n`);

const team = new Ensemble({
  model,
  workflow: "HIERARCHICAL",
  agents: [researcher, writer, editor],
  tasks: [facts, panel],
  hierarchicalConstraints: new HierarchicalConstraints({
    requiredWorkers: ["Researcher", "Writer"],
    maxCallsPerWorker: { Researcher: 2, Writer: 2, Editor: 1 },
    globalMaxDelegations: 6,
    requiredStages: [["Researcher"], ["Writer"], ["Editor"]],
  }),
  onDelegationStarted: (e) =>
    console.log(`${e.delegatingAgentRole} -> ${e.workerRole}: ${e.taskDescription}`),
  onDelegationFailed: (e) =>
    console.log(`${e.delegatingAgentRole} -> ${e.workerRole}: ${e.reason}`),
});

try {
  const output = await team.run({ animal: "swift" });
  console.log(`\n${output.raw}\n`);
  console.log(`The listed panel: ${output.getOutput(panel)?.raw}`);
  for (const { agentRole, taskId } of output.taskOutputs) console.log(`  ${taskId}: ${agentRole}`);
  console.log(
    `${output.metrics.llmCallCount} model calls, of which the manager made ${output.metrics.ledger.filter(({ purpose }) => purpose === "manager").length}`,
  );
} catch (error) {
  // A real model may omit a worker.
  const violation = ConstraintViolationError.find(error);
  if (violation === undefined) throw error;
  console.log(`\nThe manager finished too early: ${violation.violations.join("; ")}`);
}
await team.dispose();
