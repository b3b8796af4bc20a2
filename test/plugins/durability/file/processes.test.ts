import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { RunInUseError } from "agentensemble";
import { expect } from "chai";
import { OtherProcess } from "../../../support/other-process.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { pause } from "../../../support/time.js";
import { withFolder } from "./journal-folder.js";
import { claimOf, entryOf, reviewOf } from "./runs.js";

const HOLDER = fileURLToPath(new URL("./holder.js", import.meta.url));

const holderOf = (mode: string, folder: string, leaseMs = 10_000): OtherProcess =>
  OtherProcess.of(HOLDER, mode, folder, String(leaseMs));

/** Runs a mode on a separate small disk. `after`: the change of the disk before. */
function onSmallDisk(mode: string, folder: string, after = "true"): OtherProcess {
  const script = `mount -t tmpfs -o size=1m tmpfs "$1" && mkdir "$1/runs" && ${after} && exec "$2" "$3" ${mode} "$1/runs"`;
  const args = ["-rm", "sh", "-c", script, "sh", folder, process.execPath, HOLDER];
  return new OtherProcess("unshare", args);
}

const hasSmallDisks = (): boolean =>
  process.platform === "linux" &&
  spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs -o size=1m tmpfs /mnt"]).status === 0;

describe("runs in a folder and other processes", function () {
  this.timeout(60_000);

  afterEach("no process stays after any failure", () => {
    for (const child of OtherProcess.running) child.kill("SIGKILL");
  });

  it("contain every acknowledged entry after their process was killed at any moment", () =>
    withFolder(async (folder) => {
      const acknowledged = new Set<string>();
      for (let round = 1; round <= 5; round++) {
        const holder = holderOf("write", folder.path);
        await holder.saying(2 + round * 7);
        await pause((round * 37) % 60);
        const [claimed, ...keys] = await holder.ended("SIGKILL");
        expect(claimed).to.equal(`claimed ${round}`);
        for (const key of keys) acknowledged.add(key);
      }
      const journal = folder.open();
      const { entries, record } = await journal.claim(claimOf("r"));
      const kept = new Map(entries.map(({ key, value }) => [key, value]));
      expect([...acknowledged].filter((key) => !kept.has(key))).to.deep.equal([]);
      expect(kept.size).to.equal(entries.length);
      for (const [key, value] of kept) expect((value as string).startsWith(key)).to.equal(true);
      expect([record.executions, record.fruitlessExecutions]).to.deep.equal([6, 0]);
    }));

  it("are refused to others while their process is alive, and taken over immediately after it was killed", () =>
    withFolder(async (folder) => {
      const holder = holderOf("write", folder.path, 60_000);
      await holder.saying(2);
      const journal = folder.open();
      const error = await rejectionOf(RunInUseError, journal.claim(claimOf("r")));
      expect(error.owner).to.equal("child");
      expect((await journal.get("r"))?.owner).to.equal("child");
      await holder.ended("SIGKILL");
      expect((await journal.get("r"))?.owner).to.equal(undefined);
      expect((await journal.claim(claimOf("r"))).record.executions).to.equal(2);
    }));

  it("are taken over after a lease without a heartbeat, and the old process can't write", () =>
    withFolder(async (folder) => {
      const holder = holderOf("write", folder.path, 400);
      await holder.saying(10);
      await folder.abandon({ runId: "r" }, "elsewhere");
      const journal = folder.open();
      await rejectionOf(RunInUseError, journal.claim(claimOf("r"))); // its lock is touched
      holder.child.kill("SIGSTOP");
      await pause(50);
      const before = holder.lines.slice(1);
      const claim = await journal.claim(claimOf("r", { leaseMs: 5_000 }));
      await journal.append(claim, entryOf("mine"));
      holder.child.kill("SIGCONT");
      const lines = await holder.ended();
      expect(lines.at(-1)).to.equal("AE_RUN_FENCED");
      await journal.append(claim, entryOf("mine, too"));
      const keys = (await journal.entries("r")).map(({ key }) => key);
      expect(keys.slice(-2)).to.deep.equal(["mine", "mine, too"]);
      expect(keys.slice(0, -2)).to.deep.equal(claim.entries.map(({ key }) => key));
      expect(keys).to.include.members([...before]);
    }));

  it("lose no acknowledged entry on a full disk, and continue when there is space", async function () {
    if (!hasSmallDisks()) return this.skip();
    const lines = await onSmallDisk("fill", temporaryFolder()).ended();
    expect(lines).to.deep.equal(["AE_JOURNAL", "AE_JOURNAL", "true", "AE_JOURNAL", "true", "no drafts"]); // prettier-ignore
  });

  it("report an unwritable folder", async function () {
    if (!hasSmallDisks()) return this.skip();
    const folder = temporaryFolder();
    const holder = onSmallDisk("refuse", folder, 'mount -o remount,ro "$1"');
    const [refused, listed] = await holder.ended();
    expect(refused).to.include("AE_JOURNAL Claiming run 'r'").and.include(folder);
    expect(listed).to.equal("0");
  });

  it("do not keep their process alive", () =>
    withFolder(async (folder) => {
      expect(await holderOf("leave", folder.path).ended()).to.deep.equal(["left"]);
      expect((await folder.open().get("r"))?.status).to.equal("running");
    }));

  it("receive the decision of a review that another process answers", () =>
    withFolder(async (folder) => {
      const { reviews } = folder.open();
      await reviews.ask(reviewOf("r", "a"));
      const waiting = reviews.waitFor("r-a", new AbortController().signal);
      expect(await holderOf("answer", folder.path).ended()).to.deep.equal(["resolved"]);
      expect((await waiting).by).to.equal("child");
    }));
});
