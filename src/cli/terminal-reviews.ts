import type { Ev } from "../contracts/events.js";
import type { Plugin } from "../contracts/plugin.js";
import type { ReviewStore, StoredReview } from "../contracts/review.js";
import type { ConsoleReviewOptions } from "../review.js";
import { definePlugin } from "../contracts/plugin.js";
import { roundedCost } from "../contracts/cost.js";
import { Tokens } from "../contracts/tokens.js";
import { ReviewHandler } from "../review.js";
import { messageOf } from "../util/errors.js";

type Streams = Required<{ readonly [K in keyof ConsoleReviewOptions]: ConsoleReviewOptions[K] }>;

/** The usage of runs so far, from their usage records. */
class Spending {
  readonly #runs = new Map<
    string,
    { tokens: number; cost: number; currency: string | undefined }
  >();

  add({ runId, inputTokens, outputTokens, cost = 0, currency }: Ev<"usage_recorded">): void {
    const known = this.#runs.get(runId) ?? { tokens: 0, cost: 0, currency };
    known.tokens += Math.max(0, inputTokens) + Math.max(0, outputTokens);
    known.cost += cost;
    known.currency ??= currency;
    this.#runs.set(runId, known);
  }

  textOf(runId: string): string {
    const { tokens, cost, currency } = this.#runs.get(runId) ?? { tokens: 0, cost: 0 };
    const money = currency === undefined ? "" : `, ${roundedCost(cost)} ${currency}`;
    return `So far: ${tokens} tokens${money}`;
  }
}

/**
 * Asks at the terminal for the reviews of an ensemble without a review handler. Ignores reviews of
 * other ensembles' runs. Shows the tokens and the cost so far.
 */
export function terminalReviews({ input, output }: Streams): Plugin {
  const spending = new Spending();
  const runs = new Set<string>();
  const open = new Map<string, AbortController>();
  const decide = ReviewHandler.console({ input, output });
  const answer = async (store: ReviewStore, review: StoredReview): Promise<void> => {
    // A store may have the runs of other processes.
    if (!runs.has(review.runId) || open.has(review.reviewId)) return;
    const asking = new AbortController();
    open.set(review.reviewId, asking);
    try {
      const prompt = [review.prompt ?? [], spending.textOf(review.runId)].flat().join("\n");
      const decision = await decide({ ...review, prompt, signal: asking.signal });
      const { outcome } = await store.resolve(review.reviewId, { ...decision, by: "terminal" });
      if (outcome !== "resolved") output?.write(`(not taken: the review is ${outcome})\n`);
    } catch (error) {
      if (!asking.signal.aborted) output?.write(`(not answered here: ${messageOf(error)})\n`);
    } finally {
      open.delete(review.reviewId);
    }
  };
  /** Questions of an earlier execution of a run are not reported again. */
  const answerKept = async (runId: string): Promise<void> => {
    try {
      for (const review of (await kept?.pending()) ?? [])
        if (review.runId === runId && kept !== undefined) void answer(kept, review);
    } catch (error) {
      output?.write(`(not answered here: ${messageOf(error)})\n`);
    }
  };
  let kept: ReviewStore | undefined;
  let stop: (() => void) | undefined;
  return definePlugin({
    name: "terminal-reviews",
    apply({ events }) {
      events.on(
        (event) => {
          if (event.type === "ensemble_started") runs.add(event.runId);
          if (event.type === "run_resumed") void answerKept(event.runId);
          if (event.type === "usage_recorded") spending.add(event);
          // Answered in another way, or expired.
          if (event.type === "review_resolved") open.get(event.reviewId)?.abort();
        },
        { only: ["ensemble_started", "run_resumed", "usage_recorded", "review_resolved"] },
      );
    },
    start({ get }) {
      const store = get(Tokens.ReviewStore);
      kept = store;
      stop = store.onRequest((review) => answer(store, review));
    },
    dispose: () => stop?.(),
  });
}
