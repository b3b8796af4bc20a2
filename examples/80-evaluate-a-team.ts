// Evaluates a team that sorts tickets, then the team with a better prompt. The second result is
// compared with the first result (the baseline), case by case.
// Run it: npm run example -- 80
import { Agent, Ensemble, Task } from "agentensemble";
import { evaluate, exact, textReport, type EvaluationResult } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";

const TICKETS = {
  billing: ["My invoice is wrong", "The card was charged twice", "Where is my refund?"],
  technical: ["The app crashes", "I can't log in", "The page stays blank", "Error 500 on upload"],
  sales: ["What does the large plan cost?", "Do you have a plan for schools?"],
};
const dataset = Object.entries(TICKETS).flatMap(([expected, texts]) =>
  texts.map((ticket) => ({ id: ticket, input: { ticket }, expected })),
);

// Simulates a real model. It knows the departments only if the prompt names them.
const model = new ScriptedModel(({ messages }) => {
  const text = JSON.stringify(messages);
  if (/invoice|charged|refund/.test(text)) return "billing";
  if (!text.includes("technical")) return "support";
  return text.includes("plan") ? "sales" : "technical";
});
const clerk = new Agent({ role: "Clerk", goal: "Send each ticket to the right department" });

async function evaluateWith(
  description: string,
  baseline?: EvaluationResult,
): Promise<EvaluationResult> {
  await using team = new Ensemble({
    model,
    tasks: [new Task({ description, expectedOutput: "One word", agent: clerk })],
  });
  return await evaluate({ name: description, target: team, dataset, scorers: [exact()], baseline });
}

const before = await evaluateWith("Which department answers: {ticket}");
console.log(textReport(before));

const after = await evaluateWith(
  "Which of billing, technical and sales answers: {ticket}",
  before, // or the JSON file of an earlier evaluation
);
console.log(textReport(after));
for (const { scorer, baselineMean, difference, better, worse, verdict } of after.comparison
  ?.scorers ?? []) {
  const mean = `${baselineMean.toFixed(2)} -> ${(baselineMean + difference).toFixed(2)}`;
  console.log(`${scorer}: ${mean}, ${better.length} better, ${worse.length} worse: ${verdict}`);
}
