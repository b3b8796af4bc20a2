import { expect } from "chai";
import fc from "fast-check";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import type { LogEntry } from "../../../../src/contracts/run-store.js";
import type {
  RunSnapshot,
  RunView,
} from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { TRACED } from "../../observability/trace/teams.js";
import { ANY_LOG, entry, logOf, recordedLog } from "../logs.js";

/** A snapshot after its transfer. */
function sent(snapshot: RunSnapshot): RunSnapshot {
  return JSON.parse(JSON.stringify(snapshot)) as RunSnapshot;
}

function stateOf(log: readonly LogEntry[], from?: RunSnapshot) {
  const state = createRunState({ snapshot: from });
  for (const line of log) state.apply(line);
  return state;
}

/** All fields of a view, as JSON. */
function shownBy(view: RunView): unknown {
  const { summary, n, dag, budgets, byModel, byPurpose, byAgent, phases } = view;
  const { executions, waitsFor, waitingReviews, errors } = view;
  const tasks = [...view.tasks.values()].map((task) => {
    const { open: _open, ...shown } = task as typeof task & { readonly open?: unknown };
    return shown;
  });
  const all = { summary, n, dag, budgets, byModel, byPurpose, byAgent, phases, tasks };
  return JSON.parse(JSON.stringify({ ...all, executions, waitsFor, waitingReviews, errors }));
}

describe("snapshot of a run's state", () => {
  it("continues with the remaining log to the complete state, from any cut", () => {
    fc.assert(
      fc.property(ANY_LOG, fc.nat(), (log, place) => {
        const cut = place % (log.length + 1);
        const whole = stateOf(log);
        const continued = stateOf(log.slice(cut), sent(stateOf(log.slice(0, cut)).snapshot()));
        expect(sent(continued.snapshot())).to.deep.equal(sent(whole.snapshot()));
        expect(shownBy(continued.view)).to.deep.equal(shownBy(whole.view));
      }),
      { numRuns: 150 },
    );
  });

  for (const team of TRACED)
    it(`continues the recorded run '${team}' from each of its entries`, async () => {
      const log = await recordedLog(team);
      const whole = stateOf(log);
      for (let cut = 0; cut <= log.length; cut++) {
        const continued = stateOf(log.slice(cut), sent(stateOf(log.slice(0, cut)).snapshot()));
        expect(shownBy(continued.view)).to.deep.equal(shownBy(whole.view));
      }
    });

  it("is the same after it was read and created again", () => {
    fc.assert(
      fc.property(ANY_LOG, (log) => {
        const snapshot = sent(stateOf(log).snapshot());
        expect(sent(createRunState({ snapshot }).snapshot())).to.deep.equal(snapshot);
      }),
      { numRuns: 100 },
    );
  });

  it("ignores entries that it already contains", () => {
    fc.assert(
      fc.property(ANY_LOG, (log) => {
        const snapshot = sent(stateOf(log).snapshot());
        expect(sent(stateOf(log, snapshot).snapshot())).to.deep.equal(snapshot);
      }),
      { numRuns: 50 },
    );
  });

  it("contains only the number of an entry of an unknown type", () => {
    const log = logOf(["ensemble_started", { runId: "r" }], ["task_started", { taskId: "a" }]);
    const before = sent(stateOf(log).snapshot());
    const state = stateOf([...log, entry(2, "of_a_later_version", { taskId: "a", cost: 3 })]);
    const { n, summary, ...rest } = sent(state.snapshot());
    const { n: _n, summary: earlier, ...restBefore } = before;
    expect(n).to.equal(2);
    expect(summary).to.deep.equal({ ...earlier, n: 2 });
    expect(rest).to.deep.equal(restBefore);
  });

  it("of 10,000 tasks has at most 800 kB and omits the bars", () => {
    const state = createRunState();
    const ids = Array.from({ length: 10_000 }, (_, i) => `item-${i + 1}`);
    let n = 0;
    const add = (type: string, fields: object): void => state.apply(entry(n++, type, fields, n));
    add("ensemble_started", { runId: "large", workflow: "PARALLEL" });
    for (const taskId of ids) {
      const at = { taskId, agentRole: "Reader" };
      add("task_started", { ...at, taskDescription: `Read ${taskId}`, attempt: 1 });
      add("usage_recorded", { ...at, provider: "openai", modelId: "gpt-4o-mini", ...USED });
      add("task_completed", { ...at, attempt: 1 });
    }
    add("ensemble_completed", { exitReason: "COMPLETED" });
    const text = JSON.stringify(state.snapshot());
    expect(text.length).to.be.below(800_000);
    expect(state.view.tasks.get("item-1")?.bars).to.deep.equal([]);
    const restored = createRunState({ snapshot: JSON.parse(text) as RunSnapshot });
    expect(shownBy(restored.view)).to.deep.equal(shownBy(state.view));
    expect(restored.view.summary.totals.cost).to.equal(1.44);
  });
});

const USED = {
  purpose: "map",
  outcome: "ok",
  inputTokens: 100,
  outputTokens: 20,
  cost: 0.000144,
  latencyMs: 1,
};
