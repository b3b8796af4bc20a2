import assert from "node:assert/strict";
import type { Journal, RunFilter, RunStart } from "../../contracts/journal.js";
import type { StoredReview } from "../../contracts/review.js";
import { ReviewDecision } from "../../contracts/review.js";
import { sleep } from "../../util/abort/timeouts.js";
import type { UseJournal } from "./journal-scenario.js";
import {
  asJson,
  claimOfTheDead,
  claimRun,
  entryNamed,
  keptEntry,
  keptRun,
  keysIn,
  rejectsWith,
  RESULT,
  SHORT_MS,
  plannedStart,
  writeEntries,
} from "./journal-scenario.js";

/** Ids that leave a folder, name a device, or differ only in case. */
const ODD_IDS = [
  "../../x",
  "..",
  "/etc/passwd",
  "CON",
  "con",
  "r.jsonl",
  "r.jsonl.lock",
  "r",
  "R",
  "a/b@c>d~2",
  "a\\b",
  "a%2fb",
  "'; drop table runs; --",
  " ",
  "\u00e9",
  "e\u0301",
  "__proto__",
  "x".repeat(200),
  `${"x".repeat(199)}y`,
  "\u{1f980}".repeat(100),
];

/** Stores ended runs in the given order, with different instants. */
async function keepRuns(journal: Journal, starts: readonly RunStart[]): Promise<void> {
  for (const start of starts) {
    const status = start.runId.startsWith("w") ? "waiting" : "completed";
    await journal.release(await claimRun(journal, start), { status, result: RESULT });
    await sleep(2);
  }
}

async function idsIn(journal: Journal, filter?: RunFilter): Promise<readonly string[]> {
  return (await journal.list(filter)).runs.map(({ runId }) => runId);
}

function lookingSuite(use: UseJournal): void {
  it("returns undefined for a run that was never claimed", () =>
    use(async ({ journal }) => {
      assert.equal(await journal.get("r"), undefined);
      assert.deepEqual(asJson(await journal.list()), { runs: [] });
    }));
  it("keeps runs with any ids separate", () =>
    use(async ({ journal, other }) => {
      for (const id of ODD_IDS) {
        const claim = await claimRun(journal, id);
        await journal.append(claim, entryNamed("a", { value: id }));
        await journal.release(claim, { status: "waiting", waitsFor: id });
      }
      for (const id of ODD_IDS) {
        const { runId, waitsFor } = await keptRun(other, id);
        assert.deepEqual([runId, waitsFor], [id, id]);
        assert.equal((await keptEntry(other, id, "a")).value, id);
      }
      assert.deepEqual([...(await idsIn(other))].sort(), [...ODD_IDS].sort());
      assert.equal(await journal.delete("r"), true);
      assert.deepEqual((await idsIn(other)).length, ODD_IDS.length - 1);
    }));
}

function runListSuite(use: UseJournal): void {
  it("lists runs with all stored fields, the newest first", () =>
    use(async (scenario) => {
      const { journal, other } = scenario;
      await keepRuns(journal, [plannedStart("b", { tags: { a: "1" } }), plannedStart("a")]);
      await claimOfTheDead(scenario, "d");
      await sleep(2 * SHORT_MS);
      await claimRun(journal, "c");
      const { runs, next } = await other.list();
      assert.deepEqual([runs.map(({ runId }) => runId), next], [["c", "d", "a", "b"], undefined]);
      for (const run of runs) assert.deepEqual(asJson(run), asJson(await other.get(run.runId)));
      await claimRun(journal, "b");
      assert.deepEqual(await idsIn(other), ["c", "d", "a", "b"]);
    }));
  it("lists runs page by page, each once", () =>
    use(async ({ journal }) => {
      const ids = ["a", "b", "c", "d", "e"];
      await keepRuns(
        journal,
        ids.map((id) => plannedStart(id)),
      );
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const { runs, next } = await journal.list({ limit: 2, after });
        assert.ok(runs.length > 0 && runs.length <= 2, `a page of ${runs.length}`);
        seen.push(...runs.map(({ runId }) => runId));
        assert.ok(seen.length <= ids.length, "a run was listed twice");
        after = next;
      } while (after !== undefined);
      assert.deepEqual(seen, ids.reverse());
    }));
  it("lists runs by status, ensemble, tags and time", () =>
    use(async ({ journal }) => {
      const odd = { "a b": "x=y", __proto__x: "" };
      await keepRuns(journal, [
        plannedStart("w1", { tags: odd }),
        plannedStart("c1", { ensemble: "other", tags: { ...odd, more: "1" } }),
        plannedStart("c2", { tags: { "a b": "z" } }),
      ]);
      const { updatedAt } = await keptRun(journal, "c1");
      assert.deepEqual(await idsIn(journal, { status: "waiting" }), ["w1"]);
      assert.deepEqual(await idsIn(journal, { ensemble: "press" }), ["c2", "w1"]);
      assert.deepEqual(await idsIn(journal, { tags: odd }), ["c1", "w1"]);
      assert.deepEqual(await idsIn(journal, { tags: { ...odd, more: "1" } }), ["c1"]);
      assert.deepEqual(await idsIn(journal, { tags: {} }), ["c2", "c1", "w1"]);
      assert.deepEqual(await idsIn(journal, { updatedBefore: updatedAt }), ["w1"]);
      assert.deepEqual(await idsIn(journal, { status: "waiting", ensemble: "other" }), []);
      assert.deepEqual(await idsIn(journal, { status: "completed", limit: 1 }), ["c2"]);
    }));
}

function creationSuite(use: UseJournal): void {
  it("creates a run that was not executed yet, with entries of another run", () =>
    use(async ({ journal, other }) => {
      const start = plannedStart("r", { tags: { of: "r0" } });
      const entries = [entryNamed("T", { kind: "task", hash: "h" }), entryNamed("a")];
      await journal.create(start, entries, "to be resumed");
      const { status, waitsFor, executions, finishedTasks, tags } = await keptRun(other, "r");
      assert.deepEqual([status, waitsFor, executions], ["waiting", "to be resumed", 0]);
      assert.deepEqual([finishedTasks, asJson(tags)], [1, { of: "r0" }]);
      const claim = await claimRun(other, "r");
      assert.deepEqual([keysIn(claim.entries), claim.record.executions], [["T", "a"], 1]);
      assert.equal(claim.entries[0]?.hash, "h");
      await writeEntries(other, claim, ["a", "b"]);
      assert.deepEqual(keysIn(await other.entries("r")), ["T", "a", "b"]);
    }));
  it("refuses to create a run with an existing id", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      await writeEntries(journal, claim, ["a"]);
      const taken = (): Promise<void> => other.create(plannedStart("r"), [entryNamed("b")], "x");
      await rejectsWith("AE_VALIDATION", taken);
      await journal.release(claim, { status: "failed", result: RESULT });
      await rejectsWith("AE_VALIDATION", taken);
      const { status } = await keptRun(other, "r");
      assert.deepEqual([status, keysIn(await other.entries("r"))], ["failed", ["a"]]);
    }));
  it("adds entries to a run that no process executes, and replaces an entry with the same key", () =>
    use(async (scenario) => {
      const { journal, other } = scenario;
      await claimOfTheDead(scenario, "r", (claim) =>
        writeEntries(journal, claim, [entryNamed("k", { kind: "intent" }), "a"]),
      );
      await sleep(2 * SHORT_MS);
      await other.amend("r", entryNamed("k", { kind: "tool", value: "by hand" }));
      await other.amend("r", entryNamed("a", { value: "by hand, too" }));
      await other.amend("r", entryNamed("b"));
      const { entries } = await claimRun(journal, "r");
      const values = Object.fromEntries(entries.map(({ key, value }) => [key, value]));
      assert.deepEqual(values, { k: "by hand", a: "by hand, too", b: "value of b" });
      assert.equal((await keptEntry(journal, "r", "k")).kind, "tool");
    }));
  it("adds nothing to a run in progress or an unknown run", () =>
    use(async ({ journal, other }) => {
      await claimRun(journal, "r", { owner: "host:7" });
      const error = await rejectsWith("AE_RUN_IN_USE", () => other.amend("r", entryNamed("a")));
      assert.ok(error.message.includes("host:7"), error.message);
      await rejectsWith("AE_VALIDATION", () => other.amend("unknown", entryNamed("a")));
      assert.deepEqual(await journal.entries("r"), []);
      assert.equal(await journal.get("unknown"), undefined);
    }));
}

function deletionSuite(use: UseJournal): void {
  it("deletes a run with its entries, and accepts the id for a new run", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, plannedStart("r", { tags: { a: "b" } }));
      await writeEntries(journal, claim, ["a"]);
      await journal.release(claim, { status: "completed", result: RESULT });
      assert.equal(await other.delete("r"), true);
      assert.deepEqual([await journal.get("r"), await journal.entries("r")], [undefined, []]);
      assert.deepEqual(await idsIn(journal), []);
      assert.equal(await other.delete("r"), false);
      const again = await claimRun(journal, "r");
      assert.deepEqual([again.record.executions, again.entries], [1, []]);
    }));
  it("refuses to delete a run in progress, and deletes the run of a dead process", () =>
    use(async (scenario) => {
      const { journal, other } = scenario;
      await claimRun(journal, "r");
      await rejectsWith("AE_RUN_IN_USE", () => other.delete("r"));
      await claimOfTheDead(scenario, "s");
      await sleep(2 * SHORT_MS);
      assert.equal(await other.delete("s"), true);
      assert.deepEqual(await idsIn(journal), ["r"]);
    }));
  it("deletes the reviews of a deleted run, and no others", () =>
    use(async ({ journal, other }) => {
      for (const runId of ["r", "s"]) {
        await journal.release(await claimRun(journal, runId), { status: "waiting" });
        for (const name of ["a", "b"]) await journal.reviews.ask(reviewNamed(runId, name));
        await journal.reviews.resolve(`${runId}-b`, ReviewDecision.continue());
      }
      await other.delete("r");
      const waiting = (await other.reviews.pending()).map(({ reviewId }) => reviewId);
      assert.deepEqual(waiting, ["s-a"]);
      const { outcome } = await other.reviews.resolve("r-b", ReviewDecision.continue());
      assert.equal(outcome, "unknown");
      const again = await other.reviews.ask(reviewNamed("s", "b"));
      assert.equal(again.decision?.type, "CONTINUE");
    }));
}

async function openReviewsIn(journal: Journal): Promise<readonly string[]> {
  return (await journal.reviews.pending()).map(({ reviewId }) => reviewId).sort();
}

function endedReviewsSuite(use: UseJournal): void {
  it("closes the reviews of a completed or cancelled run, and opens them when the run continues", () =>
    use(async ({ journal, other }) => {
      const statuses = ["completed", "cancelled", "failed", "waiting", "interrupted"] as const;
      for (const status of statuses) {
        const claim = await claimRun(journal, status);
        await journal.reviews.ask(reviewNamed(status, "a"));
        await journal.release(claim, { status, result: RESULT });
      }
      const left = ["failed-a", "interrupted-a", "waiting-a"];
      assert.deepEqual(await openReviewsIn(other), left);
      for (const id of ["completed-a", "cancelled-a"]) {
        const { outcome, review } = await other.reviews.resolve(id, ReviewDecision.continue());
        assert.deepEqual([outcome, review?.reviewId, review?.decision], ["over", id, undefined]);
      }
      await claimRun(other, "cancelled");
      assert.deepEqual(await openReviewsIn(journal), ["cancelled-a", ...left]);
    }));
  it("closes the reviews of a run that is cancelled while no process executes it", () =>
    use(async ({ journal, other }) => {
      for (const status of ["failed", "waiting", "interrupted"] as const) {
        const claim = await claimRun(journal, status);
        await journal.reviews.ask(reviewNamed(status, "a"));
        await journal.release(claim, { status });
        assert.equal(await other.cancel(status, "too late"), true, status);
        assert.deepEqual(await openReviewsIn(journal), [], status);
      }
    }));
}

export function reviewNamed(runId: string, name: string): StoredReview {
  return {
    reviewId: `${runId}-${name}`,
    runId,
    taskId: "task-1",
    agentRole: "Writer",
    taskDescription: "Write a line",
    taskOutput: "a line",
    timing: "AFTER_EXECUTION",
    requestedAt: "2026-01-01T00:00:00.000Z",
    timeoutMs: 0,
    onTimeout: "EXIT_EARLY",
  };
}

/** Tests of runs that no process executes. */
export function journalRunsSuite(use: UseJournal): void {
  lookingSuite(use);
  runListSuite(use);
  creationSuite(use);
  deletionSuite(use);
  endedReviewsSuite(use);
}
