import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { replayFrom } from "agentensemble/replay";

process.env["AGENTENSEMBLE_MODEL"] = "offline:extractive"; // the model of the recording
const { createTeam } = await import("../src/team.js");

test("summarizes the notes, from the recording", async () => {
  await using team = createTeam([replayFrom("recordings/team.jsonl")]);
  const output = await team.run({ text: await readFile("notes.txt", "utf8") });
  assert.equal(output.exitReason, "COMPLETED");
  assert.deepEqual(
    output.taskOutputs.map(({ agentRole }) => agentRole),
    ["Reader", "Writer"],
  );
  assert.match(output.raw, /swift/i);
});
