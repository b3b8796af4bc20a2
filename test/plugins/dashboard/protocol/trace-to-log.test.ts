import { readFileSync } from "node:fs";
import type { Clock, Dag } from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import type { LogEntry } from "../../../../src/contracts/run-store.js";
import type { RunView, TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { readSavedTrace } from "../../../../src/plugins/dashboard/protocol/saved-trace.js";
import { dagToLog, traceToLog } from "../../../../src/plugins/dashboard/protocol/trace-to-log.js";
import { planOfTrace } from "../../../../src/plugins/dashboard/stores/saved/saved-plan.js";
import { runOf, TRACED } from "../../observability/trace/teams.js";
import { asLog } from "../logs.js";

/** Events after which the clock advances. */
const STEPS: ReadonlySet<string> = new Set(["task_input", "tool_started"]);

/** A clock that the events of a run advance, which gives its tasks times. */
function steppingClock(): Clock & { step(): void } {
  let ms = 1_000;
  return {
    step: () => void (ms += 7),
    now: () => new Date(Date.parse("2026-01-02T03:04:05.000Z") + ms),
    monotonicMs: () => ms,
  };
}

function stateOf(entries: readonly LogEntry[]): RunView {
  const state = createRunState();
  for (const entry of entries) state.apply(entry);
  return state.view;
}

function savedState(document: unknown, dag?: Dag): RunView {
  const trace = readSavedTrace(document, dag);
  return stateOf(traceToLog(trace, dag ?? planOfTrace(trace)));
}

const TASK_FIELDS = [
  "id role model parent state attempt startMs endMs inputTokens outputTokens unknownCalls cost",
  "wastedTokens wastedCost calls tools error",
].flatMap((names) => names.split(" ")) as (keyof TaskState)[];
/** The fields of a task in the diagram. */
const PLAN_FIELDS = "description deps level after phase critical type".split(
  " ",
) as (keyof TaskState)[];

/** The fields of a task in a trace, which contains no waits for rates and retries. */
function knownOfTask(task: TaskState, fields: readonly (keyof TaskState)[]): object {
  const bars = task.bars.filter(({ kind }) => kind !== "wait-limit" && kind !== "wait-retry");
  const known = [...TASK_FIELDS, ...fields].map((name) => [name, task[name]] as const);
  return { ...Object.fromEntries(known), bars };
}

/** The fields of a run in a trace. */
function knownOf(view: RunView, fields: readonly (keyof TaskState)[] = []): object {
  const { n: _n, ...summary } = view.summary;
  const byId = (a: TaskState, b: TaskState): number => (a.id < b.id ? -1 : 1);
  return {
    summary,
    tasks: [...view.tasks.values()]
      .filter(({ type }) => type !== "graph-end")
      .sort(byId)
      .map((task) => knownOfTask(task, fields)),
    byModel: view.byModel,
    byPurpose: view.byPurpose,
    byAgent: view.byAgent,
    phases: view.phases.map(({ name, state }) => ({ name, state })),
    executions: view.executions,
  };
}

/** A recorded run of a team: its live state, its trace as a file contains it, and its plan. */
async function recorded(
  team: string,
): Promise<{ readonly live: RunView; readonly document: unknown; readonly dag: Dag | undefined }> {
  const clock = steppingClock();
  const { trace, events } = await runOf(team, clock, ({ type }) => {
    if (STEPS.has(type)) clock.step();
  });
  const log = asLog(events);
  const dag = log.find(({ type }) => type === "run_planned")?.["dag"] as Dag | undefined;
  return { live: stateOf(log), document: JSON.parse(trace.toJson()), dag };
}

describe("a saved trace as a log", () => {
  for (const team of TRACED) {
    it(`yields the state of the live run of the team ${team}, as far as the trace contains it`, async () => {
      const { live, document } = await recorded(team);
      expect(live.summary.counts.done + live.summary.counts.stopped).to.be.above(0);
      expect(knownOf(savedState(document))).to.deep.equal(knownOf(live));
    });

    it(`yields the tasks of the plan of the team ${team} if its diagram is next to it`, async () => {
      const { live, document, dag } = await recorded(team);
      const saved = savedState(document, dag);
      expect(knownOf(saved, PLAN_FIELDS)).to.deep.equal(knownOf(live, PLAN_FIELDS));
      expect(saved.dag).to.deep.equal(live.dag);
    });
  }

  it("contains the texts of a task: prompts, answers, calls of tools and results", async () => {
    const { document } = await recorded("sequential");
    const log = traceToLog(readSavedTrace(document));
    const of = (type: string): LogEntry | undefined => log.find((line) => line.type === type);
    expect(of("task_input")?.["userPrompt"]).to.contain("Collect facts about swifts");
    expect(of("tool_started")?.["toolArguments"]).to.equal('{"input":"swift"}');
    expect(of("tool_called")?.["toolResult"]).to.contain("pages");
    expect(of("llm_iteration_completed")).to.include({ responseType: "TOOL_CALLS" });
    expect(of("task_completed")).to.have.nested.property("taskOutput.raw").that.contains("facts");
    expect(log.map(({ n }) => n)).to.deep.equal(log.map((_, n) => n));
  });

  it("reads traces of version 1.1", () => {
    for (const name of ["full", "delegation"]) {
      const path = new URL(
        `../../../../../test/fixtures/trace-1.1/${name}.trace.json`,
        import.meta.url,
      );
      const view = savedState(JSON.parse(readFileSync(path, "utf8")));
      expect(view.summary.state).to.equal("done");
      expect(view.summary.totals.calls).to.equal(name === "full" ? 2 : 3);
      expect(view.summary.counts.done).to.equal(name === "full" ? 1 : 2);
    }
  });

  it("reads traces without the fields that the Java version does not write", async () => {
    const { document } = await recorded("delegation");
    const view = savedState(asJavaWrites(document));
    expect(view.summary).to.include({ state: "done", workflow: "SEQUENTIAL" });
    expect(
      [...view.tasks.values()].map(({ id, role, parent }) => [id, role, parent]),
    ).to.deep.equal([
      ["task-1", "Porter", undefined],
      ["task-2", "Clerk", "task-1"],
    ]);
    const { inputTokens, cost, calls, currency } = view.summary.totals;
    expect({ inputTokens, cost, calls, currency }).to.deep.equal({
      inputTokens: 300,
      cost: 0.000432,
      calls: 3,
      currency: "USD",
    });
    const failed = await recorded("failed");
    const broken = savedState(asJavaWrites(failed.document));
    expect(broken.summary.state).to.equal("failed");
    expect([...broken.tasks.values()].map(({ state }) => state)).to.deep.equal(["done", "failed"]);
  });

  it("assigns the ids of the diagram to tasks without ids", async () => {
    const { document, dag } = await recorded("parallel");
    const view = savedState(asJavaWrites(document), dag);
    expect([...view.tasks.keys()]).to.deep.equal(["source", "left", "right", "join"]);
    expect(view.summary.counts).to.include({ done: 4, idle: 0 });
  });

  it("refuses documents that are not traces", () => {
    for (const odd of [null, [], 1, {}, { schemaVersion: "2.0", taskTraces: [] }, { type: "dag" }])
      expect(() => readSavedTrace(odd)).to.throw(Error, /not a trace/);
    expect(() => readSavedTrace({ schemaVersion: "1.3", taskTraces: {} })).to.throw(Error);
  });

  it("accepts fields with values of any type", () => {
    const odd = fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.array(fc.anything()));
    const task = fc.dictionary(fc.constantFrom(...TASK_NAMES), odd);
    const trace = fc.record({
      schemaVersion: fc.constant("1.3"),
      taskTraces: fc.array(task, { maxLength: 3 }),
      loopTraces: fc.array(fc.record({ taskIds: odd }), { maxLength: 1 }),
      errors: odd,
      metrics: fc.record({ ledger: odd }),
      startedAt: fc.constantFrom("2026-01-01T00:00:00Z", "never", 7),
    });
    fc.assert(fc.property(trace, (document) => void savedState(document)));
  });

  it("shows a diagram without a trace as a run that was not started", async () => {
    const { dag } = await recorded("parallel");
    if (dag === undefined) throw new Error("the team has a plan");
    const view = stateOf(dagToLog("plan", dag, 0));
    expect(view.summary).to.include({ runId: "plan", state: "stopped", exitReason: "NOT_RUN" });
    expect(view.summary.counts.idle).to.equal(4);
  });
});

const TASK_NAMES =
  "taskId attempt outcome dependsOn llmInteractions toolCalls delegations prompts metrics errors memory startedAt".split(
    " ",
  );

const OURS: ReadonlySet<string> = new Set(
  "taskId parentTaskId attempt outcome dependsOn workerTaskId provider modelId purpose cost errorCode ledger exitReason".split(
    " ",
  ),
);

/** The trace without the fields that this version adds to the format. */
function asJavaWrites(document: unknown): unknown {
  return JSON.parse(
    JSON.stringify(document, (key, value: unknown) => (OURS.has(key) ? undefined : value)),
  );
}
