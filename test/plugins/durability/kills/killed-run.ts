// Runs of a program that is killed repeatedly, and the state of its journal after each kill.
import { join } from "node:path";
import { expect } from "chai";
import type { Journal } from "../../../../src/contracts/journal.js";
import type { StoredReview } from "../../../../src/contracts/review.js";
import { ReviewDecision } from "../../../../src/contracts/review.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import type { JournalPlace } from "./journal-place.js";
import type { Counts } from "./counting-world.js";
import type { Kill } from "./killed-process.js";
import type { RunSummary } from "./summary.js";
import { answeredIn, countOf, CountingWorld } from "./counting-world.js";
import { journalAt } from "./journal-place.js";
import { execute } from "./killed-process.js";

/** Texts that were sent, by the key of the call. */
type Mails = ReadonlyMap<string, readonly string[]>;

const RUNS = ["team", "graph", "map-reduce"];
const ANSWER_EVERY_MS = 25;

/** The end of a program, and its cost. */
export interface Outcome {
  readonly runs: readonly RunSummary[];
  readonly paid: Counts;
  readonly payments: ReadonlyMap<string, string>;
  readonly mails: Mails;
  /** Billed by the vendor. */
  readonly tokens: { readonly input: number; readonly output: number };
  readonly kills: number;
  /** Calls with an answer in the journal at the end. */
  readonly answered: Counts;
}

/** Calls whose answers the journal has acknowledged, by content. */
async function acknowledged(journal: Journal): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const runId of RUNS)
    for (const { kind, value } of await journal.entries(runId))
      if (kind === "call")
        for (const hash of new Set(answeredIn(JSON.stringify(value)))) countOf(counts, hash);
  return counts;
}

/** A reviewer who settles sent mails, and accepts each text with a changed end. */
function decisionOn(
  { timing, prompt = "", taskOutput }: StoredReview,
  mails: Mails,
): ReviewDecision {
  if (timing === "AFTER_EXECUTION") return ReviewDecision.edit(`${taskOutput}!`);
  const key = /executed \((.*)\)\. Continue/.exec(prompt)?.[1] ?? "";
  const sent = mails.get(key)?.[0];
  return sent === undefined ? ReviewDecision.continue() : ReviewDecision.edit(`done ${sent}`);
}

/** Answers reviews until `stop` is called. */
export function answering(journal: Journal, mails: Mails): () => Promise<void> {
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      for (const review of await journal.reviews.pending())
        await journal.reviews.resolve(review.reviewId, decisionOn(review, mails));
      await new Promise((resolve) => setTimeout(resolve, ANSWER_EVERY_MS));
    }
  };
  const working = work();
  return () => {
    isOver = true;
    return working;
  };
}

/**
 * No execution repeats an answered call. `whole`: the calls of an undisturbed program. `before`:
 * the answered calls.
 */
function expectNothingPaidAgain(
  paid: Counts,
  { whole, before, at }: { readonly whole: Counts; readonly before: Counts; readonly at: string },
): void {
  for (const [hash, calls] of paid)
    expect(calls, `calls of content ${hash} after ${at}`).to.be.at.most(
      (whole.get(hash) ?? 0) - (before.get(hash) ?? 0),
    );
}

/**
 * Runs the program until it is done, with kills from `kills`. `whole`: the calls of an undisturbed
 * program.
 */
export async function runKilled(
  place: JournalPlace,
  kills: Iterator<Kill, undefined>,
  o: { readonly seed?: number; readonly whole?: Counts } = {},
): Promise<Outcome> {
  const world = await CountingWorld.start();
  const journal = journalAt(place);
  const stop = answering(journal, world.mails);
  const outside = world.outside(join(temporaryFolder(), "memory.jsonl"));
  const listen = (fn: () => void): void => void (world.onRequest = fn);
  const paid = new Map<string, number>();
  try {
    for (let count = 0, at = "the start"; ; count++) {
      const before = await acknowledged(journal);
      const next = kills.next();
      const runs = await execute(place, outside, { kill: next.value, listen });
      const { whole } = o;
      if (whole !== undefined) expectNothingPaidAgain(world.paid, { whole, before, at });
      for (const [hash, calls] of world.paid) paid.set(hash, (paid.get(hash) ?? 0) + calls);
      world.paid.clear();
      at = `kill ${count + 1} of FUZZ_SEED=${o.seed}: ${JSON.stringify(next.value)}`;
      if (runs === undefined) continue;
      const { payments, mails, tokens } = world;
      const answered = await acknowledged(journal);
      return { runs, paid, answered, tokens, payments, mails, kills: count };
    }
  } finally {
    await stop();
    await journal.close();
    await world.close();
  }
}
