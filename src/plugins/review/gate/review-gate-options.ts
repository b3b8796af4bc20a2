import type { OnReviewTimeout, ReviewStore } from "../../../contracts/review.js";
import { checkReviewOptions } from "../../../contracts/review.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview } from "../../../contracts/validation.js";

/** Options of `review`: the defaults of all reviews. */
export interface ReviewPluginOptions {
  /** Time limit of an answer in milliseconds. 0 means no limit. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * The reaction to the time limit. With CONTINUE, the approval of a tool call still ends as
   * EXIT_EARLY, because no reviewer has approved the call. Default EXIT_EARLY.
   */
  readonly onTimeout?: OnReviewTimeout | undefined;
  /**
   * The store of reviews for ensembles without a `reviewHandler`. It is bound to
   * `Tokens.ReviewStore`. Default: in memory.
   */
  readonly store?: ReviewStore | undefined;
}

/** The defaults of every review. */
export interface ReviewDefaults {
  readonly timeoutMs: number;
  readonly onTimeout: OnReviewTimeout;
}

const STORE_METHODS = ["ask", "pending", "resolve", "waitFor", "onRequest", "isWatched"] as const;

function isFunction(store: ReviewStore | null, name: (typeof STORE_METHODS)[number]): boolean {
  return typeof store?.[name] === "function";
}

/** @throws ValidationError for an unknown option or a value out of range. */
export function resolveReviewOptions(
  options: ReviewPluginOptions,
): ReviewDefaults & Pick<ReviewPluginOptions, "store"> {
  checkOptions("review", options, ["timeoutMs", "onTimeout", "store"]);
  checkReviewOptions("review", options);
  const { store } = options;
  if (store !== undefined && !STORE_METHODS.every((name) => isFunction(store, name)))
    throw new ValidationError(`review store must be a ReviewStore, got: ${preview(store)}`, {
      hint: "Make it with reviewInbox().",
    });
  return Object.freeze({
    store,
    timeoutMs: options.timeoutMs ?? 300_000,
    onTimeout: options.onTimeout ?? "EXIT_EARLY",
  });
}
