import assert from "node:assert/strict";
import type { Claim, Journal, RunStatus } from "../../contracts/journal.js";
import { RunInUseError } from "../../contracts/journal-errors.js";
import { sleep } from "../../util/abort/timeouts.js";
import type { JournalScenario, UseJournal } from "./journal-scenario.js";
import {
  asJson,
  assertInstant,
  claimOfTheDead,
  claimRun,
  entryNamed,
  keptRun,
  keysIn,
  noSignal,
  rejectsWith,
  RESULT,
  SHORT_MS,
  plannedStart,
  writeEntries,
} from "./journal-scenario.js";

/**
 * The lease of two concurrent claimants in milliseconds. The one that gets the run renews it until
 * the other has given up.
 */
const RIVAL_MS = 500;

const ENDS: readonly Exclude<RunStatus, "running">[] = [
  "waiting",
  "interrupted",
  "failed",
  "cancelled",
  "completed",
];

/** Claims a run, and renews it until `over()`. */
async function claimAndRenew(journal: Journal, owner: string, over: () => boolean): Promise<Claim> {
  const claim = await claimRun(journal, "r", { owner, leaseMs: RIVAL_MS });
  while (!over()) {
    await sleep(RIVAL_MS / 20);
    assert.equal((await journal.renew(claim)).state, "held");
  }
  return claim;
}

function firstClaimSuite(use: UseJournal): void {
  it("returns a new run without entries, as its first execution", () =>
    use(async ({ journal }) => {
      const start = plannedStart("r", { tags: { team: "a" }, parentRunId: "p" });
      const { runId, record, entries, epoch } = await claimRun(journal, start);
      assert.deepEqual([runId, entries, Number.isSafeInteger(epoch)], ["r", [], true]);
      const { executions, fruitlessExecutions, finishedTasks } = record;
      assert.deepEqual([executions, fruitlessExecutions, finishedTasks], [1, 0, 0]);
      assertInstant(record.startedAt);
    }));
  it("returns a run in progress with its start and its owner", () =>
    use(async ({ journal, other }) => {
      const start = plannedStart("r", {
        tags: { team: "a" },
        parentRunId: "p",
        inputs: [{ a: null }],
      });
      const claim = await claimRun(journal, start, { owner: "host:7" });
      await writeEntries(journal, claim, [entryNamed("T", { kind: "task" }), "S"]);
      const { startedAt, updatedAt, owner, ...run } = await keptRun(other, "r");
      const counts = { executions: 1, fruitlessExecutions: 0, finishedTasks: 1 };
      assert.deepEqual(asJson(run), asJson({ ...start, status: "running", ...counts }));
      assert.equal(owner, "host:7");
      for (const instant of [startedAt, updatedAt]) assertInstant(instant);
    }));
  it("refuses a run that another process executes, and names that process", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r", { owner: "host:7" });
      const error = await rejectsWith("AE_RUN_IN_USE", () =>
        claimRun(other, "r", { owner: "host:8", leaseMs: SHORT_MS }),
      );
      assert.ok(RunInUseError.isInstance(error));
      assert.deepEqual([error.runId, error.owner], ["r", "host:7"]);
      assert.equal((await journal.renew(claim)).state, "held");
    }));
}

function rivalSuite(use: UseJournal): void {
  it("grants a run to only one of two concurrent claims", () =>
    use(async ({ journal, other }) => {
      let failed: unknown;
      const attempts = [journal, other].map((one, n) =>
        claimAndRenew(one, `host:${n}`, () => failed !== undefined).catch((error: unknown) => {
          assert.equal(failed, undefined, "none of the two got the run");
          failed = error;
          return undefined;
        }),
      );
      const [won] = (await Promise.all(attempts)).filter((claim) => claim !== undefined);
      assert.ok(won !== undefined && RunInUseError.isInstance(failed), String(failed));
      assert.equal((await keptRun(journal, "r")).owner, failed.owner);
    }));
  it("ends the wait for a run at its signal, and leaves the claim to the holder", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      const ended = AbortSignal.abort(new Error("no longer wanted"));
      const request = { start: plannedStart("r"), owner: "o", leaseMs: 60_000, signal: ended };
      await assert.rejects(other.claim(request), /no longer wanted/);
      await assert.rejects(
        other.claim({ ...request, start: plannedStart("s") }),
        /no longer wanted/,
      );
      assert.equal((await journal.renew(claim)).state, "held");
      assert.equal(await journal.get("s"), undefined);
    }));
}

function takeoverSuite(use: UseJournal): void {
  it("lets another process claim the run of a dead process, with all written entries", () =>
    use(async (scenario) => {
      const dead = await claimOfTheDead(scenario, "r", (claim) =>
        writeEntries(scenario.journal, claim, ["a", "b"]),
      );
      const claim = await claimRun(scenario.other, "r", { owner: "alive:2" });
      assert.deepEqual([keysIn(claim.entries), claim.record.executions], [["a", "b"], 2]);
      assert.ok(claim.epoch > dead.epoch, `epoch ${claim.epoch} after ${dead.epoch}`);
      assert.equal((await keptRun(scenario.other, "r")).owner, "alive:2");
    }));
  it("refuses writes of a claim that another process has replaced", () =>
    use(async (scenario) => {
      const { journal, other } = scenario;
      const lost = await claimOfTheDead(scenario, "r", (claim) =>
        writeEntries(journal, claim, ["a"]),
      );
      const claim = await claimRun(other, "r");
      await writeEntries(other, claim, ["b"]);
      await rejectsWith("AE_RUN_FENCED", () => journal.append(lost, entryNamed("late")));
      assert.equal((await journal.renew(lost)).state, "lost");
      await journal.release(lost, { status: "failed" });
      await writeEntries(other, claim, ["c"]);
      assert.deepEqual(keysIn(await other.entries("r")), ["a", "b", "c"]);
      assert.equal((await keptRun(other, "r")).status, "running");
      assert.equal((await other.renew(claim)).state, "held");
    }));
  it("keeps a claim that is renewed beyond its lease", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r", { leaseMs: 600 });
      for (let n = 0; n < 2; n++) {
        await sleep(400);
        assert.equal((await journal.renew(claim)).state, "held");
      }
      await rejectsWith("AE_RUN_IN_USE", () => claimRun(other, "r", { leaseMs: SHORT_MS }));
    }));
  it("counts consecutive executions whose process died without writing an entry", () =>
    use(async (scenario) => {
      const { journal, other } = scenario;
      const crash = (work?: (claim: Claim) => Promise<unknown>): Promise<Claim> =>
        claimOfTheDead(scenario, "r", work);
      const counts = [(await crash()).record, (await crash()).record];
      const third = await crash((claim) => writeEntries(journal, claim, ["a"]));
      const fourth = await crash();
      const fifth = await claimRun(other, "r");
      counts.push(third.record, fourth.record, fifth.record);
      await other.release(fifth, { status: "waiting" });
      counts.push((await claimRun(journal, "r")).record);
      assert.deepEqual(
        counts.map(({ fruitlessExecutions }) => fruitlessExecutions),
        [0, 1, 2, 0, 1, 0],
      );
      assert.equal(counts.at(-1)?.executions, 6);
    }));
}

function executionEndSuite(use: UseJournal): void {
  it("stores the result of an execution without an owner", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      await journal.release(claim, { status: "completed", result: RESULT });
      const { status, result, owner, waitsFor, startedAt, updatedAt } = await keptRun(other, "r");
      assert.deepEqual([status, owner, waitsFor], ["completed", undefined, undefined]);
      assert.deepEqual(asJson(result), asJson(RESULT));
      assert.ok(startedAt <= updatedAt);
    }));
  it("returns a run unchanged and with all entries to the next claim, for each status", () =>
    use(async ({ journal, other }) => {
      for (const [n, status] of ENDS.entries()) {
        const waitsFor = status === "waiting" ? "an answer" : undefined;
        const result = status === "waiting" ? undefined : RESULT;
        const first = await claimRun(journal, `r${n}`);
        await writeEntries(journal, first, ["a"]);
        await journal.release(first, { status, waitsFor, result });
        const again = await claimRun(
          other,
          plannedStart(`r${n}`, { inputs: "others", tags: { a: "b" } }),
        );
        assert.deepEqual(
          asJson([again.record, keysIn(again.entries), again.epoch > first.epoch]),
          asJson([
            {
              ...plannedStart(`r${n}`),
              startedAt: first.record.startedAt,
              updatedAt: again.record.updatedAt,
              status,
              waitsFor,
              result,
              executions: 2,
              fruitlessExecutions: 0,
              finishedTasks: 0,
            },
            ["a"],
            true,
          ]),
        );
        assert.equal((await keptRun(journal, `r${n}`)).status, "running");
      }
    }));
  it("releases the claim at the end of the execution", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      await journal.release(claim, { status: "waiting", waitsFor: "an answer" });
      assert.equal((await keptRun(other, "r")).waitsFor, "an answer");
      assert.equal((await journal.renew(claim)).state, "lost");
      await rejectsWith("AE_RUN_FENCED", () => journal.append(claim, entryNamed("late")));
      await journal.release(claim, { status: "failed" });
      const { status } = await keptRun(other, "r");
      assert.deepEqual([status, await other.entries("r")], ["waiting", []]);
    }));
}

function cancelSuite(use: UseJournal): void {
  it("reports a cancellation to the holder at each renewal, until the run is cancelled", () =>
    use(async ({ journal, other }) => {
      const claim = await claimRun(journal, "r");
      assert.deepEqual(asJson(await journal.renew(claim)), { state: "held" });
      assert.equal(await other.cancel("r", "too dear"), true);
      const held = { state: "held", cancelReason: "too dear" };
      assert.deepEqual(asJson(await journal.renew(claim)), held);
      assert.equal((await keptRun(other, "r")).cancelReason, "too dear");
      await journal.release(claim, { status: "cancelled" });
      const { status, cancelReason } = await keptRun(other, "r");
      assert.deepEqual([status, cancelReason], ["cancelled", "too dear"]);
      const again = await claimRun(other, "r");
      assert.deepEqual(asJson(await other.renew(again)), { state: "held" });
      assert.equal((await keptRun(journal, "r")).cancelReason, undefined);
      await other.release(again, { status: "cancelled" });
      assert.equal((await keptRun(journal, "r")).cancelReason, undefined);
    }));
  it("cancels a run whose execution ends without handling the cancellation", () =>
    use(async ({ journal, other }) => {
      for (const status of ["waiting", "interrupted"] as const) {
        const claim = await claimRun(journal, status);
        assert.equal(await other.cancel(status, "too dear"), true);
        await journal.release(claim, { status, waitsFor: "Ana" });
        const { cancelReason, waitsFor, ...kept } = await keptRun(other, status);
        const expected = ["cancelled", "too dear", undefined];
        assert.deepEqual([kept.status, cancelReason, waitsFor], expected, status);
        assert.equal(await other.cancel(status, "again"), false);
      }
    }));
  it("immediately cancels a run that no process executes", () =>
    use(async (scenario) => {
      const { journal, other } = scenario;
      await journal.release(await claimRun(journal, "r"), { status: "waiting", waitsFor: "Ana" });
      await claimOfTheDead(scenario, "s");
      await sleep(2 * SHORT_MS);
      for (const id of ["r", "s"]) {
        assert.equal(await other.cancel(id, "too late"), true);
        const { status, waitsFor, cancelReason } = await keptRun(journal, id);
        assert.deepEqual([status, waitsFor, cancelReason], ["cancelled", undefined, "too late"]);
      }
    }));
  it("returns false when it cancels an unknown or ended run", () =>
    use(async ({ journal, other }) => {
      assert.equal(await other.cancel("unknown", "x"), false);
      assert.equal(await other.get("unknown"), undefined);
      for (const status of ["completed", "cancelled"] as const) {
        await journal.release(await claimRun(journal, status), { status, result: RESULT });
        assert.equal(await other.cancel(status, "x"), false, status);
        assert.deepEqual((await keptRun(other, status)).status, status);
      }
    }));
}

/** Tests of claims, leases and ends of executions. */
export function journalClaimsSuite(use: UseJournal): void {
  firstClaimSuite(use);
  rivalSuite(use);
  takeoverSuite(use);
  executionEndSuite(use);
  cancelSuite(use);
}

/** Fails if a claim is still possible. For closed journals. */
export async function assertClosed({ journal }: JournalScenario, claim: Claim): Promise<void> {
  const signal = noSignal();
  const { reviews } = journal;
  const calls: readonly (() => Promise<unknown>)[] = [
    () => journal.claim({ start: plannedStart("s"), owner: "o", leaseMs: SHORT_MS, signal }),
    () => journal.append(claim, entryNamed("late")),
    () => journal.renew(claim),
    () => journal.release(claim, { status: "failed" }),
    () => journal.get("r"),
    () => journal.list(),
    () => journal.entries("r"),
    () => journal.create(plannedStart("s"), [], "x"),
    () => journal.amend("r", entryNamed("late")),
    () => journal.cancel("r", "x"),
    () => journal.delete("r"),
    async () => reviews.pending(),
  ];
  for (const call of calls) await assert.rejects(call, `${String(call)} went on after close()`);
}
