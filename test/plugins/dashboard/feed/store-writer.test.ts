import { expect } from "chai";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import type { LogEntry, RunStore } from "../../../../src/contracts/run-store.js";
import { EventHub } from "../../../../src/kernel/events/event-hub.js";
import { RunFeed } from "../../../../src/plugins/dashboard/feed/run-feed.js";
import { StoreWriter } from "../../../../src/plugins/dashboard/feed/store-writer.js";
import { RunStore as Stores } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import { warningsOf } from "../../../support/warnings.js";
import { entry } from "../logs.js";

const redactor = createRedactor({ environment: { NEST_PASSWORD: "wren-4711-egg" } });

/** A store that records its calls, and fails while `fails` is true. */
class NotingStore {
  readonly inner = Stores.inMemory();
  readonly batches: number[] = [];
  fails = false;
  putFails = false;
  hangs = false;
  /** The id of a run that the store refuses. */
  refused: string | undefined;
  attempts = 0;

  get store(): RunStore {
    const append = async (id: string, entries: readonly LogEntry[]): Promise<void> => {
      this.attempts++;
      await Promise.resolve();
      if (this.hangs) await new Promise(() => undefined);
      if (this.fails || id === this.refused) throw new Error("disk full");
      this.batches.push(entries.length);
      await this.inner.append(id, entries);
    };
    return {
      append,
      put: (run) => {
        if (this.putFails) throw new Error("index full");
        return this.inner.put(run);
      },
      list: (query) => this.inner.list(query),
      get: (id) => this.inner.get(id),
      read: (id, after, limit) => this.inner.read(id, after, limit),
      remove: (id) => this.inner.remove(id),
    };
  }
}

/** A feed with a writer, and the warnings of runs. */
function written(
  o: {
    readonly maxWaiting?: number;
    readonly maxRuns?: number;
    readonly delayMs?: number;
    readonly flushMs?: number;
    readonly closeMs?: number;
  } = {},
) {
  const feed = new RunFeed({ maxRuns: o.maxRuns });
  const hub = new EventHub();
  feed.attach(hub);
  const noting = new NotingStore();
  let now = 0;
  const clock = { now: () => new Date(now) };
  const { store } = noting;
  const writer = new StoreWriter({ feed, store, clock, delayMs: 1, retryMs: 1, ...o });
  const tell = (type: string, fields: object = {}, runId = "r"): void => {
    const { n: _n, ...line } = entry(0, type, { runId, v: 1, seq: 0, ...fields });
    const event = line as unknown as EnsembleEvent; // with the tested fields
    for (const { sink } of hub.of(event.type)) sink(event, redactor);
  };
  const pass = (ms: number): void => void (now += ms);
  return { feed, noting, writer, tell, pass };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

function warningsIn(feed: RunFeed): readonly unknown[] {
  const log = feed.get("r");
  return Array.from({ length: (log?.n ?? -1) + 1 }, (_, n) => log?.entry(n, "full")).filter(
    (line) => line?.type === "run_warning",
  );
}

describe("writer of runs to a store", () => {
  it("writes full entries without secrets in batches, and the summary of each run", async () => {
    const { noting, writer, tell } = written();
    tell("ensemble_started", { workflow: "SEQUENTIAL" });
    for (let i = 0; i < 449; i++)
      tell("tool_called", { taskId: "a", toolResult: "wren-4711-egg birds" });
    await until(() => writer.waiting === 0);
    await writer.close();
    expect(noting.batches).to.deep.equal([200, 200, 50]);
    const entries = await noting.inner.read("r", -1, 1_000);
    expect(entries.map(({ n }) => n)).to.deep.equal(Array.from({ length: 450 }, (_, n) => n));
    expect(entries[1]).to.include({ toolResult: "[redacted] birds" });
    expect(await noting.inner.get("r")).to.deep.include({ n: 449, workflow: "SEQUENTIAL" });
  });

  it("writes entries that arrive during a write, and the remaining entries when it is closed", async () => {
    const { noting, writer, tell } = written();
    tell("ensemble_started");
    await until(() => noting.attempts > 0);
    tell("phase_started", { phaseName: "one" });
    await until(() => writer.waiting === 0);
    tell("ensemble_completed", { exitReason: "COMPLETED" });
    await writer.close();
    expect((await noting.inner.read("r", -1, 10)).map(({ type }) => type)).to.deep.equal([
      "ensemble_started",
      "phase_started",
      "ensemble_completed",
    ]);
    expect((await noting.inner.get("r"))?.state).to.equal("done");
    tell("phase_started");
    expect(writer.waiting).to.equal(0);
  });

  it("writes waiting entries immediately on request, without waiting for a failing store", async () => {
    const { noting, writer, tell } = written({ delayMs: 60_000 });
    tell("ensemble_started");
    tell("ensemble_completed", { exitReason: "COMPLETED" });
    await writer.flush();
    expect(noting.batches).to.deep.equal([2]);
    expect((await noting.inner.get("r"))?.state).to.equal("done");
    noting.fails = true;
    tell("ensemble_started");
    await writer.flush();
    await writer.flush();
    expect(writer.waiting).to.equal(2); // with the warning about the store
    noting.fails = false;
    await writer.close();
    expect(noting.batches).to.deep.equal([2, 2]);
  });

  it("warns the run once a minute while the store fails, and writes all entries later", async () => {
    const { feed, noting, writer, tell, pass } = written();
    noting.fails = true;
    tell("ensemble_started");
    await until(() => noting.attempts > 3);
    expect(warningsIn(feed)).to.have.lengthOf(1);
    pass(60_000);
    const { attempts } = noting;
    await until(() => noting.attempts > attempts + 1);
    expect(warningsIn(feed)).to.have.lengthOf(2);
    noting.fails = false;
    await until(() => writer.waiting === 0);
    await writer.close();
    expect((await noting.inner.read("r", -1, 10)).map(({ type }) => type)).to.deep.equal([
      "ensemble_started",
      "run_warning",
      "run_warning",
    ]);
  });

  it("drops texts if too much data waits, and then runs that have ended", async () => {
    const { noting, writer, tell } = written({ maxWaiting: 10 });
    noting.fails = true;
    tell("ensemble_started", {}, "old");
    tell("ensemble_completed", { exitReason: "COMPLETED" }, "old");
    tell("ensemble_started");
    await until(() => noting.attempts > 0);
    for (let i = 0; i < 60; i++) tell("tool_called", { taskId: "a", toolResult: "birds" });
    noting.fails = false;
    await until(() => writer.waiting === 0);
    await writer.close();
    expect(await noting.inner.get("old")).to.equal(undefined);
    const entries = await noting.inner.read("r", -1, 100);
    expect(entries.length).to.be.above(60);
    expect(JSON.stringify(entries)).to.not.include("birds");
  });

  it("writes the summary of a run after a failure, if the entries were stored before", async () => {
    const { noting, writer, tell } = written();
    noting.putFails = true;
    tell("ensemble_started");
    tell("ensemble_completed", { exitReason: "COMPLETED" });
    await until(() => noting.attempts > 4); // also after the warning was written
    noting.putFails = false;
    await until(() => writer.waiting === 0);
    expect((await noting.inner.get("r"))?.state).to.equal("done");
    expect((await noting.inner.read("r", -1, 9)).map(({ n }) => n)).to.deep.equal([0, 1, 2]);
    await writer.close();
  });

  it("continues to write other runs if the store refuses one, and emits a warning for the refused run", async () => {
    const { feed, noting, writer, tell } = written();
    noting.refused = "r";
    tell("ensemble_started");
    tell("ensemble_started", {}, "other");
    tell("ensemble_completed", { exitReason: "COMPLETED" }, "other");
    await until(() => noting.attempts > 4);
    expect((await noting.inner.get("other"))?.state).to.equal("done");
    expect(warningsIn(feed)).to.have.lengthOf(1);
    tell("ensemble_started", {}, "late");
    await writer.close();
    expect((await noting.inner.get("late"))?.state).to.equal("running");
  });

  it("flushes and closes within a limited time if the store does not answer", async () => {
    const { noting, writer, tell } = written({ flushMs: 1, closeMs: 1 });
    noting.hangs = true;
    tell("ensemble_started");
    await writer.flush();
    const warnings = await warningsOf(() => writer.close());
    expect(warnings.join()).to.match(/the store has not taken 1 entries of runs within 1 ms/);
    expect(writer.waiting).to.equal(0);
  });

  it("discards entries that can't be written when it is closed, with a process warning", async () => {
    const { noting, writer, tell } = written();
    noting.fails = true;
    tell("ensemble_started");
    const warnings = await warningsOf(() => writer.close());
    expect(warnings.at(-1)).to.equal(
      "dashboard: 1 entries of runs are lost, because the store failed: disk full",
    );
    expect(writer.waiting).to.equal(0);
  });

  it("emits one process warning for several failures of the store in a row", async () => {
    const { noting, writer, tell } = written();
    noting.fails = true;
    const warnings = await warningsOf(async () => {
      tell("ensemble_started");
      await until(() => noting.attempts > 3);
      noting.fails = false;
      await until(() => writer.waiting === 0);
    });
    expect(warnings).to.deep.equal(["dashboard: the store of runs failed: disk full"]);
    await writer.close();
  });
});
