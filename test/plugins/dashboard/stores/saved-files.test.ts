import { copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jsonTraceExporter } from "agentensemble/observability";
import { RunStoreError } from "agentensemble";
import { expect } from "chai";
import type { RunStore as Store } from "../../../../src/contracts/run-store.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { savedRuns } from "../../../../src/plugins/dashboard/stores/saved/saved-runs.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { traceOf } from "../../observability/trace/teams.js";
import { entryOf, summaryOf } from "./summaries.js";

const FIXTURES = new URL("../../../../../test/fixtures/", import.meta.url);

async function idsIn(store: Store): Promise<readonly string[]> {
  return (await store.list({})).runs.map(({ runId }) => runId).toSorted();
}

/** A folder with the traces of two runs, one with its diagram. */
async function folderOfTraces(): Promise<string> {
  const folder = temporaryFolder();
  await jsonTraceExporter({ dir: folder }).export(await traceOf("sequential"));
  const diagram = {
    schemaVersion: "1.3",
    type: "dag",
    workflow: "PARALLEL",
    agents: [],
    tasks: ["source", "left", "right", "join", "never"].map((id, parallelGroup) => ({
      id,
      description: `Do ${id}`,
      agentRole: "Agent",
      parallelGroup,
    })),
    parallelGroups: [["source"], ["left"], ["right"], ["join"], ["never"]],
    criticalPath: [],
  };
  await writeFile(join(folder, "p.trace.json"), (await traceOf("parallel")).toJson());
  await writeFile(join(folder, "p.dag.json"), JSON.stringify(diagram));
  await writeFile(join(folder, "plan.dag.json"), JSON.stringify(diagram));
  await writeFile(join(folder, "notes.json"), "not a trace");
  return folder;
}

describe("RunStore.file, on a folder with traces", () => {
  it("lists traces and diagrams as runs, and reads them as logs", async () => {
    const store = RunStore.file(await folderOfTraces());
    const { runs } = await store.list({});
    expect(runs.map(({ state, workflow }) => `${state} ${workflow}`).toSorted()).to.deep.equal([
      "done PARALLEL",
      "done PARALLEL",
      "stopped PARALLEL",
    ]);
    for (const run of runs) {
      expect(await store.get(run.runId)).to.deep.equal(run);
      const state = createRunState();
      for (let after = -1; after < run.n; after = state.view.n)
        for (const entry of await store.read(run.runId, after, 3)) state.apply(entry);
      expect(state.view.summary).to.deep.equal(run);
      expect(await store.read(run.runId, run.n, 10)).to.deep.equal([]);
    }
    const counts = runs.map((run) => `${run.counts.done} ${run.counts.idle}`).toSorted();
    expect(counts).to.deep.equal(["0 5", "3 0", "4 1"]);
    expect((await store.list({ text: "swifts", tags: { customer: "acme" } })).total).to.equal(2);
  });

  it("writes nothing if the folder contains traces only", async () => {
    const folder = await folderOfTraces();
    const before = await readdir(folder);
    const store = RunStore.file(folder);
    const error = await rejectionOf(RunStoreError, Promise.resolve(store.put(summaryOf("a"))));
    expect(error.message).to.contain("has trace files only");
    const [run] = (await store.list({})).runs;
    await rejectionOf(RunStoreError, Promise.resolve(store.remove(run?.runId ?? "")));
    expect(await readdir(folder)).to.deep.equal(before);
    await store.dispose?.();
  });

  it("shows traces that are copied into a folder of runs; a log has precedence over a trace", async () => {
    const folder = join(temporaryFolder(), "runs");
    const store = RunStore.file(folder);
    await store.put(summaryOf("a"));
    await store.append("run-1", [entryOf(0)]);
    await store.put(summaryOf("run-1", { ensemble: "ours" }));
    await copyFile(
      new URL("trace-1.1/delegation.trace.json", FIXTURES),
      join(folder, "d.trace.json"),
    );
    await copyFile(new URL("trace-1.1/full.trace.json", FIXTURES), join(folder, "f.trace.json"));
    expect(await idsIn(store)).to.deep.equal(["a", "delegation-1", "run-1"]);
    expect((await store.get("run-1"))?.ensemble).to.equal("ours");
    expect(await store.read("run-1", -1, 10)).to.have.length(1);
    expect((await store.read("delegation-1", -1, 100)).length).to.be.above(10);
    await rm(join(folder, "d.trace.json"));
    expect(await idsIn(store)).to.deep.equal(["a", "run-1"]);
    await store.dispose?.();
  });

  it("omits an unreadable file, names it once, and reads it again after a change", async () => {
    const folder = await folderOfTraces();
    await writeFile(join(folder, "broken.trace.json"), '{"schemaVersion": "1.3", "taskTr');
    await mkdir(join(folder, "folder.trace.json"));
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", note);
    const store = RunStore.file(folder);
    const before = await idsIn(store);
    expect(before).to.have.length(3);
    await idsIn(store);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings.filter((text) => text.includes("broken.trace.json"))).to.have.length(1);
    expect(warnings.join()).to.contain("it is not JSON").and.to.contain("folder.trace.json");
    await copyFile(
      new URL("trace-1.1/delegation.trace.json", FIXTURES),
      join(folder, "broken.trace.json"),
    );
    expect(await idsIn(store)).to.deep.equal([...before, "delegation-1"].toSorted());
  });

  it("finds trace.json, and takes dag.json next to it as its plan", async () => {
    const [from, folder] = [await folderOfTraces(), temporaryFolder()];
    for (const name of ["trace.json", "dag.json"])
      await copyFile(join(from, `p.${name}`), join(folder, name));
    const { runs } = await RunStore.file(folder).list({});
    expect(runs.map(({ counts }) => `${counts.done} ${counts.idle}`)).to.deep.equal(["4 1"]);
  });
});

describe("savedRuns", () => {
  it("shows single files with any names, and refuses writes", async () => {
    const folder = await folderOfTraces();
    await copyFile(join(folder, "p.trace.json"), join(folder, "renamed.json"));
    const store = savedRuns([join(folder, "renamed.json"), join(folder, "plan.dag.json")]);
    expect((await store.list({})).total).to.equal(2);
    for (const write of [
      () => store.put(summaryOf("a")),
      () => store.append("a", [entryOf(0)]),
      () => store.remove("plan"),
    ])
      await rejectionOf(RunStoreError, Promise.resolve(write()));
  });
});
