import type {
  ReviewDecision,
  ReviewRequest,
  ReviewResolution,
  ReviewStore,
  StoredReview,
} from "../../../../contracts/review.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { requireFunction } from "../../../../contracts/validation.js";
import { parseJson } from "../../../../util/json/parse-json.js";
import { asFields, asText } from "../../../../util/objects.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { readsReviewsOfRun, type ReviewsOfRun } from "../reviews-of-run.js";
import type { RunSealer } from "./sealed-data.js";

/** A review store that encrypts questions and answers for another store. */
export class SealedReviews implements ReviewStore {
  readonly #store: ReviewStore;
  readonly #sealer: RunSealer;
  /** Ids of reviews that were reported as omitted. */
  readonly #reported = new Set<string>();
  readonly howToAnswer?: (reviewId: string) => string;
  readonly pendingOf?: ReviewsOfRun["pendingOf"];

  constructor(store: ReviewStore, sealer: RunSealer) {
    this.#store = store;
    this.#sealer = sealer;
    if (store.howToAnswer !== undefined) this.howToAnswer = (id) => store.howToAnswer?.(id) ?? "";
    if (readsReviewsOfRun(store))
      this.pendingOf = async (runId) => this.#opened(await store.pendingOf(runId));
  }

  async ask(request: Omit<ReviewRequest, "signal">): Promise<StoredReview> {
    const { reviewId, runId, taskId, timing, requestedAt, deadline, timeoutMs, onTimeout } =
      request;
    const sealed = await this.#sealer.sealText(JSON.stringify(request), runId);
    const asked = await this.#store.ask({
      ...{ reviewId, runId, taskId, timing, requestedAt, timeoutMs, onTimeout },
      ...(deadline !== undefined && { deadline }),
      agentRole: "",
      taskDescription: sealed,
      taskOutput: "",
    });
    return this.#open(asked);
  }

  /**
   * Returns the open reviews. Omits reviews that can't be decrypted. One process warning reports
   * the new ones.
   */
  async pending(): Promise<readonly StoredReview[]> {
    return this.#opened(await this.#store.pending());
  }

  async #opened(sealed: readonly StoredReview[]): Promise<readonly StoredReview[]> {
    const reviews: StoredReview[] = [];
    const unopened: { readonly reviewId: string; readonly error: JournalError }[] = [];
    for (const review of sealed) {
      try {
        reviews.push(await this.#open(review));
      } catch (error) {
        if (!JournalError.isInstance(error)) throw error;
        unopened.push({ reviewId: review.reviewId, error });
      }
    }
    this.#report(unopened.filter(({ reviewId }) => !this.#reported.has(reviewId)));
    return reviews;
  }

  async resolve(reviewId: string, decision: ReviewDecision): Promise<ReviewResolution> {
    const checked = asReviewDecision(decision);
    const waiting = (await this.#store.pending()).find((review) => review.reviewId === reviewId);
    // A review of another key must not be answered with this key.
    if (waiting !== undefined) await this.#open(waiting);
    // A review that does not wait is not decided.
    const sealed = await this.#sealDecision(reviewId, waiting?.runId ?? "", checked);
    const { outcome, review } = await this.#store.resolve(reviewId, sealed);
    return review === undefined ? { outcome } : { outcome, review: await this.#open(review) };
  }

  async waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    return this.#openDecision(reviewId, await this.#store.waitFor(reviewId, signal));
  }

  onRequest(fn: (review: StoredReview) => unknown): () => void {
    requireFunction("onRequest's argument", fn);
    return this.#store.onRequest(async (review) => fn(await this.#open(review)));
  }

  isWatched(): boolean {
    return this.#store.isWatched();
  }

  #report(unopened: readonly { readonly reviewId: string; readonly error: JournalError }[]): void {
    const [first] = unopened;
    if (first === undefined) return;
    for (const { reviewId } of unopened) this.#reported.add(reviewId);
    const { reviewId, error } = first;
    emitProcessWarning(
      `${unopened.length} sealed reviews are left out of the inbox, such as '${reviewId}': ${error.message}`,
    );
  }

  /** Encrypts a decision. The store keeps its type, and the encrypted decision as a comment. */
  async #sealDecision(
    reviewId: string,
    runId: string,
    decision: ReviewDecision,
  ): Promise<ReviewDecision> {
    const text = JSON.stringify({ reviewId, decision });
    const comment = JSON.stringify({ runId, sealed: await this.#sealer.sealText(text, runId) });
    const { type } = decision;
    return { type, comment, ...(type === "EDIT" && { revisedOutput: "" }) };
  }

  /** @throws JournalError for a decision that was not encrypted for this review. */
  async #openDecision(reviewId: string, { comment }: ReviewDecision): Promise<ReviewDecision> {
    const { runId, sealed } = asFields(parseJson(comment ?? "")) ?? {};
    if (typeof runId !== "string" || typeof sealed !== "string") throw forged(reviewId);
    const opened = asFields(parseJson(await this.#sealer.openText(sealed, runId)));
    if (opened?.["reviewId"] !== reviewId) throw forged(reviewId);
    return asReviewDecision(opened["decision"]);
  }

  async #open(review: StoredReview): Promise<StoredReview> {
    const { reviewId, runId, decision, decidedAt } = review;
    const text = await this.#sealer.openText(review.taskDescription, runId);
    const opened = asFields(parseJson(text));
    if (asText(opened?.["reviewId"]) !== reviewId) throw forged(reviewId);
    return Object.freeze({
      ...(opened as unknown as StoredReview), // encrypted by ask()
      ...(decision !== undefined && { decision: await this.#openDecision(reviewId, decision) }),
      ...(decidedAt !== undefined && { decidedAt }),
    });
  }
}

function forged(reviewId: string): JournalError {
  return new JournalError(`Review '${reviewId}' is not what was sealed`, {
    hint: "It was asked or answered without the key, or was changed by another program.",
  });
}
