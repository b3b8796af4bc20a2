import assert from "node:assert/strict";
import type { LogEntry, RunStore, RunSummary } from "../../contracts/run-store.js";
import type { Awaitable } from "../../contracts/types.js";
import { checkOptions } from "../../contracts/validation.js";

/** A store for a test of `runStoreContract`. */
export interface RunStoreUnderTest {
  /** Empty. */
  readonly store: RunStore;
  /** With `reopens`: opens the persisted data, as another process would. */
  readonly reopen?: (() => Awaitable<RunStore>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `runStoreContract`, with the features of the stores. */
export interface RunStoreContractOptions {
  /** Called once per test. */
  create(): Awaitable<RunStoreUnderTest>;
  /** Whether runs outlive the process. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
  /** Number of entries of the largest log. Default 10,000. */
  readonly entries?: number | undefined;
}

type WithRuns = (
  body: (store: RunStore, subject: RunStoreUnderTest) => Promise<void>,
) => Promise<void>;

const COUNTS = { idle: 0, running: 0, waiting: 0, done: 1, failed: 0, stopped: 0 };
const TOTALS = { inputTokens: 1, outputTokens: 2, unknownCalls: 0, cost: 0.5, calls: 1, tools: 0 };

function summary(runId: string, o: Partial<RunSummary> = {}): RunSummary {
  return {
    runId,
    ensemble: "team",
    workflow: "SEQUENTIAL",
    state: "done",
    startedAt: "2026-01-01T00:00:00.000Z",
    n: 1,
    inputs: { topic: "A line \u2028 \u{1F980}" },
    tags: { customer: "acme" },
    counts: COUNTS,
    totals: TOTALS,
    ...o,
  };
}

function logEntry(n: number, fields: object = {}): LogEntry {
  return {
    n,
    at: "2026-01-01T00:00:00.000Z",
    type: "run_warning",
    message: `entry ${n}`,
    ...fields,
  };
}

function entriesUpTo(count: number, from = 0): readonly LogEntry[] {
  return Array.from({ length: count - from }, (_, i) => logEntry(from + i));
}

async function numbersIn(store: RunStore, after = -1, limit = 1_000): Promise<readonly number[]> {
  return (await store.read("a", after, limit)).map(({ n }) => n);
}

async function listed(
  store: RunStore,
  query: Parameters<RunStore["list"]>[0] = {},
): Promise<readonly string[]> {
  return (await store.list(query)).runs.map(({ runId }) => runId);
}

function logSuite(use: WithRuns, largest: number): void {
  it("returns the entries of a run in order, after a number and up to a limit", () =>
    use(async (store) => {
      await store.append("a", entriesUpTo(3));
      await store.append("b", [logEntry(0, { taskId: "other" })]);
      await store.append("a", entriesUpTo(6, 3));
      assert.deepEqual(await numbersIn(store), [0, 1, 2, 3, 4, 5]);
      assert.deepEqual(await numbersIn(store, 2, 2), [3, 4]);
      assert.deepEqual(await numbersIn(store, 5), []);
      assert.deepEqual(await store.read("unknown", -1, 10), []);
    }));
  it("keeps an entry unchanged when the caller changes it afterwards", () =>
    use(async (store) => {
      const given = logEntry(0, {
        text: "\u2028 \u{1F980} \\ \" '",
        deep: { list: [1, null, true] },
      });
      const changed = structuredClone(given) as { message?: string };
      await store.append("a", [changed as LogEntry]);
      changed.message = "something else";
      assert.deepEqual(await store.read("a", -1, 1), [given]);
    }));
  it("stores an entry that is appended twice only once", () =>
    use(async (store) => {
      await store.append("a", entriesUpTo(3));
      await store.append("a", entriesUpTo(5, 1));
      assert.deepEqual(await numbersIn(store), [0, 1, 2, 3, 4]);
    }));
  it("keeps concurrently appended entries of different runs separate", () =>
    use(async (store) => {
      const ids = ["a", "b", "c", "d"];
      await Promise.all(ids.map(async (id) => store.append(id, entriesUpTo(50))));
      for (const id of ids) assert.equal((await store.read(id, -1, 100)).length, 50);
    }));
  it("keeps a log of many entries, and reads its end", () =>
    use(async (store) => {
      for (let n = 0; n < largest; n += 200)
        await store.append("a", entriesUpTo(Math.min(largest, n + 200), n));
      assert.deepEqual(await numbersIn(store, largest - 3), [largest - 2, largest - 1]);
    }));
}

function listSuite(use: WithRuns): void {
  it("replaces an earlier summary, and returns undefined for an unknown run", () =>
    use(async (store) => {
      await store.put(summary("a", { state: "running" }));
      const last = summary("a", { error: { code: "AE_VALIDATION", message: "no", taskId: "t" } });
      await store.put(last);
      assert.deepEqual(await store.get("a"), last);
      assert.equal(await store.get("b"), undefined);
      assert.deepEqual(await listed(store), ["a"]);
    }));
  it("lists the newest first, in pages that neither overlap nor skip", () =>
    use(async (store) => {
      const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
      for (const [id, second] of [
        ["c", 2],
        ["a", 1],
        ["e", 2],
        ["b", 4],
        ["d", 3],
      ] as const)
        await store.put(summary(id, { startedAt: at(second) }));
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page = await store.list({ limit: 2, before });
        assert.equal(page.total, 5);
        seen.push(...page.runs.map(({ runId }) => runId));
        before = page.next;
      } while (before !== undefined && seen.length < 10);
      assert.deepEqual(seen, ["b", "d", "e", "c", "a"]);
    }));
}

function filterSuite(use: WithRuns): void {
  it("filters by state, ensemble, tags, start and text, all at once", () =>
    use(async (store) => {
      await store.put(
        summary("a", { state: "failed", error: { code: "AE_VALIDATION", message: "Heat Pump" } }),
      );
      await store.put(
        summary("b", { ensemble: "other", tags: { customer: "acme", region: "eu" } }),
      );
      await store.put(summary("c", { startedAt: "2026-02-01T00:00:00.000Z", tags: {} }));
      assert.deepEqual(await listed(store, { state: "failed" }), ["a"]);
      assert.deepEqual(await listed(store, { ensemble: "other" }), ["b"]);
      assert.deepEqual(await listed(store, { tags: { customer: "acme", region: "eu" } }), ["b"]);
      assert.deepEqual(await listed(store, { from: "2026-01-15T00:00:00.000Z" }), ["c"]);
      assert.deepEqual(await listed(store, { to: "2026-01-15T00:00:00.000Z" }), ["b", "a"]);
      assert.deepEqual(await listed(store, { text: "heat pump" }), ["a"]);
      assert.deepEqual(await listed(store, { text: "heat pump", state: "done" }), []);
      assert.equal((await store.list({ state: "done", limit: 1 })).total, 2);
    }));
  it("lists the current baselines only", () =>
    use(async (store) => {
      await store.put(summary("a", { baseline: true, inputs: {} }));
      await store.put(summary("b", { inputs: { baseline: true } }));
      await store.put(summary("c", { baseline: true, ensemble: "other" }));
      assert.deepEqual(await listed(store, { baseline: true }), ["c", "a"]);
      assert.deepEqual(await listed(store, { baseline: true, ensemble: "team" }), ["a"]);
      await store.put(summary("a", { inputs: {} }));
      assert.deepEqual(await listed(store, { baseline: true, ensemble: "team" }), []);
      assert.deepEqual((await listed(store)).length, 3);
    }));
  it("refuses invalid cursors, invalid times, and limits above 1,000", () =>
    use(async (store) => {
      for (const odd of [{ before: "nonsense" }, { from: "never" }, { limit: 0 }, { limit: 1_001 }])
        await assert.rejects(async () => store.list(odd));
    }));
  it("removes a run with its entries, and no other", () =>
    use(async (store) => {
      for (const id of ["a", "b"]) {
        await store.put(summary(id));
        await store.append(id, entriesUpTo(2));
      }
      await store.remove("a");
      await store.remove("unknown");
      assert.deepEqual([await store.get("a"), await numbersIn(store)], [undefined, []]);
      assert.deepEqual(await listed(store), ["b"]);
      assert.equal((await store.read("b", -1, 10)).length, 2);
    }));
}

function auditSuite(use: WithRuns): void {
  it("keeps the actions of users, the newest first, in pages, if it keeps actions", () =>
    use(async (store) => {
      const at = "2026-01-01T00:00:00.000Z";
      for (const subject of ["a", "b", "c", "d", "e \u2028"])
        await store.appendAudit?.({ at, user: "ada", action: "cancel", subject });
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page = await store.readAudit?.(2, before);
        seen.push(...(page?.entries.map(({ subject }) => subject) ?? []));
        before = page?.next;
      } while (before !== undefined && seen.length < 10);
      const keeps = store.appendAudit !== undefined;
      assert.deepEqual(seen, keeps ? ["e \u2028", "d", "c", "b", "a"] : []);
      assert.equal(store.readAudit !== undefined, keeps);
    }));
}

function traceSuite(use: WithRuns): void {
  it("keeps the trace of a run until the run is removed, if it keeps traces", () =>
    use(async (store) => {
      const keeps = store.putTrace !== undefined;
      assert.equal(store.trace !== undefined, keeps);
      const text = JSON.stringify({ captureMode: "FULL", text: "\u0000 \u2028 \u{1F980} \ud800" });
      for (const id of ["a", "b", "odd/../id"]) {
        await store.put(summary(id));
        await store.putTrace?.(id, "{}");
        await store.putTrace?.(id, text);
      }
      await store.remove("a");
      assert.equal(await store.trace?.("a"), undefined);
      assert.equal(await store.trace?.("unknown"), undefined);
      for (const id of ["b", "odd/../id"])
        assert.equal(await store.trace?.(id), keeps ? text : undefined);
      assert.equal((await listed(store)).length, 2);
    }));
}

function sumsOfRunsSuite(use: WithRuns): void {
  it("adds up all matching runs, on every page", () =>
    use(async (store) => {
      const totals = { ...TOTALS, cost: 0.1, currency: "USD", tools: 3 };
      await store.put(summary("a", { totals }));
      await store.put(summary("b", { totals: { ...totals, cost: 0.2, unknownCalls: 1 } }));
      await store.put(summary("c", { totals: { ...totals, currency: "EUR" }, state: "failed" }));
      await store.put(summary("d", { ensemble: "other", totals }));
      const { sums } = await store.list({ ensemble: "team", limit: 1 });
      assert.deepEqual(sums, {
        inputTokens: 3,
        outputTokens: 6,
        unknownCalls: 1,
        calls: 3,
        tools: 9,
        cost: { USD: 0.3, EUR: 0.1 },
        states: { done: 2, failed: 1 },
      });
      assert.deepEqual((await store.list({ text: "no run has this" })).sums?.states, {});
    }));
  it("finds texts with quotes, escapes and other scripts", () =>
    use(async (store) => {
      await store.put(summary("a", { inputs: { topic: "100% _under_ Ärger \u{1F980}" } }));
      await store.put(summary("b", { inputs: { topic: "plain" } }));
      for (const text of ["100%", "_UNDER_", "ärger", "\u{1F980}"])
        assert.deepEqual(await listed(store, { text }), ["a"], text);
      assert.deepEqual(await listed(store, { text: "100_" }), []);
    }));
}

function reopenRunsSuite(use: WithRuns): void {
  it("keeps runs for another process, and lists a run that was in progress as interrupted", () =>
    use(async (store, { reopen }) => {
      await store.put(summary("a"));
      await store.append("a", entriesUpTo(2));
      await store.put(summary("b", { state: "running" }));
      await store.putTrace?.("a", "{}");
      const other = (await reopen?.()) ?? assert.fail("a store that reopens needs `reopen`");
      assert.equal((await other.get("a"))?.state, "done");
      assert.deepEqual(await numbersIn(other), [0, 1]);
      assert.equal((await other.get("b"))?.state, "interrupted");
      assert.equal(await other.trace?.("a"), store.putTrace === undefined ? undefined : "{}");
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every store of runs should
 * pass.
 *
 * @example
 * runStoreContract("mine", { create: async () => ({ store: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function runStoreContract(name: string, options: RunStoreContractOptions): void {
  checkOptions("runStoreContract()", options, ["create", "reopens", "entries"]);
  const use: WithRuns = async (body) => {
    const subject = await options.create();
    try {
      await body(subject.store, subject);
    } finally {
      await subject.store.dispose?.();
      await subject.dispose?.();
    }
  };
  describe(`run store contract: ${name}`, () => {
    logSuite(use, options.entries ?? 10_000);
    listSuite(use);
    filterSuite(use);
    auditSuite(use);
    traceSuite(use);
    sumsOfRunsSuite(use);
    if (options.reopens === true) reopenRunsSuite(use);
  });
}
