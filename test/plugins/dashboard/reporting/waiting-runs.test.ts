import { expect } from "chai";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import { EventHub } from "../../../../src/kernel/events/event-hub.js";
import { RunFeed } from "../../../../src/plugins/dashboard/feed/run-feed.js";
import { WaitingRuns } from "../../../../src/plugins/dashboard/reporting/waiting-runs.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";

/** Runs of three entries each; the feed keeps one that has ended. */
function waiting(most: number) {
  const feed = new RunFeed({ maxRuns: 1 });
  const hub = new EventHub();
  feed.attach(hub);
  let lost = 0;
  const runs = new WaitingRuns(feed, most, () => lost++);
  feed.listen({ onRemoved: (log) => runs.removed(log) });
  const at = "2026-01-01T00:00:00.000Z";
  const redactor = createRedactor({ environment: {} });
  const tell = (runId: string, type: string, fields: object = {}): void => {
    const event = { v: 1, seq: 0, runId, at, type, ...fields } as unknown as EnsembleEvent; // with the fields that are read
    for (const { sink } of hub.of(event.type)) sink(event, redactor);
  };
  const run = (runId: string): void => {
    tell(runId, "ensemble_started", { workflow: "SEQUENTIAL", totalTasks: 0, startedAt: at });
    tell(runId, "run_warning", { message: "m" });
    tell(runId, "ensemble_completed", { exitReason: "COMPLETED" });
  };
  return { feed, runs, run, lost: () => lost };
}

const ids = (logs: readonly { readonly runId: string }[]): readonly string[] =>
  logs.map(({ runId }) => runId);

describe("the runs that wait for a board", () => {
  it("are those with unsent entries, the oldest first, also after they have left the memory", () => {
    const { runs, run, feed } = waiting(100);
    run("a");
    run("b");
    expect(ids(feed.logs)).to.deep.equal(["b"]);
    expect(ids(runs.open)).to.deep.equal(["a", "b"]);
    const a = runs.find("a") ?? expect.fail("a is not found");
    expect(runs.sentOf(a)).to.equal(-1);
    runs.sent(a, 1);
    expect(ids(runs.open)).to.deep.equal(["a", "b"]);
    runs.sent(a, 2);
    expect(ids(runs.open), "it is sent wholly, and forgotten").to.deep.equal(["b"]);
    expect(runs.find("a")).to.equal(undefined);
  });

  it("are forgotten after they have left the memory and were sent", () => {
    const { runs, run } = waiting(100);
    run("a");
    const a = runs.find("a") ?? expect.fail("a is not found");
    runs.sent(a, a.n);
    run("b");
    expect(runs.find("a")).to.equal(undefined);
    expect(ids(runs.open)).to.deep.equal(["b"]);
  });

  it("are dropped beyond a limit of entries, the oldest first", () => {
    const { runs, run, lost } = waiting(6);
    for (const id of ["a", "b", "c", "d"]) run(id);
    expect(lost()).to.equal(1);
    expect(ids(runs.open)).to.deep.equal(["b", "c", "d"]);
  });

  it("start after the entries that the board has received", () => {
    const { runs, run } = waiting(100);
    run("a");
    run("b");
    const [a, b] = runs.open;
    runs.begin({ b: 1 });
    expect([a && runs.sentOf(a), b && runs.sentOf(b)]).to.deep.equal([-1, 1]);
    runs.begin({ a: 99, b: "odd" });
    expect(b && runs.sentOf(b)).to.equal(-1);
    expect(ids(runs.open), "a has been sent wholly").to.deep.equal(["b"]);
  });
});
