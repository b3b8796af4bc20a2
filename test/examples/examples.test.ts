import { expect } from "chai";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/project.js";
import { runProgram } from "./run-program.js";

/** What each example has to print to have shown what it promises. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "01-quickstart.js": ['- "The common swift spends almost its whole life in the air."', "COMPLETED: "],
  "02-agents-and-tools.js": [
    'Clerk: look_up_price {"item":"table"} -> {"item":"table","price":240.5}',
    'Clerk: add {"amounts":[89,89,240.5]} -> 418.50',
    "3 tool calls, 4 model calls",
  ],
  "03-structured-output.js": ["Summary: A rain garden is ", "[Plants] The plants have to bear both wet and dry weeks."],
  "04-handler-pipeline.js": ["harbour  18.8 C", "Tasks: parse, average, report; model calls: 0"],
  "05-guardrails.js": ["Accepted: We are sorry for the delay and will look into it.", "Refused by 'no card numbers': the text holds a card number"],
  "06-hooks-plugin.js": [
    "I was asked: Is [e-mail] a valid address?",
    "(again: from the cache)",
    "secret papers never leave the house",
    "ok 1, answered 1, rejected 1",
  ],
  "07-swap-provider.js": ["Bound in the container: It is 2001", "the year 1984", "And after it:           It is 2001"],
  "08-custom-workflow.js": ["Friend: Then those who sneeze get the quiet room.", "Verdict: The cat may come on Fridays."],
  "09-parallel-research.js": ['- "The barn owl hunts at night over open fields."', "Bat report: skipped", "4 tasks done, failed: fetch bat radio archive"],
  "10-anthropic.js": [
    "/v1/messages: max_tokens 1000, system prompt cached: true, held to a schema: true",
    'tide_table {"harbour":"Husum"} -> {"harbour":"Husum","highWater":["01:55","14:40"]}',
    "Leave Husum at 14:10\n  60 tokens in, 0 of them from the cache\n  260 tokens in, 200 of them from the cache",
  ],
  "11-openai-compatible-server.js": [
    "A server at home keeps its letters at home.\n\n39 tokens, in 1 call",
    "With a tool: AE_MODEL_BAD_REQUEST, openai:llama3.2: status 400: llama3.2 does not support tools",
  ],
  "12-ai-sdk-provider.js": ["/v1/chat/completions for gpt-4o-mini, held to a schema: true", "Rialto, Venice, 1591\ngpt-4o-mini: 70 tokens in, 18 out"],
  "13-rate-limits.js": [" asks about the kingfisher", "task-1 done", "Limit: 1 requests per 60000ms"],
  "14-retry-and-fallback.js": [
    "attempt 1 of task-1 failed, next in 150 ms: openai:gpt-4o-mini: status 429: Slow down",
    "task-1 attempt 3: gpt-4o-mini ok\n  task-2 attempt 1: gpt-4o-mini failed\n  task-2 attempt 2: spare ok",
  ],
  "15-diamond.js": ["start source, done source, start costs, start risks,", "Costs: 14000, in three weeks", "Workflow: PARALLEL"],
  "16-hierarchical-team.js": [
    "Manager -> Editor: Delegation rejected by policy: Cannot delegate to 'Editor': stage 1 is not yet complete",
    "Manager -> Writer: Write the panel",
    "The listed panel: Swifts sleep in the air. They land only to breed, and hardly ever touch the ground.",
    "  task-3.1: Editor",
    "8 model calls, of which the manager made 5",
  ],
  "17-peer-delegation.js": [
    "Lawyer: Delegation rejected by policy: legal questions go to the office, in writing",
    "Gardener: Hornbeam: it bears shade and heavy soil.",
    "Delegations in the trace: Lawyer refused, Gardener ok",
  ],
  "18-phases-with-review.js": [
    "review: RETRY: say what it costs",
    "phase recommendation begins (attempt 2)",
    "It costs 40,000.",
    "Phases: demand, site, recommendation; model calls: 6",
  ],
  "19-loop.js": ["iteration 3 of at most 4 is done", "Ended by: predicate", "Final text: Come and build a kite with us at the harbour!"],
  "20-graph-tool-router.js": ["route > sum > answer > answer\n  They have 42 apples.", "route > dictionary > answer\n", "route > answer\n"],
  "21-map-reduce.js": [
    "Chunks of two: tasks per level 6, 3, 2, 1; 12 model calls",
    "Budget of 400 tokens: tasks per level 6, ",
    "Window of 128,000 tokens: tasks per level 1; 1 model calls",
    "flowchart TD",
  ],
  "22-custom-workflow.js": [
    "Judge: Question: who pays?\nReader: The friends of the library pay for two Sundays a month.",
    "Verdict: open on two Sundays a month. (rounds: 2)",
    "DELIBERATION needs two speakers and a judge, got 2 tasks",
  ],
};

describe("the numbered examples", () => {
  it("are all tested here", () => {
    const sources = readdirSync(join(projectRoot, "examples")).filter((file) => /^\d\d-.*\.ts$/.test(file));
    expect(sources.map((file) => file.replace(/\.ts$/, ".js")).sort()).to.deep.equal(Object.keys(EXPECTED));
  });

  for (const [file, texts] of Object.entries(EXPECTED)) {
    it(`${file} runs without a key and shows what it promises`, async () => {
      const { code, stdout, stderr } = await runProgram([`dist/examples/${file}`]).finished;
      expect(stderr).to.equal("");
      expect(code).to.equal(0);
      for (const text of texts) expect(stdout).to.include(text);
    });
  }
});
