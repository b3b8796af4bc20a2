import { contains, Dataset, defineEvaluation, recordings, scorer } from "agentensemble/evals";
import { createTeam } from "./team.js";

/**
 * Answers model calls from the file, and records other calls. With ONLY_RECORDED, no model is
 * called: for CI.
 */
const recorded = recordings("recordings/team.jsonl", {
  onMiss: process.env["ONLY_RECORDED"] ? "fail" : "live",
});

export default defineEvaluation({
  name: "summaries",
  target: createTeam([recorded]),
  dataset: Dataset.jsonl<{ text: string }, string>("cases.jsonl"),
  scorers: [contains(), scorer("short", ({ output }) => output.split(/\s+/).length <= 120)],
});
