import { expect } from "chai";
import { readdirSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { withoutDurations } from "../plugins/replay/record-and-replay.js";
import { allCases } from "../support/all-cases.js";
import { projectRoot } from "../support/project.js";
import { runProgram, type Finished } from "./run-program.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Ids of runs, and names of temporary folders. */
const RANDOM = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=recordings-)\w{6}/g;
const HOOK = ["--import", "./dist/test/examples/recorded-examples.js"];

/** The runs of every kernel of an example, as recorded by one of its processes. */
async function endsOf(
  folder: string,
  name: string,
): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}-`)).sort();
  return Promise.all(
    files.map(async (file) => ({
      file: file.slice(name.length),
      text: (await readFile(join(folder, file), "utf8")).replace(/\.js\?(?:once|twice)/g, ".js"), // in stacks
    })),
  );
}

/**
 * One document per run; concurrent runs end in any order. Recordings of an example itself have
 * other ids each time.
 */
function comparable({
  file,
  text,
}: {
  readonly file: string;
  readonly text: string;
}): readonly unknown[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const runs = lines.map((line) =>
    withoutDurations(file.endsWith("-own.json") ? line.replaceAll(RANDOM, "(random)") : line),
  );
  return runs.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/**
 * The example in which a task fails when its run is stopped: `failed` or `aborted`, depending on
 * timing.
 */
const STOPPED = "27-budget-with-downgrade.js";

function asFailed<E extends { readonly text: string }>(end: E): E {
  return { ...end, text: end.text.replaceAll('"outcome":"aborted"', '"outcome":"failed"') };
}

/** The output that each example must print. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "01-quickstart.js": [
    '- "The common swift spends almost its whole life in the air."',
    "COMPLETED: ",
  ],
  "02-agents-and-tools.js": [
    'Clerk: look_up_price {"item":"table"} -> {"item":"table","price":240.5}',
    'Clerk: add {"amounts":[89,89,240.5]} -> 418.50',
    "3 tool calls, 4 model calls",
  ],
  "03-structured-output.js": [
    "Summary: A rain garden is ",
    "[Plants] The plants have to bear both wet and dry weeks.",
  ],
  "04-handler-pipeline.js": ["harbour  18.8 C", "Tasks: parse, average, report; model calls: 0"],
  "05-guardrails.js": [
    "Accepted: We are sorry for the delay and will look into it.",
    "Refused by 'no card numbers': the text holds a card number",
  ],
  "06-hooks-plugin.js": [
    "I was asked: Is [e-mail] a valid address?",
    "(again: from the cache)",
    "secret papers never leave the house",
    "ok 1, answered 1, rejected 1",
  ],
  "07-swap-provider.js": [
    "Bound in the container: It is 2001",
    "the year 1984",
    "And after it:           It is 2001",
  ],
  "08-custom-workflow.js": [
    "Friend: Then those who sneeze get the quiet room.",
    "Verdict: The cat may come on Fridays.",
  ],
  "09-parallel-research.js": [
    '- "The barn owl hunts at night over open fields."',
    "Bat report: skipped",
    "4 tasks done, failed: fetch bat radio archive",
  ],
  "10-anthropic.js": [
    "/v1/messages: max_tokens 1000, system prompt cached: true, held to a schema: true",
    'tide_table {"harbour":"Husum"} -> {"harbour":"Husum","highWater":["01:55","14:40"]}',
    "Leave Husum at 14:10\n  60 tokens in, 0 of them from the cache\n  260 tokens in, 200 of them from the cache",
  ],
  "11-openai-compatible-server.js": [
    "A server at home keeps its letters at home.\n\n39 tokens, in 1 call",
    "With a tool: AE_MODEL_BAD_REQUEST, openai:llama3.2: status 400: llama3.2 does not support tools",
  ],
  "12-ai-sdk-provider.js": [
    "/v1/chat/completions for gpt-5-mini, held to a schema: true",
    "Rialto, Venice, 1591\ngpt-5-mini: 70 tokens in, 18 out",
  ],
  "13-rate-limits.js": [
    " asks about the kingfisher",
    "task-1 done",
    "Limit: 1 requests per 60000ms",
  ],
  "14-retry-and-fallback.js": [
    "attempt 1 of task-1 failed, next in 150 ms: openai:gpt-5-mini: status 429: Slow down",
    "task-1 attempt 3: gpt-5-mini ok\n  task-2 attempt 1: gpt-5-mini failed\n  task-2 attempt 2: spare ok",
  ],
  "15-diamond.js": [
    "start source, done source, start costs, start risks,",
    "Costs: 14000, in three weeks",
    "Workflow: PARALLEL",
  ],
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
  "19-loop.js": [
    "iteration 3 of at most 4 is done",
    "Ended by: predicate",
    "Final text: Come and build a kite with us at the harbour!",
  ],
  "20-graph-tool-router.js": [
    "route > sum > answer > answer\n  They have 42 apples.",
    "route > dictionary > answer\n",
    "route > answer\n",
  ],
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
  "24-semantic-recall.js": [
    "encrypting the backups\n    -> Every backup is encrypted",
    "Somebody got into our servers\n    -> (nothing near enough)",
    "Somebody got into our servers\n    -> In March an attacker",
    "From earlier runs: The customer prefers answers by phone. (Clerk)",
  ],
  "23-memory-across-runs.js": [
    "--- Monday ---\n(nothing remembered)",
    'The following information from scope "reports" may be relevant:\n\n---\nMonday: 12 letters, most of them about late parcels.\n---',
    "1 fact(s) about couriers: courier: Swift & Co",
    "Tuesday: 7 letters, five fewer than on Monday.",
  ],
  "25-human-review.js": [
    "[c] Continue  [e] Edit  [x] Exit early (auto-x in 2:00)  > ",
    "First run: COMPLETED, sent: We open again on Monday, with a new reading room.",
    "Second run: USER_EXIT_EARLY, ",
  ],
  "26-reflection.js": [
    "Without notes.",
    "Reflection 1: Begin with what sets the animal apart",
    "otter: A short text. (task, reflection)",
    "With notes:\n## Task Improvement Notes (from prior executions)",
    "Reflection 2: ",
  ],
  "27-budget-with-downgrade.js": [
    "A budget of $0.1\n  clocks: good",
    "downgrade at maps: $0.0168 of $0.022 used",
    "6 of 6 labels for $0.0182",
    "Budget maxCost exceeded: ",
  ],
  "28-streaming.js": [
    "bow towards home.\n[task-1 done]",
    "day 1 begins to be planned\nday 2 begins to be planned",
    "COMPLETED\nA spider has eight legs.",
  ],
  "29-cancellation.js": [
    "polite: CANCELLED, kept: found, back at once: true",
    "stubborn: CANCELLED, kept: found, back at once: true",
    "time limit: TIMEOUT, true, complete: false",
  ],
  "30-capture-modes.js": [
    "OFF: messages per model call: 0, 0",
    'STANDARD: messages per model call: 3, 5\n  {"input":"Ada Lovelace"} -> {"guest":"Ada Lovelace","room":12,"password":"[redacted]"}',
    'PRIVATE: messages per model call: 3, 5\n  {"input":"(guest)"} -> {"guest":"(guest)","room":12,"password":"[redacted]"}\n  as a value: input',
    "Written: monday.trace.json",
  ],
  "31-cost-report.js": [
    "By agent\n  Planner: 2 calls, 4600 tokens, $0.00062\n  Scout: 3 calls, 1950 tokens, at least $0.00032",
    "By task-tree\n  plan: 5 calls, 6550 tokens",
    "By tag:customer\n  acme: 5 calls",
    "The whole run: at least $0.00094\nTool delegate: 1 calls, 0 failed",
  ],
  "32-opentelemetry.js": [
    "A service would be sent: traceparent 00-...-...-01",
    "invoke_workflow garden letters\n  invoke_agent Secretary\n    chat scripted\n    execute_tool delegate\n      invoke_agent Gardener",
    "        execute_tool look_up\n          read archive",
  ],
  "33-prometheus.js": [
    "GET /metrics: 200, text/plain; version=0.0.4",
    'agentensemble_runs_total{workflow="SEQUENTIAL",exit_reason="COMPLETED"} 2',
    'agentensemble_tool_executions_total{tool_name="weigh",agent_role="Clerk",outcome="error"} 1',
    "agentensemble_active_tasks 0",
    "Served at: nowhere any more",
  ],
  "34-record-and-replay.js": [
    "ok: gives the same answers again, without asking the model or the list",
    'differs in message 2: recorded "user: ## Task\\nHow many lamps do we have?',
    "ok: goes on live from the first change",
  ],
  "35-custom-exporter.js": [
    "Warning: A trace exporter failed: the server is away",
    "good: COMPLETED, 1 model calls, slowest task ",
    "bad: ERROR, 1 model calls, slowest task ",
    "Complete: true; in its trace: A trace exporter failed: the server is away",
    "Files: bad.dag.json, bad.trace.json, good.dag.json, good.trace.json\nIn bad.trace.json the first error is that of task check",
  ],
  "36-explain.js": [
    "== research: Researcher with scripted:scripted, after: nothing",
    "   tools: look_up; at most 6 model calls",
    "| [output of research]",
    "At most 0.0",
    "Task 'research': its tools may answer at any length; set maxToolOutputLength",
  ],
  "40-calculator-and-dates.js": [
    "json_parser: 20260001234567890123",
    "datetime: 2026-02-28",
    "2026-03-28T20:30:00 America/New_York",
    "Missing closing parenthesis",
  ],
  "41-tool-approval.js": [
    "More than 100 euros are paid back.\n  PAID 100 to Ada",
    "SENT to ada@example.com: Dear Ada, the money is on its way.",
    "send_mail -> Error: The mail to press@example.com was not sent: a person said no.",
  ],
  "42-file-tools.js": [
    "server.ts:2:const port = 80;",
    "[MODIFIED server.ts +1 -1]\ncode_edit",
    "   2 | const port = 8080;",
    "Error: Access denied: path is outside the sandbox directory",
    "[CREATED notes/changes.md +1 -0]",
    'count_lines {"path":"server.ts"} -> 4 lines',
    '"a\\u0000b": Access denied: path contains a control character',
  ],
  "43-web-tools.js": [
    "     Birds that hardly ever land.",
    "Access to http://localhost/admin is not allowed: it is this machine",
    "  # Swifts\n  \n  A swift can stay in the air for **ten months**.",
    "  5 words",
  ],
  "44-process-tool.js": [
    "-> 12 words",
    "-> Error: there is no text",
    "-> ?? word-count.mjs",
    "Option '--output=/tmp/stolen' is not allowed for git log",
    "Access denied: path is outside the workspace directory",
    "A program that takes too long: timedOut true, still running: 0",
  ],
  "45-tool-pipeline.js": [
    "calculator: 100.8\nstock_worth: 100.8",
    "stock_worth: Error: nails are not to be looked up",
    "DIVISION BY ZERO",
  ],
  "46-mcp-server.js": [
    "harbour-office offers:\n  high_water(harbour)\n  advise(boat, harbour)\n  log_entry(text)",
    "Structured: { harbour: 'Husum', at: '14:40' }",
    "There is no tide table for Atlantis",
    "step 1: Task 'advise' started by ",
    "Logged: all well",
  ],
  "50-stream-to-a-page.js": [
    "task: { taskId: 'notes', agent: 'Researcher', state: 'done' }",
    "tool: Tide table output-available { harbour: 'Husum' } { harbour: 'Husum', at: '14:40' }",
    "text: High water at Husum is at 14:40.",
  ],
  "51-http-service.js": [
    'Wrong input: 400 {"error":{"code":"AE_VALIDATION"',
    "A stranger: 401",
    "Ana sees: { order: 'A-17', euros: 40 }",
    "Ana clicks twice: [ 200, 409 ]\n   tool-output-available",
  ],
  "52-resume-after-a-crash.js": [
    "killed by SIGKILL",
    "resumed with 2 finished tasks\n  answer for 'title'\n  result: A page on bees, after 3 model calls in all",
    "resumed with 3 finished tasks\n  result: A page on bees, after 3 model calls in all",
  ],
  "53-refund-with-a-key.js": [
    "pays C-17 back (complaint-C-17/settle@1/call-1)",
    "C-17 was paid back before (complaint-C-17/settle@1/call-1)",
    "result: The customer has the money back.",
  ],
  "54-review-over-two-processes.js": [
    "ends: the run waits for a person",
    "Ana's edit: resolved",
    "result: Fresh honey for sale / Miel à vendre",
  ],
  "55-handler-with-once.js": [
    "sends honey (orders-of-today/send@1/send honey)\n  killed by SIGKILL",
    "'resumed':\n  sends bread",
    "result: parcel with tea, parcel with honey, parcel with bread",
  ],
  "56-custom-journal.js": [
    "Entries: 2 call, 2 task",
    "Run 'sentences' is completed, with 2 finished tasks",
    "A fork from task 'two': Bees make honey. (2 calls, one of them made now)",
  ],
  "57-live-dashboard.js": [
    "The page: http://127.0.0.1:",
    "waits for a person: Is this right? http://127.0.0.1:",
    "Swifts sleep while they fly.\nThe answer: APPLIED\nThe run: done,",
  ],
  "79-start-from-a-form.js": [
    "Its fields: bird, sentences, audience",
    "What is wrong: bird, sentences",
    "Preview: Write 1 sentences on how the swift sleeps",
    "The run: done",
  ],
  "72-one-board.js": [
    "On the board: reviews of 2 processes",
    "worker-1 has published it",
    "worker-2 was cancelled",
    "worker-1: done\nworker-2: stopped",
  ],
  "58-workers.js": [
    "submitted before any worker runs: QUEUED",
    "the first worker reads order 17\nafter the first has stopped: QUEUED",
    "the second worker has packed order 17 (attempt 1)",
  ],
  "59-an-upgrade.js": ["version 1 collects the figures\nReport: 12 orders (checked by version 2)"],
  "60-services-in-one-process.js": [
    "kitchen__check-inventory: 12 of bread",
    "kitchen__prepare-meal: Club sandwich, cut in four.",
    "used by kitchen: 1000 + 40 tokens",
    "order-4711: 12 of eggs (attempt 1)\norder-4711: 12 of eggs (attempt 1)",
  ],
  "61-custom-backend.js": ["ONE, TWO, THREE", "done: DONE"],
  "62-service-with-drain.js": [
    "an order while the service drains: 503",
    "One soup, hot\nOne risotto, hot",
    "  STOPPED",
  ],
  "63-schedule.js": [
    "fired: 2026-03-28T05:00:00.000Z",
    "fired: 2026-03-29T04:00:00.000Z",
    "text: 'Salt is short'",
  ],
  "64-two-services-over-a2a.js": [
    "the kitchen serves\nhotel: Room 403 gets tomato soup with bread.\nprogram: Tomato soup with bread",
  ],
  "65-webhooks.js": [
    "order-4711 202 { requestId: 'order-4711', status: 'ACCEPTED' }",
    "result of order-4711: One soup, hot (genuine: true)",
    "order-4711 202 { requestId: 'order-4711', status: 'DUPLICATE' }\norder-4712 401",
  ],
  "66-deployed-service.js": [
    "kitchen listens\n/api/health/live 200\n/api/health/ready 200",
    'agentensemble_queued_requests{ensemble="kitchen"} 0\nstopped',
  ],
  "67-chat.js": [
    "> What is my name?\nI do not know yet.\n  (1 call, 2 messages)",
    "> What is my name?\nYour name is Ada.\n  (1 call, 6 messages)",
  ],
  "68-threads-per-user.js": [
    "ada: trip (turns: 4)\nben: taxes (turns: 1)\nben opens trip: AE_ACCESS_DENIED",
    "4 turns, summary up to turn 1: They talked about ferries to Amrum.",
    "trip-with-ben: 8 messages",
  ],
  "73-quotas-of-users.js": [
    "ada in trip: Noted.\nada in trip: Noted.\nada in trip: Noted.",
    "ada in trip: AE_TURN_QUOTA (3 turns of the thread)\nada in taxes: Noted.",
    "ben in garden: Noted.\nben in garden: Noted.\nben in garden: AE_TURN_QUOTA (2 turns of the owner)",
    "ben in weather: AE_TURN_QUOTA (2 turns of the owner)",
    "ada: trip (turns: 3), taxes (turns: 1); messages left today: 16\nben: garden (turns: 2); messages left today: 0",
  ],
  "71-reasoning-with-tools.js": [
    "Reasoning: I need both tides first.",
    "Reasoning: 14:40 is too late.",
    "In the trace: I need both tides first.\nIn the trace: 14:40 is too late.",
    "Signed blocks in the trace: false",
    "Answer: Leave at 01:25, before the night tide.",
  ],
  "69-support-desk.js": [
    "  Front desk -> Billing\nBilling: I see one invoice: no. 4711",
    "  Front desk -> Technical\nTechnical: Restart the router.\nben> It does not start again.\nTechnical:",
    "  refused: billing is closed for this plan\nFront desk: Billing",
  ],
  "70-typed-service.js": [
    "en: The tea is ready.\nde: Der Tee ist fertig.\nfr: Le thé est prêt.\n  Translator: done\n  Translator: done",
    "refused before any call: The inputs do not fit the ensemble's inputType: news",
  ],
  "47-mcp-client.js": [
    "files__read_text_file: effect send, untrusted true",
    "files__list_directory -> [FILE] agent-teams.md",
    "files__read_text_file -> Error: Access denied",
    "Text that a tool brings in can hold instructions.",
  ],
  "80-evaluate-a-team.js": [
    "exact       9  33.3 %  0.0 % to 66.7 %  33.3 %       0",
    "exact: 0.33 -> 1.00, 6 better, 0 worse: better",
  ],
  "81-choose-a-model.js": [
    "large: mean 1.00, all of 3 trials pass in 1.00, cost $0.0408: the baseline",
    "small: mean 1.00, all of 3 trials pass in 1.00, cost $0.0024: no difference",
    "tiny: mean 0.86, all of 3 trials pass in 0.57, cost $0.0008: worse",
  ],
  "82-calibrate-a-judge.js": [
    "agreement 0.50 (0.13 to 0.88), kappa 0.00",
    "answer-3: person 1, judge 0.25 (It does not help.)",
    "agreement 1.00 (0.63 to 1.00), kappa 1.00",
  ],
  "83-evaluate-and-pay-once.js": [
    "interrupted: cancelled, 2 cases, 4 calls paid, 0 from the file",
    "goes on: complete, 4 cases, 4 calls paid, 4 from the file",
    "repeated: complete, 4 cases, 0 calls paid, 8 from the file",
    "changed: complete, 4 cases, 4 calls paid, 4 from the file",
  ],
  "84-guard-a-team.js": [
    "The model sees an address: false\nThe page was withheld: true",
    "Dear ana@example.com, see https://shop.example.com/prices or [link removed].",
  ],
  "85-expected-cost.js": [
    "p50: 21.3 s, 0.0037 USD\np90: 27.4 s, 0.0050 USD\np99: 36.0 s, 0.0063 USD\nwaits for the rate limit: 10.0 s",
  ],
  "86-rehearse-failure.js": [
    "20 finished, 0 refused\nvendor error: 10\ncut stream: 2\nwrong JSON: 6\nviolations: 0",
  ],
  "87-red-team.js": ["without guards: refund; with: nothing\nwithout guards: link; with: nothing"],
  "90-answers-from-a-folder.js": [
    "6 files, 31 passages",
    "alternate between two tools without making progress",
    "(1 model calls; from: tool-loops.md)",
    "Nothing found.\n(0 model calls; from: )",
  ],
  "91-aws-lambda.js": ["200 Swifts sleep in the air.\n401 "],
};

/**
 * Examples that can't be recorded: runs from a journal, executed requests of a service, and turns
 * of a conversation. Simulated time replaces the clock, like a replay.
 */
function isNotRecorded(file: string): boolean {
  return /^(?:5[2-689]|6[0-9]|7[29]|85)-/.test(file);
}

/** An example that runs, and the folder with the ends of its runs. */
interface Play {
  readonly folder: string;
  readonly finished: Promise<Finished>;
}

function startPlay(file: string): Play {
  const folder = temporaryFolder();
  const args = [...(isNotRecorded(file) ? [] : HOOK), `dist/examples/${file}`];
  return { folder, finished: runProgram(args, { PLAY_EXAMPLE: folder }).finished };
}

describe("the numbered examples", () => {
  it("are all tested here", () => {
    const sources = readdirSync(join(projectRoot, "examples")).filter((file) =>
      /^\d\d-.*\.ts$/.test(file),
    );
    expect(sources.map((file) => file.replace(/\.ts$/, ".js")).sort()).to.deep.equal(
      Object.keys(EXPECTED).sort(),
    );
  });

  for (const [file, texts] of Object.entries(EXPECTED)) {
    describe(file, () => {
      let played: Play | undefined;
      const play = (): Play => (played ??= startPlay(file));

      afterEach(function (this: Mocha.Context) {
        if (this.currentTest?.isPassed() !== true) played = undefined; // a second try plays again
      });

      it("runs without a key and prints the documented output", async () => {
        const { code, stdout, stderr } = await play().finished;
        expect(stderr).to.equal("");
        expect(code).to.equal(0);
        const [shown] = stdout.split("END_OF_RECORDING\n");
        for (const text of texts) expect(shown).to.include(text);
      });

      if (isNotRecorded(file)) return;
      it("replays without a model, with the same outputs and traces", async () => {
        const { folder, finished } = play();
        const { code, stdout } = await finished;
        expect(code).to.equal(0);
        expect(stdout).to.include("END_OF_RECORDING\n");
        const recorded = await endsOf(folder, "recorded");
        const compared = (ends: typeof recorded): unknown =>
          ends.map((end) => [end.file, comparable(STOPPED === file ? asFailed(end) : end)]);
        const replayed = (ends: typeof recorded): unknown =>
          ends.filter((end) => !end.file.endsWith("-own.json"));
        const once = await endsOf(folder, "once");
        expect(compared(once)).to.deep.equal(compared(recorded));
        if (!allCases) return;
        const twice = await endsOf(folder, "twice");
        expect(replayed(twice)).to.deep.equal(replayed(once));
        expect(compared(twice)).to.deep.equal(compared(recorded));
      });
    });
  }
});
