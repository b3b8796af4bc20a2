import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { RunStoreError, ValidationError } from "agentensemble";
import { expect } from "chai";
import type { RunStore as Store, RunSummary } from "../../../../src/contracts/run-store.js";
import { joinedRuns } from "../../../../src/plugins/dashboard/stores/joined-runs.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { entryOf, summaryOf } from "./summaries.js";

const TRACE = new URL(
  "../../../../../test/fixtures/trace-1.1/delegation.trace.json",
  import.meta.url,
);

/** A store in memory with runs that began at these seconds. */
async function storeWith(...seconds: readonly number[]): Promise<Store> {
  const store = RunStore.inMemory();
  for (const second of seconds)
    await store.put(
      summaryOf(`run ${second}`, {
        startedAt: new Date(second * 1_000).toISOString(),
        totals: { ...summaryOf("x").totals, cost: 0.1, currency: "USD", calls: 1 },
      }),
    );
  return store;
}

async function allPages(store: Store, limit: number): Promise<readonly string[]> {
  const runs: RunSummary[] = [];
  let before: string | undefined;
  do {
    const page = await store.list({ limit, before });
    runs.push(...page.runs);
    before = page.next;
  } while (before !== undefined && runs.length < 100);
  return runs.map(({ runId }) => runId);
}

describe("runs of several stores", () => {
  it("are listed in one order, in pages that neither overlap nor skip", async () => {
    const stores = [await storeWith(9, 3, 1, 7), await storeWith(), await storeWith(8, 2)];
    const joined = joinedRuns(stores);
    for (const limit of [1, 2, 3, 4, 6, 10])
      expect(await allPages(joined, limit)).to.deep.equal(
        [9, 8, 7, 3, 2, 1].map((second) => `run ${second}`),
      );
    const { total, sums } = await joined.list({ limit: 1 });
    expect(total).to.equal(6);
    expect(sums).to.deep.include({ calls: 6, cost: { USD: 0.6 }, states: { done: 6 } });
  });

  it("show a run of two stores once, from the first store", async () => {
    const [first, second] = [await storeWith(5, 4), await storeWith(5, 3)];
    await first.put(summaryOf("run 5", { ensemble: "first", startedAt: "1970-01-01T00:00:05Z" }));
    await first.append("run 5", [entryOf(0)]);
    const joined = joinedRuns([first, second]);
    expect((await joined.list({})).runs.map(({ runId }) => runId)).to.deep.equal([
      "run 5",
      "run 4",
      "run 3",
    ]);
    expect((await joined.get("run 5"))?.ensemble).to.equal("first");
    expect(await joined.read("run 5", -1, 5)).to.have.length(1);
    expect(await joined.get("unknown")).to.equal(undefined);
    expect(await joined.read("unknown", -1, 5)).to.deep.equal([]);
  });
});

describe("RunStore.readOnly", () => {
  it("reads files, folders and addresses together, and refuses writes", async () => {
    const folder = temporaryFolder();
    const store = RunStore.file(join(folder, "runs"));
    await store.put(summaryOf("kept"));
    await store.dispose?.();
    const file = join(folder, "some.json");
    await copyFile(TRACE, file);
    for (const runs of [join(folder, "runs"), `file:${join(folder, "runs")}`]) {
      const read = RunStore.readOnly([file, runs]);
      expect((await read.list({})).runs.map(({ runId }) => runId)).to.have.members([
        "kept",
        "delegation-1",
      ]);
      expect((await read.read("delegation-1", -1, 3)).length).to.equal(3);
      for (const write of [
        () => read.put(summaryOf("a")),
        () => read.append("a", []),
        () => read.remove("kept"),
      ])
        await rejectionOf(RunStoreError, Promise.resolve(write()));
      await read.dispose?.();
    }
  });

  it("refuses missing paths, files of other kinds and other URLs", () => {
    for (const odd of ["./nowhere", "package.json/x", "mysql://host", " ", import.meta.filename])
      expect(() => RunStore.readOnly([odd]), odd).to.throw(ValidationError);
    expect(() => RunStore.readOnly("runs" as never)).to.throw(ValidationError, "array");
  });
});
