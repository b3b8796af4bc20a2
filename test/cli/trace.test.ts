import { expect } from "chai";
import type { TaskView, TraceView } from "../../src/cli/trace-view.js";
import { FileFormatError } from "../../src/contracts/state-errors.js";
import { costText, traceTree } from "../../src/cli/trace-tree.js";
import { compareTraces } from "../../src/cli/trace-diff.js";
import { readTraceFile } from "../../src/cli/trace-file.js";
import { partOf } from "../../src/cli/trace-show-command.js";
import { goldenPath } from "../plugins/observability/trace/golden.js";
import { rejectionOf } from "../support/rejection.js";
import { ProjectFolder } from "./project-folder.js";
import { join } from "node:path";

const TEAM = `import { Ensemble, Task, Agent } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
const weigh = { name: "weigh", description: "Weighs", inputSchema: { type: "object" }, execute: () => { throw new Error("no \\u001b[31mscales"); } };
const facts = new Task({ name: "facts", description: "Collect facts", agent: new Agent({ role: "Reader", goal: "read", tools: [weigh] }) });
export default new Ensemble({ model: new ScriptedModel([{ toolCalls: [{ name: "weigh", arguments: "{}" }] }, { text: "Otters weigh 9 kg.", usage: { inputTokens: 30, outputTokens: 5 } }, "The end."]),
  tasks: [facts, new Task({ name: "text", description: "Write", context: [facts] })] });`;

/** The form of other programs: no ids, no attempts, no outcomes, totals under other names. */
const FOREIGN = {
  schemaVersion: "1.1",
  captureMode: "OFF",
  ensembleId: "run-7",
  workflow: "SEQUENTIAL",
  startedAt: "2026-01-01T00:00:00Z",
  totalDuration: "PT1H2M3.5S",
  taskTraces: [
    {
      taskDescription: "Plan it",
      agentRole: "Planner",
      duration: "PT2.25S",
      prompts: { systemPrompt: "You plan.", userPrompt: "Plan it" },
      llmInteractions: [
        {
          iterationIndex: 0,
          latency: "PT0.5S",
          inputTokens: -1,
          outputTokens: 7,
          cost: 0.25,
          responseType: "TOOL_CALLS",
          responseText: null,
          toolCalls: [
            {
              toolName: "ask",
              arguments: "{}",
              result: "Error: nobody there",
              duration: "PT0S",
              outcome: "ERROR",
            },
          ],
        },
      ],
      delegations: [
        {
          delegatorRole: "Planner",
          workerRole: "Writer",
          taskDescription: "Write it",
          duration: "PT1S",
          depth: 1,
          result: "text",
          succeeded: true,
          workerTrace: {
            taskDescription: "Write it",
            agentRole: "Writer",
            duration: "PT1S",
            finalOutput: "text",
            metrics: { inputTokens: 3, outputTokens: 4 },
          },
        },
        {
          delegatorRole: "Planner",
          workerRole: "Closer",
          taskDescription: "Close it",
          duration: "PT0S",
          mode: "handoff",
          succeeded: true,
        },
      ],
      finalOutput: "first line\nsecond line",
      metrics: {
        inputTokens: 10,
        outputTokens: 20,
        costEstimate: { totalCost: 0.00123456, currency: "EUR" },
      },
    },
    {
      taskDescription: "Do it",
      agentRole: "Doer",
      duration: "PT1S",
      finalOutput: null,
      metrics: { inputTokens: 1, outputTokens: 1, costEstimate: 0.5 },
    },
  ],
  metrics: { totalInputTokens: 11, totalOutputTokens: 21 },
  errors: [
    {
      agentRole: "Doer",
      taskDescription: "Do it",
      errorType: "TimeoutException",
      message: "too late",
    },
  ],
};

/** Sequences for colours, titles and cursor movements, C1 controls, and marks of direction. */
const EVIL = "a\u001b[2J\u001b]0;t\u0007\u001b]8;;x\u009b31m\u0085\u202Eb\u2066\u200f\u2028\u007fc";
const UNSAFE = /[^\P{Cc}\n]|[\u200E\u200F\u061C\u2028-\u202E\u2066-\u2069]/u;
/** Fields that must not change in a valid trace. */
const KEPT = new Set([
  ...["schemaVersion", "startedAt", "totalDuration", "duration", "latency", "responseType"],
]);

/** The same document with hostile text in every text field. */
function hostile(value: unknown, key = ""): unknown {
  if (typeof value === "string") return KEPT.has(key) ? value : `${EVIL}${value}`;
  if (Array.isArray(value)) return value.map((item) => hostile(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, name)]));
}

const plain = (_style: string, text: string): string => text;

describe("agentensemble trace", () => {
  let project: ProjectFolder;
  let foreign: TraceView;

  before(async () => {
    project = new ProjectFolder({
      "team.mjs": TEAM,
      "foreign.json": JSON.stringify(FOREIGN, null, 2),
    });
    expect((await project.run(["run", "team.mjs", "-q", "--trace", "ours.json"])).code).to.equal(0);
    foreign = await readTraceFile(join(project.path, "foreign.json"));
  });

  describe("show", () => {
    it("prints tasks, their calls and tools as a tree", async () => {
      const { code, stdout } = await project.run(["trace", "show", "ours.json"]);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^run \S+ PARALLEL COMPLETED /);
      expect(stdout).to.match(
        /├─ facts \(Reader\) ok [^]*│ {2}├─ call 1 scripted:scripted [^\n]*: asked for 1 tool\n│ {2}│ {2}└─ tool weigh ERROR [^\n]*no scales/,
      );
      expect(stdout).to.match(/└─ text \(Writer\) ok [^]*answered\n {3}└─ output The end\.\n$/);
      expect(stdout).to.include("30 in, 5 out: answered").and.not.include("\u001b");
    });

    it("labels a handoff as a transfer", async () => {
      const { stdout } = await project.run(["trace", "show", "foreign.json"]);
      expect(stdout).to.match(/─ transfer Planner -> Closer 0 ms [^\n]*: ok\n/);
    });

    it("reads traces of other writers: delegations, costs, unknown figures", async () => {
      const { stdout } = await project.run(["trace", "show", "foreign.json"]);
      expect(stdout).to.include("run run-7 SEQUENTIAL 62 min 4 s, 11 in, 21 out, capture OFF");
      expect(stdout).to.include("task-1 (Planner) ok 2.3 s, 10 in, 20 out, 0.001235 EUR");
      expect(stdout).to.include("500 ms, ? in, 7 out, 0.25 EUR: asked for 1 tool");
      expect(stdout).to.match(
        /├─ delegation Planner -> Writer 1\.0 s [^\n]*: ok\n│ {2}│ {2}└─ task-1 \(Writer\) ok 1\.0 s, 3 in, 4 out\n/,
      );
      expect(stdout)
        .to.include("task-2 (Doer) failed 1.0 s, 1 in, 1 out, 0.5 EUR")
        .and.include("TimeoutException: too late");
    });

    it("shows the workers of a manager below the delegation only", async () => {
      const trace = await readTraceFile(goldenPath("hierarchical"));
      const worker = / Manager -> Researcher [^\n]*: ok\n│ {2}│ {2}└─ facts \(Researcher\) ok /;
      const whole = traceTree({ ...trace, tasks: [...trace.tasks].reverse() }, plain).split("\n");
      expect(whole.filter((line) => line.includes("facts (Researcher)"))).to.have.length(1);
      expect(whole.join("\n").replaceAll("\n   ", "\n│  ")).to.match(worker);
      for (const task of ["facts", "task-2"]) {
        const { stdout } = await project.run([
          "trace",
          "show",
          goldenPath("hierarchical"),
          "--task",
          task,
        ]);
        expect(stdout.split("facts (Researcher)")).to.have.length(2);
      }
    });

    it("shows each task once if delegations refer to each other or form a long chain", async () => {
      const { tasks, ...trace } = foreign;
      const [planner] = tasks;
      const [delegation] = planner?.delegations ?? [];
      if (planner === undefined || delegation === undefined) throw new Error("no delegation");
      const chain = (length: number, next: (i: number) => number): readonly TaskView[] =>
        Array.from({ length }, (_, i) => ({
          ...planner,
          taskId: `t${i}`,
          delegations: [{ ...delegation, worker: null, workerTaskId: `t${next(i)}` }],
        }));
      for (const tasks of [
        chain(1, () => 0),
        chain(3, (i) => (i + 1) % 3),
        chain(2000, (i) => i + 1),
      ]) {
        const text = traceTree({ ...trace, tasks }, plain);
        const drawn = [...text.matchAll(/ (t\d+) \(Planner\)/g)].map(([, taskId]) => taskId);
        expect(drawn.sort()).to.deep.equal(tasks.map(({ taskId }) => taskId).sort());
      }
    });

    it("shows a sum without any known part as unknown", async () => {
      const metrics = (unknownUsageCalls: number): object => ({
        totalInputTokens: 0,
        totalOutputTokens: 0,
        unknownUsageCalls,
      });
      const shown = async (n: number): Promise<TraceView> => {
        project.write(
          "sums.json",
          JSON.stringify({ schemaVersion: "1.1", taskTraces: [], metrics: metrics(n) }),
        );
        return readTraceFile(join(project.path, "sums.json"));
      };
      expect(await shown(2)).to.include({ inputTokens: -1, outputTokens: -1 });
      expect(await shown(0)).to.include({ inputTokens: 0, outputTokens: 0 });
    });

    it("marks a cost without some calls as a minimum", () => {
      expect(costText({ amount: 0.5, currency: "EUR", atLeast: true })).to.equal(
        "at least 0.5 EUR",
      );
      project.write(
        "unpriced.json",
        JSON.stringify({
          ...FOREIGN,
          metrics: { costEstimate: { totalCost: 2, currency: "EUR", unpricedCalls: 1 } },
        }),
      );
      return readTraceFile(join(project.path, "unpriced.json")).then(({ cost }) =>
        expect(cost).to.deep.equal({ amount: 2, currency: "EUR", atLeast: true }),
      );
    });

    it("shows one task with its texts, selected by id or role", async () => {
      const { stdout } = await project.run(["trace", "show", "foreign.json", "--task", "planner"]);
      expect(stdout)
        .to.include("System prompt\nYou plan.")
        .and.include("Output\nfirst line\nsecond line");
      expect(stdout).not.to.include("Doer");
      expect(
        partOf(foreign, { task: "task-2" }).tasks.map(({ agentRole }) => agentRole),
      ).to.deep.equal(["Doer"]);
    });

    it("lists the existing tasks if --task matches none", async () => {
      const { code, stderr } = await project.run(["trace", "show", "ours.json", "--task", "fact"]);
      expect(code).to.equal(2);
      expect(stderr).to.include("Did you mean 'facts'? Known: facts, text.");
    });

    it("shows only errors with --errors", async () => {
      const { tasks, errors } = partOf(foreign, { errors: true });
      expect(tasks.map(({ taskId }) => taskId)).to.deep.equal(["task-1", "task-2"]);
      expect(tasks[0]).to.have.nested.property("calls[0].tools[0].outcome", "ERROR");
      expect(tasks[0]?.delegations).to.deep.equal([]);
      expect(errors.map(({ type }) => type)).to.deep.equal(["TimeoutException"]);
      expect((await project.run(["trace", "show", "ours.json", "--errors"])).stdout)
        .to.include("tool weigh ERROR")
        .and.not.include("text (Writer)");
    });

    it("reports that nothing failed", async () => {
      project.write("fine.json", JSON.stringify({ ...FOREIGN, taskTraces: [], errors: [] }));
      expect((await project.run(["trace", "show", "fine.json", "--errors"])).stdout).to.include(
        "Nothing went wrong.",
      );
    });

    it("reports that no task was started", async () => {
      project.write("none.json", '{"schemaVersion":"1.1","taskTraces":[]}');
      expect((await project.run(["trace", "show", "none.json"])).stdout).to.equal(
        "run ? ? ?, ? in, ? out\n\nNo task was started.\n",
      );
    });

    it("prints its data as JSON with --json", async () => {
      const { stdout } = await project.run(["trace", "show", "foreign.json", "--json"]);
      expect(JSON.parse(stdout)).to.deep.equal(JSON.parse(JSON.stringify(foreign)));
    });

    it("stops without an error when its reader disconnects", async () => {
      const { child, ended } = project.start(["trace", "show", "ours.json"]);
      child.stdout?.destroy();
      const { code, stderr } = await ended;
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    });
  });

  describe("a trace with control characters", () => {
    const stranger = hostile({
      ...FOREIGN,
      exitReason: "ERROR",
      errors: [...FOREIGN.errors, { errorType: "E", code: "AE_X", taskId: "t", message: "m" }],
    });

    before(() => {
      project.write("stranger.json", JSON.stringify(stranger));
    });

    for (const args of [
      ["show", "stranger.json"],
      ["show", "stranger.json", "--errors"],
      ["show", "stranger.json", "--task", "task-2"],
      ["show", "stranger.json", "--task", "none"],
      ["show", "stranger.json", "--json"],
      ["diff", "stranger.json", "foreign.json"],
      ["diff", "foreign.json", "stranger.json", "--json"],
    ]) {
      it(`writes no control characters to the terminal: ${args.join(" ")}`, async () => {
        const { stdout, stderr } = await project.run(["trace", ...args]);
        expect(`${stdout}${stderr}`).to.not.match(UNSAFE);
        expect(`${stdout}${stderr}`.length).to.be.above(20);
      });
    }

    it("writes no control characters to the terminal for an invalid trace", async () => {
      for (const text of [
        `{"schemaVersion":"${EVIL.replaceAll("\u001b", "\\u001b")}"}`,
        `{${EVIL}`,
      ]) {
        project.write("odd.json", text);
        for (const more of [[], ["--json"]]) {
          const { code, stdout, stderr } = await project.run([
            "trace",
            "show",
            "odd.json",
            ...more,
          ]);
          expect(code).to.equal(2);
          expect(`${stdout}${stderr}`).to.not.match(UNSAFE);
        }
      }
    });

    it("keeps its texts unchanged in JSON", async () => {
      const { stdout } = await project.run(["trace", "show", "stranger.json", "--json"]);
      const shown = JSON.parse(stdout) as TraceView;
      expect(shown.errors[1]).to.deep.equal({
        taskId: `${EVIL}t`,
        type: `${EVIL}E`,
        code: `${EVIL}AE_X`,
        message: `${EVIL}m`,
      });
    });
  });

  describe("a file that is not a trace", () => {
    const whole = JSON.stringify(FOREIGN, null, 2);
    const cases: readonly (readonly [string, string, number, RegExp])[] = [
      ["is empty", "", 1, /it is empty/],
      [
        "is truncated",
        whole.slice(0, whole.indexOf("Planner")),
        whole.slice(0, whole.indexOf("Planner")).split("\n").length,
        /is not JSON/,
      ],
      ["is another document", '\n{ "name": "x" }', 2, /no schemaVersion/],
      [
        "is a recording",
        '{"format":"agentensemble/recording","version":1}\n{"type":"run"}\n',
        1,
        /is a recording, not a trace/,
      ],
      ["has no list of tasks", '\n{ "schemaVersion": "1.1" }', 2, /taskTraces must be a list/],
      ["is a list", "\n\n[]", 3, /must be an object/],
      ["is a task graph", '{ "type": "dag", "schemaVersion": "1.3" }', 1, /task graph/],
      ["comes from a newer version", '{\n"schemaVersion": "2.0" }', 2, /"?2\.0"? is not supported/],
      ["comes from an older version", '{\n\n"schemaVersion": "0.9" }', 3, /0\.9/],
      ["has a version that is not a text", '{"schemaVersion": 1.1 }', 1, /1\.1 is not supported/],
      [
        "has a list in place of an object",
        '{"schemaVersion": "1.1",\n"taskTraces": [{},\n[]]}',
        3,
        /taskTraces\[1\] must be an object/,
      ],
      [
        "has a text in place of a list",
        '{"schemaVersion": "1.1",\n"taskTraces": [{"llmInteractions":\n"x"}]}',
        3,
        /taskTraces\[0\]\.llmInteractions must be a list/,
      ],
      [
        "has a duration of another form",
        '{"schemaVersion": "1.1",\n"totalDuration": "3 s"}',
        2,
        /totalDuration must be an ISO-8601 duration/,
      ],
      [
        "has a text in place of a number",
        '{"schemaVersion": "1.1", "metrics": {\n"inputTokens": "many"}}',
        2,
        /metrics\.inputTokens must be a number/,
      ],
    ];
    for (const [what, text, line, message] of cases) {
      it(`is refused with the line when it ${what}`, async () => {
        const path = join(project.path, "wrong.json");
        project.write("wrong.json", text);
        const error = await rejectionOf(FileFormatError, readTraceFile(path));
        expect(error).to.include({ code: "AE_FILE_FORMAT", path, line });
        expect(error.message).to.match(message);
        expect(error.hint).to.be.a("string");
      });
    }

    it("ends the command with 2", async () => {
      project.write("wrong.json", "{");
      const broken = await project.run(["trace", "show", "wrong.json"]);
      expect(broken.code).to.equal(2);
      expect(broken.stderr).to.include("AE_FILE_FORMAT").and.include("line 1").and.include("hint:");
      const missing = await project.run(["trace", "diff", "foreign.json", "nowhere.json"]);
      expect(missing.code).to.equal(2);
      expect(missing.stderr).to.include("nowhere.json").and.include("hint:");
    });
  });

  describe("diff", () => {
    const [plan, act] = FOREIGN.taskTraces;
    const changed = {
      ...FOREIGN,
      ensembleId: "run-8",
      taskTraces: [
        { ...plan, finalOutput: "first line\nanother line" },
        { ...act, taskId: "extra" },
      ],
    };

    it("finds no difference between runs that differ only in cost and duration", async () => {
      project.write(
        "later.json",
        JSON.stringify({
          ...FOREIGN,
          totalDuration: "PT9S",
          metrics: { totalInputTokens: 99, totalOutputTokens: 1 },
        }),
      );
      const { code, stdout } = await project.run(["trace", "diff", "foreign.json", "later.json"]);
      expect(code).to.equal(0);
      expect(stdout)
        .to.include("Same inputs, tasks, prompts, tool results and outputs.")
        .and.match(/Total .*11 \| 99/);
    });

    it("finds different inputs and tool results if the outputs are equal", async () => {
      const [call] = plan?.llmInteractions ?? [];
      const calls = [
        {
          ...call,
          toolCalls: call?.toolCalls.map((tool) => ({ ...tool, result: "another result" })),
        },
      ];
      const other = {
        ...FOREIGN,
        inputs: { topic: "owls" },
        taskTraces: [{ ...plan, llmInteractions: calls }, act],
      };
      project.write("other.json", JSON.stringify(other));
      const { code, stdout } = await project.run(["trace", "diff", "foreign.json", "other.json"]);
      expect(code).to.equal(1);
      expect(stdout)
        .to.include(`Input 'topic':\n- (none)\n+ "owls"`)
        .and.match(/task-1, first tool call that differs:\n- [^\n]+\n\+ [^\n]*another result/)
        .and.include("The runs differ. They part first at input 'topic'.");
    });

    it("finds different prompts and models, and names the first difference of the runs", () => {
      const [task, ...others] = foreign.tasks;
      if (task === undefined) throw new Error("the trace has tasks");
      const against = (changes: Partial<typeof task>) =>
        compareTraces(foreign, { ...foreign, tasks: [{ ...task, ...changes }, ...others] });
      const head = `task '${task.taskId}'`;
      const described = against({ description: "other words", prompts: null, output: "other" });
      expect(described.first).to.equal(`${head}: prompt`);
      expect(described.tasks[0]?.prompts?.[1]).to.equal("other words");
      const calls = task.calls.map((call) => ({ ...call, model: "openai:other" }));
      const model = against({ calls, output: "other" });
      expect(model.first).to.equal(`${head}: model`);
      expect(model.tasks[0]?.models?.[1]).to.equal("openai:other");
      expect(against({ output: "other" }).first).to.equal(`${head}: output`);
      expect(against({ outcome: "failed" }).first).to.equal(`${head}: outcome`);
      expect(against({ taskId: "new" }).first).to.equal(`${head}: removed`);
      expect(compareTraces(foreign, { ...foreign, exitReason: "ERROR" }).first).to.equal(
        "exit reason",
      );
      const prompts = (user: string) => ({
        ...foreign,
        tasks: [{ ...task, prompts: { system: "s", user } }],
      });
      expect(compareTraces(prompts("a\nb"), prompts("a\nc")).tasks[0]?.prompts).to.deep.equal([
        "b",
        "c",
      ]);
    });

    it("ends with 1 and names tasks that were added, removed or changed", async () => {
      project.write("changed.json", JSON.stringify(changed));
      const { code, stdout } = await project.run(["trace", "diff", "foreign.json", "changed.json"]);
      expect(code).to.equal(1);
      expect(stdout)
        .to.match(/task-1 +changed/)
        .and.match(/task-2 +removed/)
        .and.match(/extra +added/);
      expect(stdout).to.include("- second line\n+ another line").and.include("The runs differ.");
    });

    it("prints the comparison as JSON", async () => {
      project.write("changed.json", JSON.stringify(changed));
      const { code, stdout } = await project.run([
        "trace",
        "diff",
        "foreign.json",
        "changed.json",
        "--json",
      ]);
      expect(code).to.equal(1);
      const second = await readTraceFile(join(project.path, "changed.json"));
      expect(JSON.parse(stdout)).to.deep.equal(
        JSON.parse(JSON.stringify(compareTraces(foreign, second))),
      );
    });

    it("distinguishes the rounds of a task that a loop executed several times", () => {
      const [task] = foreign.tasks;
      if (task === undefined) throw new Error("the trace has tasks");
      const twice = { ...foreign, tasks: [task, { ...task, output: "second round" }] };
      const once = { ...foreign, tasks: [task] };
      expect(compareTraces(twice, twice)).to.include({ different: false });
      expect(compareTraces(twice, once).tasks.map(({ status }) => status)).to.deep.equal([
        "same",
        "removed",
      ]);
    });

    it("counts a different outcome as a difference", () => {
      expect(compareTraces(foreign, { ...foreign, exitReason: "ERROR" }).different).to.equal(true);
      const failed = {
        ...foreign,
        tasks: foreign.tasks.map((task) => ({ ...task, outcome: "failed" })),
      };
      expect(compareTraces(foreign, failed).tasks[0]).to.deep.include({
        status: "changed",
        difference: null,
        outcome: ["ok", "failed"],
      });
    });
  });
});
