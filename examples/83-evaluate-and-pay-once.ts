// An evaluation that is interrupted, continued and repeated. With recordings, each model call is
// paid for once. After a change of the prompt, only the team is paid for again. The outputs are the
// same, so the judge is not called.
// Run it: npm run example -- 83
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Ensemble, Task } from "agentensemble";
import { contains, evaluate, judge, recordings } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";

const folder = await mkdtemp(join(tmpdir(), "evaluation-"));
const recorded = recordings(join(folder, "responses.jsonl"));

// Simulates the team and its judge.
const usage = { inputTokens: 80, outputTokens: 20 };
const model = new ScriptedModel(({ messages }) => {
  const isJudge = JSON.stringify(messages).includes("One clear sentence");
  return { text: isJudge ? '{"reason":"Clear.","grade":"good"}' : "Birds sleep at night.", usage };
});

const dataset = ["swift", "barn owl", "robin", "heron"].map((bird) => ({
  id: bird,
  input: { bird },
  expected: "night",
}));
const agent = new Agent({ role: "Writer", goal: "Write about birds" });

/** Evaluates the team, and stops after a number of trials. */
async function run(title: string, prompt: string, stopAfter = Infinity): Promise<void> {
  const stop = new AbortController();
  await using team = new Ensemble({
    model,
    plugins: [recorded],
    tasks: [new Task({ description: prompt, agent })],
  });
  const { status, scores, spending } = await evaluate({
    name: "birds",
    target: team,
    model,
    plugins: [recorded],
    dataset,
    scorers: [contains(), judge({ rubric: "One clear sentence" })],
    concurrency: 1,
    signal: stop.signal,
    onProgress: ({ done }) => {
      if (done === stopAfter) stop.abort();
    },
  });
  const paid = spending.target.calls + spending.judges.calls;
  const answered = spending.target.answered + spending.judges.answered;
  console.log(
    `${title}: ${status}, ${scores[0]?.cases} cases, ${paid} calls paid, ${answered} from the file`,
  );
}

try {
  await run("interrupted", "How does the {bird} sleep?", 2);
  await run("goes on", "How does the {bird} sleep?");
  await run("repeated", "How does the {bird} sleep?");
  await run("changed", "Where does the {bird} sleep?");
} finally {
  await rm(folder, { recursive: true });
}
