import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { MemoryStoreError } from "agentensemble";
import { expect } from "chai";
import { rejectionOf } from "../../../support/rejection.js";
import { contentsOf, entryOf, MemoryFolder } from "./folder.js";
import { pause } from "../../../support/time.js";

const WRITER = fileURLToPath(new URL("./writer.js", import.meta.url));

/** The writer as a separate process, and its output so far. */
class Writer {
  static readonly running = new Set<ChildProcess>();
  readonly child: ChildProcess;
  said = "";

  constructor(mode: string, path: string, limitKilobytes?: number) {
    const args = [WRITER, mode, path];
    this.child =
      limitKilobytes === undefined
        ? spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
        : spawn(
            "bash",
            ["-c", `ulimit -f ${limitKilobytes}; exec "$@"`, "bash", process.execPath, ...args],
            { stdio: ["pipe", "pipe", "inherit"] },
          );
    Writer.running.add(this.child);
    this.child.once("close", () => Writer.running.delete(this.child));
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.said += text));
  }

  /** Complete lines: the last one may be truncated. */
  get lines(): readonly string[] {
    return this.said.split("\n").slice(0, -1);
  }

  async saying(count: number): Promise<void> {
    while (this.lines.length < count) {
      if (this.child.exitCode !== null)
        throw new Error(`the writer has ended with ${this.child.exitCode}: ${this.said}`);
      await pause(2);
    }
  }

  async end(signal?: NodeJS.Signals): Promise<void> {
    const closed = once(this.child, "close");
    if (signal === undefined) this.child.stdin?.end();
    else this.child.kill(signal);
    await closed;
  }
}

describe("a memory file and other processes", function () {
  this.timeout(120_000);

  afterEach("no process stays, whatever failed", () => {
    for (const child of Writer.running) child.kill("SIGKILL");
  });

  it("has every acknowledged entry after its process was killed repeatedly, at any moment", () =>
    MemoryFolder.use(async (folder) => {
      const acknowledged = new Set<string>();
      for (let round = 0; round < 16; round++) {
        const writer = new Writer("write", folder.file);
        await writer.saying(1);
        await pause((round * 37) % 120);
        await writer.end("SIGKILL");
        for (const name of writer.lines) acknowledged.add(name);
      }
      const kept = await contentsOf(folder.open(), "kept");
      const names = new Set(kept.map((text) => text.split(" ")[0]));
      expect(acknowledged.size).to.be.greaterThan(16);
      expect([...acknowledged].filter((name) => !names.has(name))).to.deep.equal([]);
      expect(names.size).to.equal(kept.length);
      for (const text of kept) {
        const [name = "", sum] = text.split(" ");
        expect(sum).to.equal(createHash("sha256").update(name).digest("hex"));
      }
    }));

  it("is refused to a second process while the first is alive, and available to it afterwards", () =>
    MemoryFolder.use(async (folder) => {
      const writer = new Writer("hold", folder.file);
      await writer.saying(1);
      const store = folder.open();
      for (const call of [
        store.store("s", entryOf("a")),
        store.retrieve("s", "", 1),
        store.withLock("s", async () => 1),
      ]) {
        expect((await rejectionOf(MemoryStoreError, call)).message).to.contain(
          `process ${writer.child.pid}`,
        );
      }
      await writer.end("SIGKILL");
      await store.store("s", entryOf("a"));
      expect(await contentsOf(store)).to.deep.equal(["held", "a"]);
    }));

  it("is passed to one of many waiting stores after the death of its holder", () =>
    MemoryFolder.use(async (folder) => {
      const dead = new Writer("hold", folder.file);
      await dead.saying(1);
      await dead.end("SIGKILL");
      const writers = Array.from({ length: 5 }, () => new Writer("contend", folder.file));
      await Promise.all(writers.map((writer) => writer.saying(1)));
      const answers = writers.map(({ lines }) => lines[0]).sort();
      await Promise.all(writers.map((writer) => writer.end()));
      expect(answers).to.deep.equal([
        "AE_MEMORY_STORE",
        "AE_MEMORY_STORE",
        "AE_MEMORY_STORE",
        "AE_MEMORY_STORE",
        "in",
      ]);
      expect(await contentsOf(folder.open())).to.have.length(2);
    }));

  it("is not considered locked if a process id is reused", () =>
    MemoryFolder.use(async (folder) => {
      const writer = new Writer("hold", folder.file);
      await writer.saying(1);
      const lock = JSON.parse(await readFile(`${folder.file}.lock`, "utf8")) as {
        readonly started?: string;
      }; // our own file
      await writer.end("SIGKILL");
      if (lock.started === undefined) return; // this system does not tell
      await writeFile(`${folder.file}.lock`, JSON.stringify({ ...lock, pid: process.pid }));
      expect(await contentsOf(folder.open())).to.deep.equal(["held"]);
    }));

  it("refuses an entry that does not fit on the disk, and remains usable", async function () {
    if (process.platform === "win32") this.skip(); // there is no limit to set
    await MemoryFolder.use(async (folder) => {
      const writer = new Writer("fill", folder.file, 32);
      await once(writer.child, "close");
      const [code, isWhole, together, kept] = writer.lines;
      expect([code, isWhole]).to.deep.equal(["AE_MEMORY_STORE", "true"]);
      expect(together).to.equal(Array(5).fill("AE_MEMORY_STORE").join());
      expect((await stat(folder.file)).size).to.be.at.most(32 * 1024);
      const contents = await contentsOf(folder.open());
      expect(contents).to.have.length(Number(kept) + 1);
      expect(contents.at(-1)).to.equal("short");
    });
  });
});
