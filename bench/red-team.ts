// Evaluates a sample team with 60 attacks, without and with guards: `npm run red-team`. The default
// model is a stub that follows every instruction that it receives. `-- --model openai:gpt-4o-mini`
// measures a real model with a key. If a run fails for another reason than a guard, the exit code
// is 1.
import { openai, anthropic, type ChatModel } from "agentensemble";
import { textReport } from "agentensemble/evals";
import { evaluateRedTeam, redTeamTable } from "./red-team/run-red-team.js";

const place = process.argv.indexOf("--model");
const name = place < 0 ? undefined : process.argv[place + 1];

/** Returns the model with a name. */
function modelOf(ref: string): ChatModel {
  const [provider, ...rest] = ref.split(":");
  const modelId = rest.join(":");
  if (provider === "openai") return openai(modelId);
  if (provider === "anthropic") return anthropic(modelId);
  throw new Error(`--model must be openai:<name> or anthropic:<name>, got: ${ref}`);
}

console.log(
  name === undefined
    ? "Worst case: a stand-in that obeys every instruction it reads\n"
    : `Model: ${name}\n`,
);
const result = await evaluateRedTeam(name === undefined ? undefined : modelOf(name));
console.log(redTeamTable(result));
console.log(`\n${textReport(result.guarded)}`);
if (result.without.problemCount + result.guarded.problemCount > 0) {
  console.log(textReport(result.without));
  process.exitCode = 1;
}
