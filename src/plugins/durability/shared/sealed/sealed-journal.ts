import type {
  Claim,
  ClaimEnd,
  ClaimRequest,
  Journal,
  JournalCodec,
  JournalEntry,
  KeptEntry,
  KeptRun,
  Renewal,
  RunFilter,
  RunPage,
  RunStart,
} from "../../../../contracts/journal.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import type { ReviewStore } from "../../../../contracts/review.js";
import type { Awaitable } from "../../../../contracts/types.js";
import { isThenable } from "../../../../util/objects.js";
import { isSealedRun, RunSealer } from "./sealed-data.js";
import { SealedReviews } from "./sealed-reviews.js";

/**
 * Returns a journal that encrypts the texts for another journal. The codec converts inputs, values,
 * hashes, results, reasons, reviews and decisions. Ids, keys and kinds of entries, names of
 * ensembles and tasks, tags, owners, instants, counts and totals stay readable. Data that is not
 * encrypted, or was moved from another place, is refused. Runs that were stored without a key are
 * only in `list`.
 */
export function sealedJournal(journal: Journal, codec: JournalCodec): Journal {
  return new SealedJournal(journal, codec);
}

class SealedJournal implements Journal {
  readonly name: string;
  readonly isVolatile: boolean | undefined;
  readonly reviews: ReviewStore;
  readonly #journal: Journal;
  readonly #codec: JournalCodec;
  readonly #sealer: RunSealer;
  /** The claims of the underlying journal. */
  readonly #claims = new Map<string, Claim>();
  /** Entries that are being encrypted. They are passed to the journal in the order of the calls. */
  #sealing: Promise<unknown> = Promise.resolve();
  #sealingCount = 0;

  constructor(journal: Journal, codec: JournalCodec) {
    this.name = `${journal.name}, sealed`;
    this.isVolatile = journal.isVolatile;
    this.#journal = journal;
    this.#codec = codec;
    this.#sealer = new RunSealer(codec);
    this.reviews = new SealedReviews(journal.reviews, this.#sealer);
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const { signal } = request;
    signal.throwIfAborted();
    const start = await this.#sealer.sealStart(request.start);
    await this.get(start.runId); // a run that can't be decrypted is not claimed
    const claim = await this.#journal.claim({ ...request, start });
    try {
      const record = await this.#sealer.openRun(claim.record);
      const entries = await this.#openAll(claim.entries, start.runId);
      this.#claims.set(claim.runId, { ...claim, entries: [] });
      return { ...claim, record, entries };
    } catch (error) {
      await this.#journal.release(claim, endBefore(claim.record));
      throw error;
    }
  }

  async append(claim: Claim, entry: JournalEntry): Promise<void> {
    const text = this.#codec.seal(this.#sealer.entryText(entry), claim.runId);
    const { key, kind, task, covers } = entry;
    const facts = { key, kind, task, covers, value: undefined };
    await this.#inOrder(text, (sealed) =>
      this.#journal.append(this.#own(claim), this.#sealer.sealedEntry(facts, sealed)),
    );
  }

  async renew(claim: Claim): Promise<Renewal> {
    const renewal = await this.#journal.renew(this.#own(claim));
    if (renewal.state === "lost" || renewal.cancelReason === undefined) return renewal;
    const cancelReason = await this.#sealer.openReason(renewal.cancelReason, claim.runId);
    return { ...renewal, cancelReason };
  }

  async release(claim: Claim, { status, waitsFor, result }: ClaimEnd): Promise<void> {
    const end = {
      status,
      ...(waitsFor !== undefined && {
        waitsFor: await this.#sealer.sealText(waitsFor, claim.runId),
      }),
      ...(result !== undefined && { result: await this.#sealer.sealResult(result) }),
    };
    await this.#sealing;
    await this.#journal.release(this.#own(claim), end);
    this.#claims.delete(claim.runId);
  }

  async get(runId: string): Promise<KeptRun | undefined> {
    const run = await this.#journal.get(runId);
    return run === undefined ? undefined : this.#sealer.openRun(run);
  }

  async list(filter?: RunFilter): Promise<RunPage> {
    const page = await this.#journal.list(filter);
    const runs: KeptRun[] = [];
    for (const run of page.runs)
      runs.push(isSealedRun(run) ? await this.#openedIfPossible(run) : run);
    return { ...page, runs };
  }

  /**
   * Returns the run unchanged if the key does not decrypt it. Other runs of a list must not depend
   * on it.
   */
  async #openedIfPossible(run: KeptRun): Promise<KeptRun> {
    try {
      return await this.#sealer.openRun(run);
    } catch (error) {
      if (JournalError.isInstance(error)) return run;
      throw error;
    }
  }

  async entries(runId: string): Promise<readonly KeptEntry[]> {
    return this.#openAll(await this.#journal.entries(runId), runId);
  }

  async create(start: RunStart, entries: readonly JournalEntry[], waitsFor: string): Promise<void> {
    const { runId } = start;
    const sealed: JournalEntry[] = [];
    for (const entry of entries) sealed.push(await this.#sealer.sealEntry(entry, runId));
    const reason = await this.#sealer.sealText(waitsFor, runId);
    await this.#journal.create(await this.#sealer.sealStart(start), sealed, reason);
  }

  async amend(runId: string, entry: JournalEntry): Promise<void> {
    await this.#journal.amend(runId, await this.#sealer.sealEntry(entry, runId));
  }

  async cancel(runId: string, reason: string): Promise<boolean> {
    return this.#journal.cancel(runId, await this.#sealer.sealText(reason, runId));
  }

  delete(runId: string): Promise<boolean> {
    return this.#journal.delete(runId);
  }

  async close(): Promise<void> {
    await this.#sealing;
    await this.#journal.close();
  }

  #own(claim: Claim): Claim {
    const own = this.#claims.get(claim.runId);
    return own?.epoch === claim.epoch ? own : claim;
  }

  async #openAll(entries: readonly KeptEntry[], runId: string): Promise<readonly KeptEntry[]> {
    const opened: KeptEntry[] = [];
    for (const entry of entries) opened.push(await this.#sealer.openEntry(entry, runId));
    return opened;
  }

  /**
   * Passes a text to `handOver` after the previous texts. Passes it at once if the codec is
   * synchronous.
   */
  async #inOrder<T>(sealed: Awaitable<string>, handOver: (text: string) => Promise<T>): Promise<T> {
    if (this.#sealingCount === 0 && !isThenable(sealed)) return handOver(sealed);
    this.#sealingCount++;
    const before = this.#sealing;
    const handed = (async (): Promise<{ readonly result: Promise<T> }> => {
      try {
        const text = await sealed;
        await before;
        return { result: handOver(text) };
      } finally {
        this.#sealingCount--;
      }
    })();
    this.#sealing = handed.catch(() => undefined); // the caller receives the error
    return (await handed).result;
  }
}

/**
 * Returns the end for a claimed run that can't be decrypted. This is its previous state, except for
 * an execution whose process died.
 */
function endBefore({ status, waitsFor, result }: KeptRun): ClaimEnd {
  return { status: status === "running" ? "failed" : status, waitsFor, result };
}
