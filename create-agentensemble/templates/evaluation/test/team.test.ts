import assert from "node:assert/strict";
import { test } from "node:test";
import { expectScore } from "agentensemble/evals";

process.env["AGENTENSEMBLE_MODEL"] = "offline:extractive"; // the model of the recording
process.env["ONLY_RECORDED"] = "1";
const { default: evaluation } = await import("../src/team.eval.js");

test("keeps its scores, from the recording", async () => {
  const result = await expectScore(evaluation.run(), "contains", { atLeast: 0.6 });
  assert.deepEqual(result.problems, []);
});
