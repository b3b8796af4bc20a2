import type { OnReviewTimeout } from "../../../contracts/review.js";
import { checkReviewOptions } from "../../../contracts/review.js";
import { checkOptions } from "../../../contracts/validation.js";

/** Options of `review`: what holds for a review that says nothing else. */
export interface ReviewPluginOptions {
  /** How long an answer is waited for, in milliseconds; 0 waits for ever. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /** Default EXIT_EARLY. With CONTINUE the approval of a tool call still ends as EXIT_EARLY: nobody has approved it. */
  readonly onTimeout?: OnReviewTimeout | undefined;
}

/** What holds for every review that says nothing else. */
export interface ReviewDefaults {
  readonly timeoutMs: number;
  readonly onTimeout: OnReviewTimeout;
}

/** @throws ValidationError for what does not fit. */
export function resolveReviewOptions(options: ReviewPluginOptions): ReviewDefaults {
  checkOptions("review", options, ["timeoutMs", "onTimeout"]);
  checkReviewOptions("review", options);
  return Object.freeze({
    timeoutMs: options.timeoutMs ?? 300_000,
    onTimeout: options.onTimeout ?? "EXIT_EARLY",
  });
}
