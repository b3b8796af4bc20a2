import type { EnsembleEvent, KeptRun } from "agentensemble";
import { Ensemble, Task } from "agentensemble";
import type { Runs } from "agentensemble/durability";
import { Journal, connectRuns, durable } from "agentensemble/durability";
import { expect } from "chai";
import { pause } from "../../../support/time.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { failure, keptEnsemble, modelOf, task } from "./kept-team.js";

async function poisonedOf(runs: Pick<Runs, "list">): Promise<readonly string[]> {
  const page = await runs.list({ poisoned: true });
  return page.runs.map(({ runId }) => runId).sort();
}

describe("the runs of durable()", () => {
  it("are listed, shown, forked, deleted and canceled", async () => {
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    const plugin = durable({ journal });
    await using ensemble = new Ensemble({ name: "team", model, tasks: [task("one"), task("two")], plugins: [plugin] }); // prettier-ignore
    for (const runId of ["a", "b"]) await ensemble.run({}, { runId, tags: { id: runId } });
    const { runs } = plugin;
    expect((await runs.list({ tags: { id: "b" } })).runs.map(({ runId }) => runId)).to.deep.equal(["b"]); // prettier-ignore
    const forked = await runs.fork("a", { runId: "c", from: "two" });
    expect(await runs.get(forked)).to.include({ status: "waiting", finishedTasks: 1 });
    calls.length = 0;
    expect((await runs.resume("c")).raw).to.equal("done two");
    expect(calls).to.deep.equal(["two"]);
    expect((await failure(runs.fork("a", { from: "three" }))).message).to.include("'three'");
    expect(await runs.delete("c")).to.equal(true);
    expect(await runs.delete("c")).to.equal(false);
    expect((await failure(runs.deleteAll({}))).message).to.include("filter");
    await runs.fork("a", { runId: "d" });
    expect(await runs.cancel("d", "no need")).to.equal(true);
    expect(await runs.get("d")).to.include({ status: "cancelled", cancelReason: "no need" });
    expect(await runs.deleteAll({ ensemble: "team" })).to.equal(3);
    expect((await runs.list()).runs).to.deep.equal([]);
  });

  it("are visible to another process by their address", async () => {
    const url = `file:${temporaryFolder()}`;
    const { model } = modelOf();
    await using ensemble = keptEnsemble({ model, tasks: [task("one")] }, { url });
    await ensemble.run({}, { runId: "r" });
    await using runs = await connectRuns(url);
    expect(await runs.get("r")).to.include({ status: "completed" });
    const entries = (await runs.entries("r")).map(({ key }) => key);
    expect(entries).to.deep.equal(["C:one@1/task/0", "T:one@1"]);
    expect(await failure(connectRuns("ftp://x"))).to.include({ code: "AE_VALIDATION" });
  });

  it("that died are resumed when their ensemble is created, except runs that repeatedly end their process", async () => {
    const journal = Journal.inMemory();
    const { model, calls } = modelOf();
    const start = { ensemble: "ensemble", inputs: {}, inputsHash: "", tags: {} };
    const done = keptEnsemble({ model, tasks: [task("one")] }, { journal });
    await done.run({}, { runId: "first" });
    const inputsHash = (await journal.get("first"))?.inputsHash ?? "";
    const died = async (runId: string, times: number): Promise<void> => {
      for (let n = 0; n < times; n++) {
        const { signal } = new AbortController();
        await journal.claim({ start: { ...start, inputsHash, runId }, owner: "dead", leaseMs: 1, signal }); // prettier-ignore
      }
    };
    await died("lost", 1);
    await died("poisoned", 5);
    await died("deadly", 6);
    await pause(5);
    const plugin = durable({ journal });
    await using ensemble = new Ensemble({ model, tasks: [task("one")], plugins: [plugin] });
    const resumed = await plugin.runs.resumeAll();
    const found = resumed.map(({ runId, output, error }) => [runId, output?.raw, (error as { code?: string } | undefined)?.code]); // prettier-ignore
    expect(found.sort()).to.deep.equal([
      ["deadly", undefined, "AE_RUN_POISONED"],
      ["lost", "done one", undefined],
      ["poisoned", undefined, "AE_RUN_POISONED"],
    ]);
    expect(await poisonedOf(plugin.runs)).to.deep.equal(["deadly", "poisoned"]);
    expect((await ensemble.resume("poisoned")).raw).to.equal("done one");
    expect(await poisonedOf(plugin.runs)).to.deep.equal(["deadly"]);
    const [retried] = await plugin.runs.resumeAll({ poisoned: true });
    expect([retried?.runId, retried?.output?.raw]).to.deep.equal(["deadly", "done one"]);
    expect(await poisonedOf(plugin.runs)).to.deep.equal([]);
    expect(calls.length).to.equal(4);
    await done.dispose();
  });

  it("that are poisoned are found page by page among others, and deleted alone", async () => {
    const journal = Journal.inMemory();
    const { signal } = new AbortController();
    const die = async (runId: string, times: number): Promise<void> => {
      const start = { runId, ensemble: "e", inputs: {}, inputsHash: "h", tags: {} };
      for (let n = 0; n < times; n++)
        await journal.claim({ start, owner: "dead", leaseMs: 1, signal });
    };
    for (const [runId, times] of [["a", 5], ["b", 4], ["c", 7], ["d", 1]] as const) await die(runId, times); // prettier-ignore
    const claimed = { runId: "lives", ensemble: "e", inputs: {}, inputsHash: "h", tags: {} };
    for (const leaseMs of [1, 1, 1, 1, 1, 60_000])
      await journal.claim({ start: claimed, owner: "one", leaseMs, signal });
    await pause(5);
    const { runs } = durable({ journal });
    expect(await poisonedOf(runs)).to.deep.equal(["a", "c"]);
    const found: string[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined;) {
      const page = await runs.list({ poisoned: true, limit: 1, ...(after && { after }) });
      found.push(...page.runs.map(({ runId }) => runId));
      [after, isFirst] = [page.next, false];
    }
    expect(found.sort()).to.deep.equal(["a", "c"]);
    expect((await runs.list({ poisoned: true, status: "failed" })).runs).to.deep.equal([]);
    expect(await failure(runs.deleteAll({ poisoned: false }))).to.include({
      code: "AE_VALIDATION",
    });
    expect(await runs.deleteAll({ poisoned: true })).to.equal(2);
    expect((await runs.list()).runs.map(({ runId }) => runId).sort()).to.deep.equal(["b", "d", "lives"]); // prettier-ignore
  });

  it("whose kernel was disposed of are interrupted, and resumed with the others", async () => {
    const journal = Journal.inMemory();
    let waits = true;
    const { model, calls } = modelOf();
    const slow = new Task({
      name: "slow",
      description: "Waits for its first program",
      handler: ({ signal }) =>
        waits
          ? new Promise<string>((_, reject) => {
              signal.addEventListener("abort", () => reject(new Error("ended")), { once: true });
            })
          : "done slow",
    });
    const tasks = [task("one"), slow];
    let begun: () => void = () => undefined;
    const atSlow = new Promise<void>((resolve) => (begun = resolve));
    const on = (e: EnsembleEvent): void => {
      if (e.type === "task_started" && e.taskId === "slow") begun();
    };
    const first = keptEnsemble({ model, tasks, on }, { journal });
    const ended = failure(first.run({}, { runId: "r" }));
    await atSlow;
    await first.dispose();
    expect(await ended).to.include({ code: "AE_RUN_CANCELLED", isShutdown: true });
    expect(await journal.get("r")).to.include({ status: "interrupted", finishedTasks: 1 });
    waits = false;
    const plugin = durable({ journal });
    await using _second = new Ensemble({ model, tasks, plugins: [plugin] });
    const [resumed] = await plugin.runs.resumeAll();
    expect(resumed?.output?.raw).to.equal("done slow");
    expect(calls).to.deep.equal(["one"]);
  });

  it("are resumed automatically with resumeOnStart, except forks that were never started", async () => {
    const journal = Journal.inMemory();
    const tasks = [task("one")];
    await using made = keptEnsemble({ name: "w", model: modelOf().model, tasks }, { journal });
    await made.run({}, { runId: "whole" });
    await durable({ journal }).runs.fork("whole", { runId: "fork" });
    const start = { ...(await journal.get("whole")), runId: "lost" } as KeptRun; // a start, and more
    const { signal } = new AbortController();
    await journal.claim({ start, owner: "dead", leaseMs: 1, signal });
    await pause(5);
    const ended: string[] = [];
    const plugin = durable({ journal, resumeOnStart: true });
    const { model } = modelOf();
    await using _ensemble = new Ensemble({
      name: "w",
      model,
      tasks,
      on: (e) => e.type === "ensemble_completed" && ended.push(e.runId),
      plugins: [plugin],
    });
    while (ended.length === 0) await pause(1);
    await pause(5);
    expect(ended).to.deep.equal(["lost"]);
    expect(await plugin.runs.get("fork")).to.include({ status: "waiting", executions: 0 });
  });
});
