import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { replayFrom } from "agentensemble/replay";

process.env["AGENTENSEMBLE_MODEL"] = "offline:extractive"; // the model of the recording
const { createTeam } = await import("../src/team.js");

test("reads every source and answers, from the recording", async () => {
  await using team = createTeam([replayFrom("recordings/team.jsonl")]);
  const output = await team.run({ question: await readFile("question.txt", "utf8") });
  assert.equal(output.exitReason, "COMPLETED");
  assert.equal(output.taskOutputs.length, 4);
  assert.match(output.raw, /swift/i);
});
