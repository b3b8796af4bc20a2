// An agent with `allowDelegation` delegates to another agent. Policies check every request. One
// policy refuses a request, another changes it.
// Run it: npm run example -- 17
import { Agent, DelegationPolicyResult, Ensemble, Task } from "agentensemble";
import type { ChatRequest, DelegationPolicy } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const secretary = new Agent({
  role: "Secretary",
  goal: "Answer letters; ask colleagues for what you do not know yourself",
  allowDelegation: true,
});
const lawyer = new Agent({ role: "Lawyer", goal: "Say what the law says" });
const gardener = new Agent({ role: "Gardener", goal: "Say what plants need" });

const noLegalAdvice: DelegationPolicy = ({ agentRole }) =>
  agentRole === "Lawyer"
    ? DelegationPolicyResult.reject("legal questions go to the office, in writing")
    : DelegationPolicyResult.allow();

const withPlace: DelegationPolicy = (request) =>
  DelegationPolicyResult.modify({
    ...request,
    scope: { ...request.scope, place: "north side, heavy soil" },
  });

const ask = (agentRole: string, taskDescription: string) => ({
  toolCalls: [{ name: "delegate", arguments: { agentRole, taskDescription } }],
});
const turns = [
  ask("lawyer", "May the neighbour's hedge be two metres high?"),
  ask("gardener", "Which hedge suits the garden?"),
  "Dear neighbour, a hornbeam hedge will do well there. About its height please write to the office.",
];

function answer({ messages }: ChatRequest) {
  const system = messages.find((message) => message.role === "system")?.content ?? "";
  if (system.startsWith("You are Gardener"))
    return JSON.stringify(messages).includes("heavy soil")
      ? "Hornbeam: it bears shade and heavy soil."
      : "It depends.";
  return (
    turns[messages.filter((message) => message.role === "assistant").length] ?? "Yours faithfully"
  );
}

const { model, name, note } = realOrScripted(answer);
console.log(`Model: ${name} (${note})\n`);

const office = new Ensemble({
  model,
  agents: [lawyer, gardener],
  tasks: [new Task({ description: "Answer this letter: {letter}", agent: secretary })],
  delegationPolicies: [noLegalAdvice, withPlace],
  maxDelegationDepth: 2,
  onDelegationCompleted: (e) => console.log(`${e.workerRole}: ${e.response.rawOutput}`),
  onDelegationFailed: (e) => console.log(`${e.workerRole}: ${e.reason}`),
});

const output = await office.run({ letter: "Which hedge may I plant, and how high?" });
console.log(`\n${output.raw}`);
const [trace] = output.trace.taskTraces;
console.log(
  `\nDelegations in the trace: ${trace?.delegations.map(({ workerRole, succeeded }) => `${workerRole} ${succeeded ? "ok" : "refused"}`).join(", ")}`,
);
console.log(`Model calls: ${output.metrics.llmCallCount}, the Gardener's included`);
await office.dispose();
