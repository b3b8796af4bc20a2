import assert from "node:assert/strict";
import type { Journal } from "../../contracts/journal.js";
import type { JournalContractOptions, JournalUnderTest, UseJournal } from "./journal-scenario.js";
import { ReviewDecision } from "../../contracts/review.js";
import { checkOptions } from "../../contracts/validation.js";
import { firstEnding } from "../../util/abort/timeouts.js";
import { assertClosed, journalClaimsSuite } from "./journal-claims.js";
import { journalEntriesSuite, sharedEntriesSuite } from "./journal-entries.js";
import { journalRunsSuite, reviewNamed } from "./journal-runs.js";
import {
  claimRun,
  entryNamed,
  keptRun,
  keysIn,
  noSignal,
  RESULT,
  writeEntries,
} from "./journal-scenario.js";
import { reviewStoreContract } from "./review-store-contract.js";

/** Time limit of a wait that must end. */
const END_MS = 2_000;

/** Reopens the journal under test. */
async function reopened({ journal, reopen }: JournalUnderTest): Promise<Journal> {
  await journal.close();
  return (await reopen?.()) ?? assert.fail("a journal that reopens needs `reopen`");
}

function closeSuite(use: UseJournal): void {
  it("completes pending writes when it is closed, and then rejects calls", () =>
    use(async (scenario) => {
      const { journal } = scenario;
      const claim = await claimRun(journal, "r");
      const writing = ["a", "b"].map((key) => journal.append(claim, entryNamed(key)));
      await journal.close();
      await Promise.all(writing);
      await assertClosed(scenario, claim);
      await journal.close();
    }));
  it("ends waits for a review when it is closed", () =>
    use(async ({ journal }) => {
      await journal.reviews.ask(reviewNamed("r", "a"));
      const waiting = assert.rejects(journal.reviews.waitFor("r-a", noSignal()));
      await journal.close();
      assert.equal(await firstEnding(waiting, { timeoutMs: END_MS }), "done");
      await waiting;
    }));
}

function reopeningSuite(use: UseJournal): void {
  it("keeps runs, entries and reviews after it was closed", () =>
    use(async (scenario) => {
      const { journal } = scenario;
      const claim = await claimRun(journal, "r");
      await writeEntries(journal, claim, ["a", entryNamed("k", { kind: "intent" })]);
      await journal.release(claim, { status: "waiting", waitsFor: "Ana", result: RESULT });
      await journal.create({ ...claim.record, runId: "s" }, [], "x");
      await journal.reviews.ask(reviewNamed("r", "a"));
      await journal.reviews.ask(reviewNamed("r", "b"));
      await journal.reviews.resolve("r-b", ReviewDecision.edit("better", { by: "ana" }));
      const before = [await journal.list(), await journal.entries("r"), await journal.reviews.pending()]; // prettier-ignore
      const again = await reopened(scenario);
      const after = [await again.list(), await again.entries("r"), await again.reviews.pending()];
      assert.equal(JSON.stringify(after), JSON.stringify(before));
      const decision = await again.reviews.waitFor("r-b", noSignal());
      assert.deepEqual([decision.type, decision.revisedOutput, decision.by], ["EDIT", "better", "ana"]); // prettier-ignore
      const resumed = await claimRun(again, "r");
      await writeEntries(again, resumed, ["a", "b"]);
      assert.deepEqual(keysIn(await again.entries("r")), ["a", "k", "b"]);
    }));
  it("keeps the entries of a claim that was never released", () =>
    use(async (scenario) => {
      const { journal, abandon } = scenario;
      const claim = await claimRun(journal, "r", { leaseMs: 500 });
      await writeEntries(journal, claim, ["a"]);
      await abandon?.(claim);
      const again = await reopened(scenario);
      assert.equal((await keptRun(again, "r")).status, "running");
      const { entries, record } = await claimRun(again, "r");
      assert.deepEqual([keysIn(entries), record.executions], [["a"], 2]);
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every journal should pass.
 * They include the tests of its review store.
 *
 * @example
 * journalContract("mine", { create: async () => ({ journal: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function journalContract(name: string, options: JournalContractOptions): void {
  checkOptions("journalContract()", options, ["create", "reopens", "shared"]);
  const { reopens = false, shared = false } = options;
  const use: UseJournal = async (body) => {
    const subject = await options.create();
    try {
      if (shared) assert.ok(subject.another, "a shared journal needs `another`");
      const other = (await subject.another?.()) ?? subject.journal;
      await body({ ...subject, other });
    } finally {
      await subject.journal.close();
      await subject.dispose?.();
    }
  };
  describe(`journal contract: ${name}`, () => {
    journalClaimsSuite(use);
    journalEntriesSuite(use);
    journalRunsSuite(use);
    closeSuite(use);
    if (shared) sharedEntriesSuite(use);
    if (reopens) reopeningSuite(use);
    reviewStoreContract(`${name}, reviews`, {
      reopens,
      create: async () => {
        const subject = await options.create();
        const { journal, dispose } = subject;
        return {
          store: journal.reviews,
          reopen: async () => (await reopened(subject)).reviews,
          dispose: async () => {
            await journal.close();
            await dispose?.();
          },
        };
      },
    });
  });
}
