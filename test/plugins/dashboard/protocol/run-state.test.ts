import { expect } from "chai";
import type { LogEntry, WorkState } from "../../../../src/contracts/run-store.js";
import type { RunView, TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { TRACED } from "../../observability/trace/teams.js";
import { entry, logOf, PLANS, recordedLog } from "../logs.js";

function viewOf(log: readonly LogEntry[]): RunView {
  const state = createRunState();
  for (const line of log) state.apply(line);
  return state.view;
}

/** The view after entries of a run, 10 ms apart; the first is its start. */
function viewAfter(...entries: readonly (readonly [string, object?])[]): RunView {
  return viewOf(logOf(["ensemble_started", { runId: "r", workflow: "SEQUENTIAL" }], ...entries));
}

function task(view: RunView, id: string): TaskState {
  const found = view.tasks.get(id);
  if (found === undefined) throw new Error(`no task ${id}`);
  return found;
}

const a = { taskId: "a", agentRole: "Writer" };
const usage = { ...a, provider: "p", modelId: "m", purpose: "task", outcome: "ok" };
const failure = (code: string): object => ({ cause: { name: "Error", message: "no", code } });

describe("state of a run", () => {
  it("shows a plan with its edges before the first task begins", () => {
    const view = viewAfter(["run_planned", { ensemble: { name: "team" }, dag: PLANS[0] }]);
    expect(view.summary.ensemble).to.equal("team");
    expect(view.dag?.edges).to.deep.equal(PLANS[0].edges);
    expect(view.dag?.parallelGroups).to.deep.equal(PLANS[0].parallelGroups);
    expect(task(view, "b")).to.include({ state: "idle", parent: "a", level: 1, phase: "one" });
    expect(task(view, "b").deps).to.deep.equal(["a"]);
    expect(task(view, "$loop:l").after).to.deep.equal(["b"]);
    expect(task(view, "c").parent).to.equal("$loop:l");
    expect(view.summary.counts.idle).to.equal(4); // a loop is no task
  });

  it("marks the transitions that a state machine made", () => {
    const made = { graphName: "g", stateName: "a", nextState: "b" };
    const view = viewAfter(["run_planned", { dag: PLANS[1] }], ["graph_state_completed", made]);
    expect(view.dag?.graphEdges?.map(({ fired }) => fired)).to.deep.equal([true, false, false]);
    expect(PLANS[1].graphEdges.map((edge) => "fired" in edge && edge.fired)).to.not.include(true);
    expect(task(view, "__END__").state).to.equal("idle");
  });

  it("keeps the first start of a task that begins again, and counts its attempts", () => {
    const view = viewAfter(
      ["task_started", { ...a, attempt: 1 }],
      ["task_failed", { ...a, attempt: 1, ...failure("AE_TASK_EXECUTION") }],
      ["task_started", { ...a, attempt: 2 }],
    );
    const { state, attempt, startMs, endMs, error, bars } = task(view, "a");
    expect({ state, attempt, startMs, endMs }).to.deep.equal({
      state: "running",
      attempt: 2,
      startMs: 10,
      endMs: undefined,
    });
    expect(error).to.deep.equal({ code: "AE_TASK_EXECUTION", message: "no" });
    expect(bars).to.deep.equal([
      { kind: "task", startMs: 10, endMs: 20 },
      { kind: "task", startMs: 30 },
    ]);
    expect(view.errors).to.deep.equal([2]);
  });

  it("shows the error of the failed task, not the error that wraps it", () => {
    const cause = {
      code: "AE_TASK_EXECUTION",
      message: "Task 'a' failed",
      cause: { code: "AE_OUTPUT_PARSING", message: "No JSON", cause: { message: "Unexpected" } },
    };
    const view = viewAfter(
      ["task_started", a],
      ["task_failed", { ...a, cause }],
      ["run_failed", { code: "AE_TASK_EXECUTION", message: "Task 'a' failed" }],
    );
    const shown = { code: "AE_OUTPUT_PARSING", message: "No JSON" };
    expect(task(view, "a").error).to.deep.equal(shown);
    expect(view.summary.error).to.deep.equal({ ...shown, taskId: "a" });
    const other = viewAfter(
      ["task_started", a],
      ["task_failed", { ...a, cause: { ...cause, cause: { message: "No code" } } }],
      ["run_failed", { code: "AE_BUDGET_EXCEEDED", message: "Too much" }],
    );
    expect(task(other, "a").error?.code).to.equal("AE_TASK_EXECUTION");
    expect(other.summary.error?.code).to.equal("AE_BUDGET_EXCEEDED");
  });

  it("counts the usage of failed attempts as wasted, and unknown usage separately", () => {
    const view = viewAfter(
      ["task_started", a],
      ["usage_recorded", { ...usage, inputTokens: 10, outputTokens: 5, cost: 0.1, attempt: 1 }],
      ["guardrail_refused", { ...a, kind: "OUTPUT", attempt: 1, retriesLeft: 1 }],
      ["usage_recorded", { ...usage, inputTokens: -1, outputTokens: -1, outcome: "failed" }],
      ["usage_recorded", { ...usage, inputTokens: 20, outputTokens: 5, cost: 0.2 }],
      ["task_completed", { ...a, attempt: 2 }],
    );
    expect(task(view, "a")).to.include({
      inputTokens: 30,
      outputTokens: 10,
      unknownCalls: 1,
      cost: 0.3,
      wastedTokens: 15,
      wastedCost: 0.1,
      calls: 3,
      attempt: 2,
      model: "p:m",
    });
    const sums = { inputTokens: 30, outputTokens: 10, unknownCalls: 1, cost: 0.3, calls: 3 };
    expect(view.summary.totals).to.include(sums);
    expect(view.byModel).to.deep.equal([{ name: "p:m", ...sums }]);
    expect(view.byAgent).to.deep.equal([{ name: "Writer", ...sums }]);
    expect(view.byPurpose).to.deep.equal([{ name: "task", ...sums }]);
    expect(view.errors).to.deep.equal([3, 4]);
  });

  it("excludes the cost of answers of a recording", () => {
    const view = viewAfter(
      ["task_started", a],
      ["usage_recorded", { ...usage, inputTokens: 1, outputTokens: 1, cost: 9, recorded: true }],
    );
    expect(view.summary.totals).to.include({ cost: 0, calls: 1, inputTokens: 1 });
  });

  it("counts everything once for a log that is applied twice", () => {
    const state = createRunState();
    const log = logOf(["ensemble_started"], ["task_started", a], ["usage_recorded", usage]);
    for (const line of [...log, ...log]) state.apply(line);
    expect(state.view.summary.totals.calls).to.equal(1);
  });

  it("shows waits for reviews, rate limits and retries as bars of their kinds", () => {
    const view = viewAfter(
      ["task_started", a],
      ["rate_limited", { ...a, waitMs: 5 }],
      ["usage_recorded", { ...usage, latencyMs: 2, outcome: "failed" }],
      ["retry_scheduled", { ...a, delayMs: 5 }],
      ["usage_recorded", { ...usage, latencyMs: 3 }],
      ["tool_started", { ...a, callId: "1", iteration: 0, toolName: "search" }],
      ["review_requested", { ...a, reviewId: "q" }],
      ["review_resolved", { ...a, reviewId: "q", decision: "CONTINUE" }],
      ["tool_called", { ...a, callId: "1", iteration: 0, toolOutcome: "SUCCESS" }],
      ["tool_started", { ...a, callId: "2", iteration: 1, toolName: "delegate" }],
      ["delegation_started", { ...a, delegationId: "d" }],
      ["delegation_completed", { ...a, delegationId: "d" }],
      ["tool_called", { ...a, callId: "2", iteration: 1, toolOutcome: "SUCCESS" }],
      ["task_completed", a],
    );
    expect(task(view, "a").bars).to.deep.equal([
      { kind: "task", startMs: 10, endMs: 140 },
      { kind: "wait-limit", startMs: 20, endMs: 28 },
      { kind: "failed", startMs: 28, endMs: 30 },
      { kind: "wait-retry", startMs: 40, endMs: 47 },
      { kind: "model", startMs: 47, endMs: 50 },
      { kind: "tool", startMs: 60, endMs: 90 },
      { kind: "wait-review", startMs: 70, endMs: 80 },
      { kind: "delegation", startMs: 110, endMs: 120 },
    ]);
    expect(view.summary.totals.tools).to.equal(2);
  });

  it("is waiting when a review is requested and nothing else is in progress", () => {
    const other = { taskId: "b", agentRole: "Editor" };
    const inner = { taskId: "a.1", parentTaskId: "a", agentRole: "Clerk" };
    const states: string[] = [];
    const state = createRunState();
    const log = logOf(
      ["ensemble_started"],
      ["task_started", other],
      ["task_started", a],
      ["task_started", inner],
      ["review_requested", { ...inner, reviewId: "q" }],
      ["task_completed", other],
      ["review_resolved", { ...inner, reviewId: "q" }],
    );
    for (const line of log) {
      state.apply(line);
      states.push(state.view.summary.state);
    }
    expect(states).to.deep.equal([...Array<string>(5).fill("running"), "waiting", "running"]);
    expect(state.view.summary.counts).to.include({ running: 2, waiting: 0, done: 1 });
  });

  it("continues when a task continues after its delegated task, while another waits", () => {
    const inner = { taskId: "a.1", parentTaskId: "a", agentRole: "Clerk" };
    const view = viewAfter(
      ["task_started", { taskId: "b" }],
      ["review_requested", { taskId: "b", reviewId: "q" }],
      ["task_started", a],
      ["task_started", inner],
      ["task_completed", inner],
    );
    expect(view.summary.state).to.equal("running");
  });

  it("keeps a task with an open review waiting in a suspended run, and continues with the next execution", () => {
    const log = logOf(
      ["ensemble_started"],
      ["task_started", a],
      ["task_started", { taskId: "b" }],
      ["review_requested", { ...a, reviewId: "q" }],
      ["run_suspended", { waitsFor: "an answer" }],
      ["task_failed", { ...a, ...failure("AE_RUN_SUSPENDED") }],
      ["task_failed", { taskId: "b", ...failure("AE_RUN_SUSPENDED") }],
      ["ensemble_completed", { exitReason: "SUSPENDED" }],
    );
    const asleep = viewOf(log);
    expect(asleep.summary).to.include({ state: "waiting", exitReason: "SUSPENDED" });
    expect(asleep.summary.endedAt).to.equal(undefined);
    expect([asleep.waitsFor, asleep.waitingReviews]).to.deep.equal(["an answer", ["q"]]);
    expect([task(asleep, "a").state, task(asleep, "b").state]).to.deep.equal([
      "waiting",
      "stopped",
    ]);
    expect(asleep.errors).to.deep.equal([]);
    const resumed = viewOf([
      ...log,
      entry(8, "ensemble_started"),
      entry(9, "run_resumed", { execution: 2 }),
      entry(10, "review_resolved", { reviewId: "q" }),
      entry(11, "task_started", a),
    ]);
    expect(resumed.summary).to.include({ state: "running", exitReason: undefined });
    expect(resumed.executions).to.equal(2);
    expect(resumed.waitsFor).to.equal(undefined);
    expect([task(resumed, "a").state, task(resumed, "b").state]).to.deep.equal(["running", "idle"]);
  });

  it("shows a task that the end of the run stopped as stopped, not as failed", () => {
    const view = viewAfter(
      ["task_started", a],
      ["task_failed", { ...a, ...failure("AE_RUN_CANCELLED") }],
      ["ensemble_completed", { exitReason: "CANCELLED" }],
    );
    expect(view.summary.state).to.equal("stopped");
    expect(view.summary.counts).to.include({ stopped: 1, failed: 0 });
    expect(task(view, "a").error).to.equal(undefined);
  });

  it("shows the used, reserved and exceeded part of each limit of a budget", () => {
    const limits = { maxTokens: 100, maxCost: 1 };
    const view = viewAfter(
      ["budget_opened", { limits, used: { tokens: 0, cost: 0, durationMs: 0 } }],
      ["budget_exceeded", { ...a, limit: "maxTokens", allowed: 100, used: 120 }],
      [
        "budget_changed",
        {
          limits,
          used: { tokens: 120, cost: 0.2, durationMs: 9 },
          reserved: { tokens: 7, cost: 0 },
        },
      ],
    );
    expect(view.budgets).to.deep.equal([
      { limit: "tokens", allowed: 100, used: 120, reserved: 7, exceeded: true },
      { limit: "cost", allowed: 1, used: 0.2, reserved: 0, exceeded: false },
    ]);
  });

  it("marks the longest chain of tasks after the run has ended", () => {
    const plan = {
      ...PLANS[0],
      tasks: ["a", "b", "c"].map((id, i) => ({
        id,
        description: id,
        agentRole: "Writer",
        dependsOn: id === "c" ? ["a", "b"] : [],
        parallelGroup: i === 2 ? 1 : 0,
        onCriticalPath: id !== "b",
      })),
      edges: [],
    };
    const run: readonly (readonly [string, object?])[] = [
      ["run_planned", { dag: plan }],
      ["task_started", { taskId: "a" }],
      ["task_started", { taskId: "b" }],
      ["task_completed", { taskId: "a" }],
      ["task_completed", { taskId: "b" }],
      ["task_started", { taskId: "c" }],
      ["task_completed", { taskId: "c" }],
    ];
    const marked = (view: RunView): readonly string[] =>
      [...view.tasks.values()].filter(({ critical }) => critical).map(({ id }) => id);
    expect(marked(viewAfter(...run))).to.deep.equal(["a", "c"]);
    const ended = viewAfter(...run, ["ensemble_completed", { exitReason: "COMPLETED" }]);
    expect(marked(ended)).to.deep.equal(["b", "c"]);
  });

  it("cuts texts at 160 characters without splitting a character", () => {
    const long = `${"x".repeat(158)}🙂${"y".repeat(50)}`;
    const view = viewAfter(["task_started", { ...a, taskDescription: long }]);
    expect(task(view, "a").description).to.equal(`${"x".repeat(158)}…`);
  });

  it("names the tasks that an entry changes", () => {
    const changed: string[] = [];
    const state = createRunState({ onTask: (id) => changed.push(id) });
    state.apply(entry(0, "ensemble_started"));
    state.apply(entry(1, "task_started", a));
    changed.length = 0;
    state.apply(entry(2, "usage_recorded", usage));
    expect(new Set(changed)).to.deep.equal(new Set(["a"]));
  });

  describe("of a recorded run", () => {
    const ends: Readonly<Record<string, readonly [string, Partial<Record<WorkState, number>>]>> = {
      sequential: ["done", { done: 3 }],
      parallel: ["done", { done: 4 }],
      hierarchical: ["done", { done: 2 }],
      delegation: ["done", { done: 2 }],
      phases: ["done", { done: 3 }],
      loop: ["done", { done: 2 }],
      graph: ["done", { done: 2 }],
      failed: ["failed", { done: 1, failed: 1 }],
      cancelled: ["stopped", { done: 1, stopped: 1 }],
      "timed-out": ["stopped", { stopped: 1 }],
      "map-reduce": ["done", { done: 6 }],
    };
    for (const team of TRACED)
      it(`counts the tasks and tokens of '${team}' like the run`, async () => {
        const log = await recordedLog(team);
        const view = viewOf(log);
        const idle = { idle: 0, running: 0, waiting: 0, done: 0, failed: 0, stopped: 0 };
        const { state, counts, totals } = view.summary;
        expect([state, counts]).to.deep.equal([ends[team]?.[0], { ...idle, ...ends[team]?.[1] }]);
        const last = log.at(-1);
        expect(totals.inputTokens + totals.outputTokens).to.equal(last?.["totalTokens"]);
        expect(totals.tools).to.equal(last?.["totalToolCalls"]);
        const recounted = { ...idle };
        for (const t of view.tasks.values())
          if (t.type !== "loop" && t.type !== "graph-end") recounted[t.state]++;
        expect(counts).to.deep.equal(recounted);
      });

    it("contains the manager, the roles it chose, and delegations under their parents", async () => {
      const led = viewOf(await recordedLog("hierarchical"));
      expect(task(led, "facts")).to.include({ parent: "task-2", role: "Researcher" });
      expect(task(led, "task-2").type).to.equal("manager");
      expect([...led.tasks.values()].filter(({ critical }) => critical)).to.have.lengthOf(2);
      const asked = viewOf(await recordedLog("delegation"));
      expect(task(asked, "way.1")).to.include({ parent: "way", type: "delegated" });
      expect(asked.dag?.tasks.map(({ id }) => id)).to.deep.equal(["way"]);
    });

    it("counts the iterations of a loop, and has the phases", async () => {
      const loop = task(viewOf(await recordedLog("loop")), "$loop:polish");
      expect(loop).to.include({ attempt: 2, state: "done" });
      const { phases } = viewOf(await recordedLog("phases"));
      expect(phases.map(({ name, state }) => [name, state])).to.deep.equal([
        ["ground", "done"],
        ["memo", "done"],
      ]);
    });

    it("names the failed task in the error of the run", async () => {
      const { error } = viewOf(await recordedLog("failed")).summary;
      expect(error).to.include({ code: "AE_TASK_EXECUTION", taskId: "broken" });
    });
  });
});
