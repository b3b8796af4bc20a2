/**
 * The texts about reviews that models receive. `{name}` is replaced by a value. `docs/prompts.md`
 * lists the values of each text.
 */
export const REVIEW_TEMPLATES = Object.freeze({
  "review.rejected": "Tool call rejected by reviewer: {tool}",
  "review.commented": "{rejection}\nThe reviewer's comment: {comment}",
  "review.unanswered": "{rejection} (nobody answered in time)",
  "review.humanContinue": "Understood. Please continue.",
  "review.humanMissing": "No reviewer is available. Please proceed with your best judgment.",
} as const);
