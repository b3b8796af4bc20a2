// 60 attacks against a sample team, without and with guards: `npm run red-team`. By default the model is a stand-in that obeys every instruction it reads;
// `-- --model openai:gpt-4o-mini` measures a real model with a key.
import { openai, anthropic, type ChatModel } from "agentensemble";
import { redTeamTable, runRedTeam } from "./red-team/run-red-team.js";

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
console.log(redTeamTable(await runRedTeam(name === undefined ? undefined : modelOf(name))));
