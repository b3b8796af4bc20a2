import { expect } from "chai";
import { ValidationError } from "agentensemble";
import { runStoreContract } from "../../../../src/plugins/testing/run-store-contract.js";
import type { RunStore as Store } from "../../../../src/contracts/run-store.js";
import { RunFeed } from "../../../../src/plugins/dashboard/feed/run-feed.js";
import { feedRuns } from "../../../../src/plugins/dashboard/stores/feed-runs.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { EventHub } from "../../../../src/kernel/events/event-hub.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import { eventsOf } from "../../observability/trace/teams.js";
import { failuresOf } from "../../testing/failures-of.js";
import { entry } from "../logs.js";
import { summaryOf } from "./summaries.js";

runStoreContract("in memory", { create: () => ({ store: RunStore.inMemory() }) });

async function idsIn(store: Store): Promise<readonly string[]> {
  return (await store.list({})).runs.map(({ runId }) => runId);
}

describe("RunStore.inMemory", () => {
  it("drops the oldest ended runs, and none in progress", async () => {
    const store = RunStore.inMemory({ maxRuns: 2 });
    for (const run of [summaryOf("a", { state: "running" }), summaryOf("b"), summaryOf("c")])
      await store.put(run);
    await store.append("d", []);
    await store.put(summaryOf("d"));
    expect(await idsIn(store)).to.deep.equal(["d", "a"]);
  });

  it("drops the texts of the oldest entries beyond its limit", async () => {
    const store = RunStore.inMemory({ maxEntries: 2 });
    const call = (n: number): ReturnType<typeof entry> =>
      entry(n, "tool_called", { taskId: "a", toolName: "search", toolResult: "birds" });
    await store.append("r", [call(0), call(1), call(2)]);
    const [first, second] = await store.read("r", -1, 10);
    expect(first)
      .to.include({ toolName: "search", trimmed: true })
      .and.not.have.property("toolResult");
    expect(second).to.include({ toolResult: "birds" });
  });

  it("refuses limits below 1, and unknown options", () => {
    for (const odd of [{ maxRuns: 0 }, { maxEntries: 1.5 }, { maxRun: 3 }])
      expect(() => RunStore.inMemory(odd)).to.throw(ValidationError);
  });
});

describe("runs of a feed as a store", () => {
  it("lists, reads and removes the runs that the feed has in memory", async () => {
    const feed = new RunFeed();
    const hub = new EventHub();
    feed.attach(hub);
    const events = await eventsOf("sequential");
    const redactor = createRedactor({ environment: {} });
    for (const event of events) for (const { sink } of hub.of(event.type)) sink(event, redactor);
    const store = feedRuns(feed);
    const [run] = (await store.list({ text: "swifts" })).runs;
    expect(run).to.include({ state: "done" });
    const id = run?.runId ?? "";
    expect((await store.get(id))?.n).to.equal(run?.n);
    const entries = await store.read(id, 1, 3);
    expect(entries.map(({ n }) => n)).to.deep.equal([2, 3, 4]);
    expect(await store.read(id, run?.n ?? 0, 3)).to.deep.equal([]);
    expect(await store.read("unknown", -1, 3)).to.deep.equal([]);
    await store.remove(id);
    expect(await idsIn(store)).to.deep.equal([]);
  });
});

describe("runStoreContract", () => {
  const breaches: Readonly<Record<string, (sound: Store) => Partial<Store>>> = {
    "takes an entry twice": (sound) => ({
      append: async (id, entries) => {
        const known = await sound.read(id, -1, 100_000);
        await sound.remove(id);
        await sound.append(
          id,
          [...known, ...entries].map((line, n) => ({ ...line, n })),
        );
      },
    }),
    "forgets the limit": (sound) => ({ read: (id, after) => sound.read(id, after, 100_000) }),
    "lists the oldest first": (sound) => ({
      list: async (query) => {
        const page = await sound.list(query);
        return { ...page, runs: page.runs.toReversed() };
      },
    }),
    "counts a page instead of all": (sound) => ({
      list: async (query) => {
        const page = await sound.list(query);
        return { ...page, total: page.runs.length };
      },
    }),
    "adds up a page instead of all": (sound) => ({
      list: async (query) => {
        const page = await sound.list(query);
        const sums = (await sound.list({ ...query, limit: 1_000, before: undefined })).sums;
        const calls = page.runs.reduce((sum, { totals }) => sum + totals.calls, 0);
        return { ...page, sums: sums && { ...sums, calls } };
      },
    }),
    "ignores tags": (sound) => ({
      list: ({ tags: _tags, ...query }) => sound.list(query),
    }),
    "keeps entries of a removed run": (sound) => ({
      remove: async (id) => {
        const entries = await sound.read(id, -1, 100);
        await sound.remove(id);
        if (entries.length > 0) await sound.append(id, entries);
      },
    }),
    "keeps the first summary": (sound) => ({
      put: async (run) => {
        if ((await sound.get(run.runId)) === undefined) await sound.put(run);
      },
    }),
  };
  for (const [breach, breaking] of Object.entries(breaches))
    it(`fails a store that ${breach}`, async () => {
      const create = (): { readonly store: Store } => {
        const sound = RunStore.inMemory();
        const bound: Store = {
          append: (id, entries) => sound.append(id, entries),
          put: (run) => sound.put(run),
          list: (query) => sound.list(query),
          get: (id) => sound.get(id),
          read: (id, after, limit) => sound.read(id, after, limit),
          remove: (id) => sound.remove(id),
        };
        return { store: { ...bound, ...breaking(sound) } };
      };
      const failures = await failuresOf(() =>
        runStoreContract("under test", { create, entries: 600 }),
      );
      expect(failures).to.not.deep.equal([]);
    });

  it("refuses an unknown option", () => {
    expect(() => runStoreContract("odd", { creates: () => undefined } as never)).to.throw(
      ValidationError,
    );
  });
});
