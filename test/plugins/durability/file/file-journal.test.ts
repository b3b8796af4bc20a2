import { appendFile, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises"; // prettier-ignore
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Journal } from "agentensemble";
import { JournalError, RunInUseError } from "agentensemble";
import { expect } from "chai";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { warningsOf } from "../../../support/warnings.js";
import { withFolder, type JournalFolder } from "./journal-folder.js";
import { claimOf, entryOf, resultOf, reviewOf } from "./runs.js";

/** Stores a waiting run with two entries; returns its file. */
async function keptRun(folder: JournalFolder, runId = "r"): Promise<string> {
  const journal = folder.open();
  const claim = await journal.claim(claimOf(runId));
  for (const key of ["a", "b"]) await journal.append(claim, entryOf(key));
  await journal.release(claim, { status: "waiting", waitsFor: "Ana" });
  return join(folder.path, `${runId}.jsonl`);
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)(); // the flag does this
  return process.memoryUsage().heapUsed;
}

const keysOf = async (journal: Journal, runId = "r"): Promise<readonly string[]> =>
  (await journal.entries(runId)).map(({ key }) => key);

describe("openFileJournal", () => {
  it("creates no file before a run is claimed", () =>
    withFolder(async (folder) => {
      const journal = folder.open();
      expect([await journal.get("r"), await journal.list(), await journal.delete("r")]).to.deep.equal([undefined, { runs: [] }, false]); // prettier-ignore
      expect(await journal.cancel("r", "x")).to.equal(false);
      expect(await journal.reviews.pending()).to.deep.equal([]);
      expect(await rejection(stat(folder.path))).to.have.property("code", "ENOENT");
    }));

  it("writes a line for each entry, readable for the owner alone", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
      const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(parsed[0]).to.include({ format: "agentensemble/run", version: 1 });
      expect(parsed.map(({ line, key }) => line ?? key)).to.deep.equal([undefined, "claim", "a", "b", "end"]); // prettier-ignore
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
      expect((await stat(folder.path)).mode & 0o777).to.equal(0o700);
      expect(await readdir(folder.path)).to.deep.equal(["r.jsonl"]);
    }));

  it("adds at most 300 bytes to the text of an entry", () =>
    withFolder(async (folder) => {
      const journal = folder.open();
      const claim = await journal.claim(claimOf("r"));
      const entry = entryOf("C:task-1@1/task/12", { kind: "call", hash: "0".repeat(64), value: "x".repeat(1_000) }); // prettier-ignore
      const path = join(folder.path, "r.jsonl");
      const before = (await stat(path)).size;
      await journal.append(claim, entry);
      expect((await stat(path)).size - before - 1_000).to.be.at.most(300);
    }));

  it("removes a last line that a crash truncated, at any position", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      const whole = await readFile(path);
      const start = whole.lastIndexOf("\n", whole.length - 2) + 1;
      for (let size = start; size < whole.length; size++) {
        await writeFile(path, whole.subarray(0, size));
        const journal = folder.open();
        expect((await journal.get("r"))?.status).to.equal("running");
        const claim = await journal.claim(claimOf("r"));
        expect(claim.entries.map(({ key }) => key)).to.deep.equal(["a", "b"]);
        if (size % 10 === 0) await journal.append(claim, entryOf("c"));
        await journal.close();
        expect(await keysOf(folder.open())).to.deep.equal(
          size % 10 === 0 ? ["a", "b", "c"] : ["a", "b"],
        );
        expect((await readFile(path)).subarray(0, start)).to.deep.equal(whole.subarray(0, start));
      }
    }));

  it("removes a truncated line completely, also if it is longer than the next entry", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      await appendFile(path, `{"key":"${"x".repeat(5_000)}`);
      const journal = folder.open();
      const claim = await journal.claim(claimOf("r"));
      await journal.append(claim, entryOf("c"));
      expect(await keysOf(journal)).to.deep.equal(["a", "b", "c"]);
      expect(await readFile(path, "utf8")).to.match(/\}\n$/);
      expect((await journal.get("r"))?.executions).to.equal(2);
    }));

  it("refuses a run with an invalid line in the middle, by name, and keeps the file unchanged", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      await keptRun(folder, "s");
      const lines = (await readFile(path, "utf8")).split("\n");
      const journal = folder.open();
      for (const garbage of ["garbage", "", "{}", "\u0000\u0000", '{"kind":"step"}', "[]"]) {
        const text = lines.with(2, garbage).join("\n");
        await writeFile(path, text);
        for (const call of [() => journal.claim(claimOf("r")), () => journal.entries("r")]) {
          const { message } = await rejectionOf(JournalError, call());
          expect(message).to.include(`Line 3 of ${path}`);
        }
        expect(await readFile(path, "utf8")).to.equal(text);
      }
      expect((await journal.claim(claimOf("s"))).entries.length).to.equal(2);
      expect((await journal.list()).runs.length).to.equal(2);
    }));

  it("omits a run from the list if its last line is invalid, with a warning", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      await keptRun(folder, "s");
      await appendFile(path, "garbage\n");
      const journal = folder.open();
      const warnings: string[] = [];
      const onWarning = ({ message }: Error): void => void warnings.push(message);
      process.on("warning", onWarning);
      const { runs } = await journal.list();
      await journal.list();
      await new Promise(setImmediate);
      process.off("warning", onWarning);
      expect(runs.map(({ runId }) => runId)).to.deep.equal(["s"]);
      expect(warnings.length).to.equal(1);
      expect(warnings[0]).to.include(path);
      await rejectionOf(JournalError, journal.get("r"));
    }));

  it("refuses a file of another version, of another form and of another run", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      const text = await readFile(path, "utf8");
      const journal = folder.open();
      for (const [other, reason] of [
        [text.replace('"version":1', '"version":2'), "has version 2, not 1"],
        ["# Notes\n", "is not JSON"],
        ['{"format":"other"}\n', "is not the first line of a run"],
        ["", "not JSON"],
        [text.replace('"runId":"r"', '"runId":"q"'), "is the file of another run"],
      ] as const) {
        await writeFile(path, other);
        for (const call of [
          () => journal.claim(claimOf("r")),
          () => journal.get("r"),
          () => journal.delete("r"),
        ])
          // prettier-ignore
          expect((await rejectionOf(JournalError, call())).message).to.include(reason);
        expect(await readFile(path, "utf8")).to.equal(other);
      }
    }));

  it("follows no symbolic link in the place of a run", () =>
    withFolder(async (folder) => {
      const path = await keptRun(folder);
      await symlink(path, join(folder.path, "s.jsonl"));
      const journal = folder.open();
      for (const call of [() => journal.claim(claimOf("s")), () => journal.get("s")])
        expect((await rejectionOf(JournalError, call())).hint).to.include("not followed");
    }));

  it("reports that the file of a run was removed during the execution", () =>
    withFolder(async (folder) => {
      const journal = folder.open();
      const claim = await journal.claim(claimOf("r"));
      await rm(join(folder.path, "r.jsonl"));
      const error = await rejectionOf(JournalError, journal.append(claim, entryOf("a")));
      expect(error.message).to.include("was removed");
      expect((await journal.renew(claim)).state).to.equal("lost");
    }));

  it("checks with the system whether the holder is alive, and ignores the age of its lock", () =>
    withFolder(async (folder) => {
      const journal = folder.open();
      const claim = await journal.claim(claimOf("r", { leaseMs: 1 }));
      for (const year of [1980, 2090]) {
        const then = new Date(Date.UTC(year, 0));
        await utimes(join(folder.path, "r.jsonl.lock"), then, then);
        await rejectionOf(RunInUseError, folder.open().claim(claimOf("r", { leaseMs: 1 })));
      }
      expect((await journal.renew(claim)).state).to.equal("held");
    }));

  it("reports a file in place of its folder", () =>
    withFolder(async (folder) => {
      await writeFile(folder.path, "a file");
      const { message } = await rejectionOf(JournalError, folder.open().claim(claimOf("r")));
      expect(message).to.include(folder.path);
    }));

  it("rewrites completed runs without the calls that tasks cover if the folder is large", () =>
    withFolder(async (folder) => {
      const keep = async (
        runId: string,
        journal: Journal,
        status: "completed" | "failed",
      ): Promise<void> => {
        // prettier-ignore
        const claim = await journal.claim(claimOf(runId));
        for (const kind of ["call", "tool", "memory"] as const)
          await journal.append(claim, entryOf(kind, { kind, value: "x".repeat(5_000) }));
        await journal.append(claim, entryOf("other", { kind: "call", task: "u@1" }));
        await journal.append(claim, entryOf("T", { kind: "task", covers: true }));
        await journal.release(claim, { status, result: resultOf(runId) });
      };
      const roomy = folder.open();
      await keep("old", roomy, "completed");
      await keep("failed", roomy, "failed");
      const before = [await roomy.get("old"), await roomy.entries("old")] as const;
      const journal = folder.open({ roomyBytes: 20_000 });
      await keep("new", journal, "completed");
      await keep("newest", journal, "completed");
      for (const id of ["old", "new", "newest"]) {
        expect(await keysOf(journal, id)).to.deep.equal(["other", "T"]);
        expect((await stat(join(folder.path, `${id}.jsonl`))).size).to.be.below(2_000);
      }
      expect((await keysOf(journal, "failed")).length).to.equal(5);
      expect(await journal.get("old")).to.deep.equal(before[0]);
      expect(await journal.entries("old")).to.deep.equal(before[1].slice(3));
      const again = await journal.claim(claimOf("old"));
      await journal.append(again, entryOf("more"));
      await journal.release(again, { status: "completed", result: resultOf("old") });
      expect(await keysOf(journal, "old")).to.deep.equal(["other", "T", "more"]);
      expect((await journal.get("old"))?.executions).to.equal(2);
    }));

  it("leaves no open file and uses constant memory after hundreds of runs", async function () {
    this.timeout(60_000);
    await withFolder(async (folder) => {
      const journal = folder.open();
      const handles = async (): Promise<number> => (await readdir("/proc/self/fd").catch(() => [])).length; // prettier-ignore
      const once = async (n: number): Promise<void> => {
        const claim = await journal.claim(claimOf(`r${n}`));
        await Promise.all(["a", "b"].map((key) => journal.append(claim, entryOf(key, { value: "x".repeat(20_000) })))); // prettier-ignore
        await journal.release(claim, { status: "failed" });
        if (n % 10 !== 0) await journal.delete(`r${n}`);
      };
      const many = async (from: number, to: number): Promise<void> => {
        for (let n = from; n < to; n += 20)
          await Promise.all(Array.from({ length: 20 }, (_, i) => once(n + i)));
      };
      await many(0, 60);
      const [before, heapBefore] = [await handles(), heapUsed()];
      await many(60, 300);
      expect(await handles()).to.be.at.most(before);
      expect(heapUsed() - heapBefore).to.be.below(1_000_000); // the values alone have 9.6 MB
      expect((await journal.list({ limit: 1_000 })).runs.length).to.equal(30);
    });
  });

  it("keeps one decision of several processes that answer concurrently", () =>
    withFolder(async (folder) => {
      const [one, two] = [folder.open(), folder.open()];
      await one.reviews.ask(reviewOf("r", "a"));
      const answers = await Promise.all(
        [one, two, one, two].map((journal, n) =>
          Promise.resolve(journal.reviews.resolve("r-a", { type: "CONTINUE", by: `${n}` })),
        ),
      );
      expect(answers.filter(({ outcome }) => outcome === "resolved").length).to.equal(1);
      expect(new Set(answers.map(({ review }) => review?.decision?.by)).size).to.equal(1);
    }));

  it("omits a review with a damaged file, and warns once; others are answered", () =>
    withFolder(async (folder) => {
      const journal = folder.open();
      await journal.reviews.ask(reviewOf("r", "a"));
      const [path = ""] = await folder.files(".review.json", join(folder.path, "reviews"));
      await writeFile(path, "garbage");
      await journal.reviews.ask(reviewOf("r", "b"));
      const warnings = await warningsOf(async () => {
        for (let n = 0; n < 2; n++) {
          const pending = await journal.reviews.pending();
          expect(pending.map(({ reviewId }) => reviewId)).to.deep.equal(["r-b"]);
        }
      });
      expect(warnings.length).to.equal(1);
      expect(warnings[0]).to.include(path);
      const { outcome } = await journal.reviews.resolve("r-b", { type: "CONTINUE" });
      expect(outcome).to.equal("resolved");
      const damaged = Promise.resolve(journal.reviews.resolve("r-a", { type: "CONTINUE" }));
      expect((await rejectionOf(JournalError, damaged)).message).to.include(path);
    }));

  it("makes no model call for a completed run", () =>
    withFolder(async (folder) => {
      const journal = folder.open();
      const claim = await journal.claim(claimOf("r"));
      await journal.reviews.ask(reviewOf("r", "a"));
      expect((await journal.reviews.pending()).length).to.equal(1);
      await journal.release(claim, { status: "completed", result: resultOf("r") });
      expect(await journal.reviews.pending()).to.deep.equal([]);
      expect((await journal.reviews.resolve("r-a", { type: "CONTINUE" })).outcome).to.equal("over");
    }));
});
