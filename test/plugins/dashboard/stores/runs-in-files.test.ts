import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RunStoreError, ValidationError } from "agentensemble";
import { expect } from "chai";
import type { RunStore as Store } from "../../../../src/contracts/run-store.js";
import { fileRuns } from "../../../../src/plugins/dashboard/stores/file/file-runs.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { runStoreContract } from "../../../../src/plugins/testing/run-store-contract.js";
import { OtherProcess } from "../../../support/other-process.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { recordedLog } from "../logs.js";
import { entryOf, summaryOf } from "./summaries.js";

const WRITER = fileURLToPath(new URL("./file-writer.js", import.meta.url));

/** A folder of runs that does not exist yet. */
const newFolder = (): string => join(temporaryFolder(), "runs");

async function idsIn(store: Store): Promise<readonly string[]> {
  return (await store.list({})).runs.map(({ runId }) => runId);
}

async function numbersIn(store: Store, runId: string): Promise<readonly number[]> {
  return (await store.read(runId, -1, 100_000)).map(({ n }) => n);
}

/** Writes runs, and abandons the folder. */
async function folderWith(...runs: readonly Parameters<typeof summaryOf>[]): Promise<string> {
  const folder = newFolder();
  const store = RunStore.file(folder);
  for (const [runId, o] of runs) {
    await store.append(runId, [entryOf(0), entryOf(1)]);
    await store.put(summaryOf(runId, o));
  }
  await store.dispose?.();
  return folder;
}

runStoreContract("in files", {
  reopens: true,
  create: () => {
    const folder = newFolder();
    const store = RunStore.file(folder);
    const others: Store[] = [];
    return {
      store,
      reopen: async () => {
        await store.dispose?.();
        const other = RunStore.file(folder);
        others.push(other);
        return other;
      },
      dispose: async () => {
        for (const other of others) await other.dispose?.();
      },
    };
  },
});

describe("RunStore.file", () => {
  it("creates no file in the folder before the first write", async () => {
    const folder = newFolder();
    const store = RunStore.file(folder);
    expect(await idsIn(store)).to.deep.equal([]);
    expect(await store.get("a")).to.equal(undefined);
    expect(await store.read("a", -1, 10)).to.deep.equal([]);
    await store.remove("a");
    await store.dispose?.();
    expect(await readdir(join(folder, ".."))).to.deep.equal([]);
  });

  it("allows other objects to read the entries of a writer, and refuses a second writer", async () => {
    const folder = newFolder();
    const [writer, reader] = [RunStore.file(folder), RunStore.file(folder)];
    await writer.put(summaryOf("a", { state: "running" }));
    expect((await reader.get("a"))?.state).to.equal("running");
    await writer.append("a", [entryOf(0)]);
    await writer.put(summaryOf("b"));
    expect(await idsIn(reader)).to.deep.equal(["b", "a"]);
    expect(await numbersIn(reader, "a")).to.deep.equal([0]);
    const refused = await rejectionOf(RunStoreError, Promise.resolve(reader.put(summaryOf("c"))));
    expect(refused.message).to.contain("index.jsonl is in use by this process");
    expect(refused.hint).to.contain("its own folder");
    await writer.dispose?.();
    await reader.put(summaryOf("c"));
    expect(await idsIn(reader)).to.deep.equal(["c", "b", "a"]);
    await reader.dispose?.();
  });

  it("shows a running run as interrupted after its writer has ended, and a suspended run as waiting", async () => {
    const folder = await folderWith(
      ["a", { state: "running" }],
      ["b", { state: "waiting" }],
      ["c", { state: "waiting", exitReason: "SUSPENDED" }],
    );
    const reader = RunStore.file(folder);
    const states = (await reader.list({})).runs.map(({ runId, state }) => `${runId} ${state}`);
    expect(states).to.deep.equal(["c waiting", "b interrupted", "a interrupted"]);
    await reader.put(summaryOf("d"));
    expect((await reader.get("a"))?.state).to.equal("interrupted");
    expect((await reader.get("c"))?.state).to.equal("waiting");
    await reader.dispose?.();
  });

  it("keeps ids that are not file names in separate files inside the folder", async () => {
    const folder = newFolder();
    const store = RunStore.file(folder);
    const ids = [
      "../../up",
      "a/b",
      "A",
      "a",
      "con",
      "x".repeat(200),
      "\u{1F980}",
      "__proto__",
      "..",
    ];
    for (const id of ids) {
      await store.append(id, [entryOf(0, { text: id })]);
      await store.put(summaryOf(id));
    }
    for (const id of ids) expect((await store.read(id, -1, 5))[0]).to.include({ text: id });
    expect(await idsIn(store)).to.have.members(ids);
    expect(await readdir(join(folder, ".."))).to.deep.equal(["runs"]);
    const logs = (await readdir(folder)).filter((name) => name.endsWith(".log.jsonl"));
    expect(logs).to.have.length(ids.length);
    await store.dispose?.();
  });

  it("rewrites the index after 1,000 changes, while others read it", async () => {
    const folder = newFolder();
    const [writer, reader] = [RunStore.file(folder), RunStore.file(folder)];
    for (let n = 0; n < 1_050; n++) {
      await writer.put(summaryOf(n % 2 === 0 ? "a" : "b", { n }));
      if (n % 100 === 0) expect((await reader.get("a"))?.n).to.equal(n);
    }
    const lines = (await readFile(join(folder, "index.jsonl"), "utf8")).split("\n");
    expect(lines.length).to.be.below(100);
    expect((await reader.get("b"))?.n).to.equal(1_049);
    await writer.dispose?.();
  });

  it("removes the oldest runs beyond its number, and runs that ended too long ago", async () => {
    const folder = newFolder();
    const at = (hour: number): string => `2026-01-01T0${hour}:00:00.000Z`;
    const clock = { now: () => new Date(at(5)) };
    const store = fileRuns(folder, { maxRuns: 3, maxAgeMs: 3_600_000 * 3 }, clock);
    await store.put(summaryOf("at work", { state: "running", startedAt: at(0) }));
    await store.put(summaryOf("baseline", { startedAt: at(1), baseline: true }));
    await store.append("old", [entryOf(0)]);
    await store.put(summaryOf("old", { startedAt: at(1), endedAt: at(1) }));
    expect(await idsIn(store)).to.deep.equal(["baseline", "at work"]);
    for (const hour of [3, 4, 5])
      await store.put(summaryOf(`at ${hour}`, { startedAt: at(hour), endedAt: at(hour) }));
    expect(await idsIn(store)).to.deep.equal(["at 5", "baseline", "at work"]);
    expect(await numbersIn(store, "old")).to.deep.equal([]);
    await store.dispose?.();
  });

  it("refuses limits below 1, a blank folder and unknown options", () => {
    for (const odd of [{ maxRuns: 0 }, { maxAgeMs: 0.5 }, { maxRun: 3 }])
      expect(() => RunStore.file("runs", odd)).to.throw(ValidationError);
    expect(() => RunStore.file(" ")).to.throw(ValidationError, "folder");
  });
});

describe("RunStore.file, with damaged files", () => {
  it("omits an incomplete last line, and continues after the previous line", async () => {
    const folder = await folderWith(["a"]);
    await appendFile(join(folder, "a.log.jsonl"), `{"n":2,"at":"${"2026".repeat(999)}`);
    await appendFile(join(folder, "index.jsonl"), '{"run":{"runId":"b');
    const store = RunStore.file(folder);
    expect(await numbersIn(store, "a")).to.deep.equal([0, 1]);
    expect(await idsIn(store)).to.deep.equal(["a"]);
    await store.append("a", [entryOf(1), entryOf(2)]);
    await store.put(summaryOf("c"));
    expect(await numbersIn(store, "a")).to.deep.equal([0, 1, 2]);
    expect(await idsIn(store)).to.deep.equal(["c", "a"]);
    await store.dispose?.();
  });

  it("names a log with another line, and shows the other runs", async () => {
    const folder = await folderWith(["a"], ["b"]);
    await appendFile(join(folder, "a.log.jsonl"), "no entry\n");
    const store = RunStore.file(folder);
    expect(await idsIn(store)).to.deep.equal(["b", "a"]);
    const error = await rejectionOf(RunStoreError, Promise.resolve(store.read("a", -1, 10)));
    expect(error.message).to.match(/a\.log\.jsonl has no entry at byte \d+/);
    expect(await numbersIn(store, "b")).to.deep.equal([0, 1]);
    await rejectionOf(RunStoreError, Promise.resolve(store.append("a", [entryOf(2)])));
    await store.put(summaryOf("c"));
    await store.remove("a");
    expect(await idsIn(store)).to.deep.equal(["c", "b"]);
    await store.dispose?.();
  });

  it("recreates the summaries of a lost index from the logs", async () => {
    const folder = newFolder();
    const store = RunStore.file(folder);
    const log = await recordedLog("sequential");
    const runId = String(log[0]?.["runId"]);
    await store.append(runId, log);
    await store.append("begun", log.slice(0, 3));
    await store.dispose?.();
    for (const damage of [
      async () => rm(join(folder, "index.jsonl"), { force: true }),
      async () => writeFile(join(folder, "index.jsonl"), "no index\n"),
    ]) {
      await damage();
      const reader = RunStore.file(folder);
      expect(await idsIn(reader)).to.have.members([runId, "begun"]);
      expect((await reader.get(runId))?.state).to.equal("done");
      expect((await reader.get(runId))?.n).to.equal(log.length - 1);
      expect((await reader.get("begun"))?.state).to.equal("interrupted");
      await reader.put(summaryOf("later"));
      expect((await RunStore.file(folder).get(runId))?.state).to.equal("done");
      await reader.dispose?.();
    }
  });

  it("refuses a log of another run, a symbolic link and a folder that can't be created", async () => {
    const folder = await folderWith(["a"], ["b"]);
    await writeFile(join(folder, "b.log.jsonl"), await readFile(join(folder, "a.log.jsonl")));
    await rm(join(folder, "a.log.jsonl"));
    await symlink(join(folder, "b.log.jsonl"), join(folder, "a.log.jsonl"));
    const store = RunStore.file(folder);
    const foreign = await rejectionOf(RunStoreError, Promise.resolve(store.read("b", -1, 1)));
    expect(foreign.message).to.contain("is the log of another run");
    const linked = await rejectionOf(RunStoreError, Promise.resolve(store.read("a", -1, 1)));
    expect(linked.hint).to.contain("not followed");
    await mkdir(join(folder, "other"));
    await writeFile(join(folder, "other", "file"), "");
    const nowhere = RunStore.file(join(folder, "other", "file", "runs"));
    const error = await rejectionOf(RunStoreError, Promise.resolve(nowhere.put(summaryOf("a"))));
    expect(error.message).to.contain("is not a folder");
  });

  it("writes nothing after it was closed, and takes the lock of its folder again if it was removed", async () => {
    const folder = newFolder();
    const store = RunStore.file(folder);
    await store.put(summaryOf("a", { state: "running" }));
    await rm(join(folder, "index.jsonl.lock"));
    const other = RunStore.file(folder);
    await other.put(summaryOf("b"));
    await rejectionOf(RunStoreError, Promise.resolve(store.put(summaryOf("c"))));
    await other.dispose?.();
    await store.put(summaryOf("c"));
    expect(await idsIn(store)).to.deep.equal(["c", "b", "a"]);
    await store.dispose?.();
    await rejectionOf(RunStoreError, Promise.resolve(store.put(summaryOf("d"))));
    expect(await idsIn(store)).to.deep.equal(["c", "b", "a"]);
  });
});

describe("RunStore.file and other processes", function () {
  this.timeout(60_000);

  afterEach("no process stays, whatever failed", () => {
    for (const child of OtherProcess.running) child.kill("SIGKILL");
  });

  it("keeps the acknowledged entries of a killed process, and shows its run as interrupted", async () => {
    for (const lines of [3, 20, 41]) {
      const folder = newFolder();
      const other = OtherProcess.of(WRITER, "write", folder);
      await other.saying(lines);
      const reader = RunStore.file(folder);
      expect((await reader.get("killed"))?.state).to.equal("running");
      const refused = await rejectionOf(RunStoreError, Promise.resolve(reader.put(summaryOf("a"))));
      expect(refused.message).to.contain(`process ${other.child.pid ?? 0} on`);
      const acknowledged = Number((await other.ended("SIGKILL")).at(-1));
      const run = await reader.get("killed");
      expect(run?.state).to.equal("interrupted");
      expect(run?.n).to.be.at.least(acknowledged);
      const numbers = await numbersIn(reader, "killed");
      expect(numbers.length).to.be.above(acknowledged);
      expect(numbers).to.deep.equal(numbers.map((_, n) => n));
      await reader.append("killed", [entryOf(numbers.length)]);
      expect((await reader.read("killed", numbers.length - 1, 5)).length).to.equal(1);
      await reader.dispose?.();
    }
  });

  it("keeps its entries if the disk is full, reports the error, and continues with smaller data", async function () {
    if (process.platform === "win32") this.skip();
    const folder = newFolder();
    const limited = ["-c", `trap '' XFSZ; ulimit -f 300; exec "$@"`, "bash"];
    const other = new OtherProcess("bash", [...limited, process.execPath, WRITER, "fill", folder]);
    expect(await other.ended()).to.deep.equal(["AE_RUN_STORE", "true", "true"]);
  });
});
