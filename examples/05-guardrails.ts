// Guardrails of a task. One checks the task before any model call, the other checks the answer.
// After a refusal, a second attempt receives the reason.
// Run it: npm run example -- 05
import {
  Ensemble,
  GuardrailResult,
  GuardrailViolationError,
  namedGuardrail,
  Task,
  type InputGuardrail,
  type OutputGuardrail,
} from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const MAX_WORDS = 12;

const noCardNumbers: InputGuardrail = ({ taskDescription }) =>
  /\b\d{4}([ -]?\d{4}){3}\b/.test(taskDescription)
    ? GuardrailResult.failure("the text holds a card number")
    : true;

const short: OutputGuardrail = ({ raw }) => {
  const words = raw.split(/\s+/).length;
  console.log(`  checking: "${raw}" (${words} words)`);
  return words <= MAX_WORDS
    ? true
    : GuardrailResult.failure(`The answer has ${words} words; at most ${MAX_WORDS} are allowed.`);
};

const { model, name, note } = realOrScripted([
  "Thank you very much for your message; we are sorry that the parcel was late and will look into it at once.",
  "We are sorry for the delay and will look into it.",
]);
console.log(`Model: ${name} (${note})\n`);

const team = new Ensemble({
  model,
  tasks: [
    new Task({
      description: "Answer this customer politely: {message}",
      inputGuardrails: [namedGuardrail("no card numbers", noCardNumbers)],
      outputGuardrails: [namedGuardrail("short answer", short)],
      guardrailRetries: 3,
    }),
  ],
});

console.log("A harmless message:");
const output = await team.run({ message: "My parcel came a week late." });
console.log(`Accepted: ${output.raw}\n`);

console.log("A message with a card number:");
try {
  await team.run({ message: "Please take 4111 1111 1111 1111 instead." });
} catch (error) {
  const violation = GuardrailViolationError.find(error); // searches the chain of causes
  if (violation === undefined) throw error;
  console.log(`Refused by '${violation.guardrailName}': ${violation.violationMessage}`);
}
await team.dispose();
