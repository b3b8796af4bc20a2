import { watch, type FSWatcher } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type {
  ReviewDecision,
  ReviewRequest,
  ReviewResolution,
  StoredReview,
} from "../../../../contracts/review.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { ReviewError } from "../../../../contracts/state-errors.js";
import { fileNameOfId } from "../../../../util/files/id-file-name.js";
import { writeFileOnce } from "../../../../util/files/write-once.js";
import { asFields, codeOf } from "../../../../util/objects.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { systemClock } from "../../../../util/runtime.js";
import { ReviewListeners } from "../../../shared/review-listeners.js";
import type { ReviewsOfRun } from "../reviews-of-run.js";
import { withJournalErrors } from "./file-errors.js";

/**
 * Interval in milliseconds of reads that find decisions without a notification of the file system.
 */
const POLL_MS = 1_000;
const ASKED = ".review.json";
const DECIDED = ".decision.json";

/** A run in this process that waits for a decision. */
interface ReviewWait {
  readonly reviewId: string;
  readonly base: string;
  settle(decision: ReviewDecision): void;
  fail(error: Error): void;
}

interface FileReviewsOptions {
  /** The folder of the reviews: one file per question and one per decision. */
  readonly folder: string;
  /** Shown in the command that answers a review. */
  readonly url: string;
  /** Whether the run is completed or cancelled, so that its reviews have expired. */
  readonly isOver: (runId: string) => Promise<boolean>;
}

/**
 * The reviews of the runs of a folder. Any process may answer. The file of a decision is created
 * atomically. The first decision counts.
 */
export class FileReviews implements ReviewsOfRun {
  readonly #o: FileReviewsOptions;
  readonly #waits = new Set<ReviewWait>();
  readonly #listeners = new ReviewListeners();
  /** Bases of the reviews that were reported as unreadable. */
  readonly #reported = new Set<string>();
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(o: FileReviewsOptions) {
    this.#o = o;
  }

  async ask(request: Omit<ReviewRequest, "signal">): Promise<StoredReview> {
    const { reviewId, runId } = request;
    const text = JSON.stringify(request);
    if ([...this.#waits].some((wait) => wait.reviewId === reviewId))
      throw new ReviewError(`Review '${reviewId}' is waiting already`, {
        hint: "Two runs at once can't have the same runId where people are asked.",
      });
    return this.#act(`Asking in ${this.#o.folder}`, async () => {
      const base = baseOf(runId, reviewId);
      const isNew = await writeFileOnce(join(this.#o.folder, `${base}${ASKED}`), text);
      const review = await this.#read(base);
      if (review === undefined) throw new ReviewError(`Review '${reviewId}' was removed`);
      if (isNew) this.#listeners.notify(review);
      return review;
    });
  }

  /**
   * Returns the open reviews. Omits reviews that can't be read. A process warning names each such
   * file once.
   */
  pending(): Promise<readonly StoredReview[]> {
    return this.#openReviews("", (error, base) => {
      if (!JournalError.isInstance(error)) throw error;
      if (this.#reported.has(base)) return;
      this.#reported.add(base);
      emitProcessWarning(`A review is left out of the inbox: ${error.message}`);
    });
  }

  /** @throws JournalError if a review of the run can't be read. */
  pendingOf(runId: string): Promise<readonly StoredReview[]> {
    return this.#openReviews(prefixOf(runId), (error) => {
      throw error;
    });
  }

  #openReviews(
    prefix: string,
    onUnreadable: (error: unknown, base: string) => void,
  ): Promise<readonly StoredReview[]> {
    return this.#act(`Reading ${this.#o.folder}`, async () => {
      const waiting: StoredReview[] = [];
      for (const base of await this.#undecided()) {
        if (!base.startsWith(prefix)) continue;
        try {
          const review = await this.#read(base);
          if (review !== undefined && (await this.#isOpen(review))) waiting.push(review);
        } catch (error) {
          onUnreadable(error, base);
        }
      }
      return waiting.sort((a, b) => (a.requestedAt < b.requestedAt ? -1 : 1));
    });
  }

  async resolve(reviewId: string, decision: ReviewDecision): Promise<ReviewResolution> {
    const checked = asReviewDecision(decision);
    return this.#act(`Answering in ${this.#o.folder}`, async () => {
      const base = await this.#baseOf(reviewId);
      const review = base === undefined ? undefined : await this.#read(base);
      if (base === undefined || review === undefined) return { outcome: "unknown" };
      if (review.decision !== undefined) return { outcome: "decided", review };
      if (!(await this.#isOpen(review))) return { outcome: "over", review };
      const decidedAt = systemClock.now().toISOString();
      const text = JSON.stringify({ decision: checked, decidedAt });
      const path = join(this.#o.folder, `${base}${DECIDED}`);
      const outcome = (await writeFileOnce(path, text)) ? "resolved" : "decided";
      void this.#look();
      return { outcome, review: (await this.#read(base)) ?? review };
    });
  }

  async waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    const base = await this.#act(`Reading ${this.#o.folder}`, () => this.#baseOf(reviewId));
    const review = base === undefined ? undefined : await this.#read(base);
    if (base === undefined || review === undefined)
      throw new ReviewError(`There is no review '${reviewId}'`);
    if (review.decision !== undefined) return review.decision;
    signal.throwIfAborted();
    this.#requireOpen();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => wait.fail(signal.reason as Error); // the reason of the caller
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.#waits.delete(wait);
        if (this.#waits.size === 0) this.#stopLooking();
      };
      const wait: ReviewWait = {
        reviewId,
        base,
        settle: (decision) => {
          leave();
          resolve(decision);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waits.add(wait);
      this.#startLooking();
    });
  }

  onRequest(fn: (review: StoredReview) => unknown): () => void {
    return this.#listeners.add(fn);
  }

  isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  howToAnswer(reviewId: string): string {
    return `agentensemble reviews answer ${reviewId} continue --store '${this.#o.url}'`;
  }

  /** Removes the reviews of a run. */
  async forget(runId: string): Promise<void> {
    const prefix = prefixOf(runId);
    for (const name of await this.#names())
      if (name.startsWith(prefix)) await rm(join(this.#o.folder, name), { force: true });
  }

  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
    for (const { fail } of this.#waits) fail(closedError());
  }

  async #names(): Promise<readonly string[]> {
    return readdir(this.#o.folder).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
  }

  async #undecided(): Promise<readonly string[]> {
    const names = new Set(await this.#names());
    return [...names]
      .filter((name) => name.endsWith(ASKED))
      .map((name) => name.slice(0, -ASKED.length))
      .filter((base) => !names.has(`${base}${DECIDED}`));
  }

  async #baseOf(reviewId: string): Promise<string | undefined> {
    const end = `${fileNameOfId(reviewId, ASKED, "review")}`;
    const name = (await this.#names()).find((one) => one.slice(PREFIX_LENGTH) === end);
    return name?.slice(0, -ASKED.length);
  }

  /**
   * Returns the question, with its decision if there is one.
   * @throws JournalError for an invalid file.
   */
  async #read(base: string): Promise<StoredReview | undefined> {
    const asked = await readFields(join(this.#o.folder, `${base}${ASKED}`));
    if (asked === undefined) return undefined;
    const path = join(this.#o.folder, `${base}${DECIDED}`);
    const decided = await readFields(path);
    const request = asked as unknown as StoredReview; // written by ask()
    if (decided === undefined) return Object.freeze(request);
    const decision = await withJournalErrors(`Reading ${path}`, async () =>
      asReviewDecision(decided["decision"]),
    );
    return Object.freeze({ ...request, decision, decidedAt: String(decided["decidedAt"]) });
  }

  async #isOpen({ decision, deadline, runId }: StoredReview): Promise<boolean> {
    if (decision !== undefined) return false;
    if (deadline !== undefined && Date.parse(deadline) <= systemClock.now().getTime()) return false;
    return !(await this.#o.isOver(runId));
  }

  #startLooking(): void {
    this.#poll ??= setInterval(() => void this.#look(), POLL_MS);
    if (this.#watcher === undefined) {
      try {
        const watcher = watch(this.#o.folder, { persistent: false }, () => void this.#look());
        watcher.on("error", () => watcher.close()); // the timer also reads the decision
        this.#watcher = watcher;
      } catch {
        // the timer reads the decision
      }
    }
    void this.#look(); // the review may have been decided since the last read
  }

  #stopLooking(): void {
    clearInterval(this.#poll);
    this.#watcher?.close();
    [this.#poll, this.#watcher] = [undefined, undefined];
  }

  async #look(): Promise<void> {
    for (const { base, settle, fail } of [...this.#waits]) {
      try {
        const decision = (await this.#read(base))?.decision;
        if (decision !== undefined) settle(decision);
      } catch (error) {
        fail(error as Error); // a JournalError of #read
      }
    }
  }

  #act<T>(what: string, work: () => Promise<T>): Promise<T> {
    return withJournalErrors(what, async () => {
      this.#requireOpen();
      return work();
    });
  }

  #requireOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

const closedError = (): JournalError => new JournalError("The journal has been closed");

const PREFIX_LENGTH = 17;

/** Returns the prefix of the files of the reviews of a run. */
function prefixOf(runId: string): string {
  return `${createHash("sha256")
    .update(runId)
    .digest("hex")
    .slice(0, PREFIX_LENGTH - 1)}-`;
}

function baseOf(runId: string, reviewId: string): string {
  return `${prefixOf(runId)}${fileNameOfId(reviewId, ASKED, "review").slice(0, -ASKED.length)}`;
}

/**
 * Returns the JSON object in a file. Returns `undefined` without a file.
 * @throws JournalError for any other content.
 */
async function readFields(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return withJournalErrors(`Reading ${path}`, async () => {
    try {
      const fields = asFields(JSON.parse(await readFile(path, "utf8")));
      if (fields === undefined) throw new Error("it is not a review");
      return fields;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error instanceof SyntaxError ? new Error("it is not JSON") : error;
    }
  });
}
