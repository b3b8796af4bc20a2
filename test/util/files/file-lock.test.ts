import { readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { FileInUseError, FileLock } from "../../../src/util/files/file-lock.js";
import { isAlive, readHolder, thisProcess } from "../../../src/util/files/lock-holder.js";
import { rejectionOf } from "../../support/rejection.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const QUICK = { heartbeatMs: 10, patienceMs: 400 };

async function inFolder(body: (lockPath: string, folder: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  await body(join(folder, "data.lock"), folder);
}

describe("FileLock", () => {
  it("is held by one object at a time, and leaves no file", () =>
    inFolder(async (path, folder) => {
      const lock = await FileLock.acquire(path);
      const error = await rejectionOf(FileInUseError, FileLock.acquire(path));
      expect(error.message).to.contain("data is in use by this process");
      expect(await lock.isHeld()).to.equal(true);
      await lock.release();
      await (await FileLock.acquire(path)).release();
      expect(await readdir(folder)).to.deep.equal([]);
    }));

  it("is acquired by one of many concurrent callers, even after a dead holder and its guard", () =>
    inFolder(async (path, folder) => {
      const dead = JSON.stringify({ ...(await thisProcess()), pid: 2 ** 22 + 1 }); // beyond the greatest process id
      for (const left of [[], [path], [path, `${path}.takeover`]]) {
        for (const file of left) await writeFile(file, dead);
        const attempts = await Promise.allSettled(
          Array.from({ length: 8 }, () => FileLock.acquire(path)),
        );
        const locks = attempts.flatMap((attempt) =>
          attempt.status === "fulfilled" ? [attempt.value] : [],
        );
        expect(locks).to.have.length(1);
        await locks[0]?.release();
        expect(await readdir(folder)).to.deep.equal([]);
      }
    }));

  it("remains with a live holder on another machine, and is taken from a dead holder", () =>
    inFolder(async (path) => {
      const elsewhere = JSON.stringify({
        pid: 1,
        host: "elsewhere",
        boot: "another",
        space: "another",
      });
      await writeFile(path, elsewhere);
      let beats = 1;
      const beating = setInterval(
        () => void utimes(path, beats, beats++).catch(() => undefined),
        QUICK.heartbeatMs,
      );
      const error = await rejectionOf(FileInUseError, FileLock.acquire(path, QUICK));
      expect(error.message).to.contain("process 1 on elsewhere");
      clearInterval(beating);
      const lock = await FileLock.acquire(path, QUICK);
      expect(await readFile(path, "utf8")).to.contain(`"pid":${process.pid}`);
      await lock.release();
    }));

  it("is renewed, which shows that its holder is alive", () =>
    inFolder(async (path) => {
      const lock = await FileLock.acquire(path, QUICK);
      await writeFile(path, JSON.stringify({ pid: 1, host: "elsewhere" })); // in the view of an external process
      expect((await rejectionOf(FileInUseError, FileLock.acquire(path, QUICK))).message).to.contain(
        "elsewhere",
      );
      await lock.release();
    }));

  it("is taken over when its file has no holder and is not renewed", () =>
    inFolder(async (path) => {
      for (const text of ["", "{", "null", "[]", '{"pid":"1"}']) {
        await writeFile(path, text);
        await (await FileLock.acquire(path, { heartbeatMs: 10, patienceMs: 20 })).release();
      }
    }));

  it("reports its loss to its holder, and keeps the lock of the new holder", () =>
    inFolder(async (path) => {
      const lock = await FileLock.acquire(path);
      await rm(path);
      expect(await lock.isHeld()).to.equal(false);
      const other = await FileLock.acquire(path);
      expect(await lock.isHeld()).to.equal(false);
      await lock.release();
      expect(await other.isHeld()).to.equal(true);
      await other.release();
    }));
});

describe("lock holder", () => {
  it("is alive with its own start time only", async () => {
    const me = await thisProcess();
    expect(readHolder(JSON.stringify(me))).to.deep.equal(me);
    expect(await isAlive(me)).to.equal(true);
    expect(await isAlive({ ...me, pid: 2 ** 22 + 1 })).to.equal(false);
    if (me.started !== undefined) expect(await isAlive({ ...me, started: "1" })).to.equal(false);
  });
});
