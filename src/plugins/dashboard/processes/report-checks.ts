import type { StoredReview } from "../../../contracts/review.js";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { AnsweredReview } from "../protocol/messages.js";
import { asList, asText, isObject, type Fields } from "../../../util/objects.js";

const MAX_REVIEWS = 1_000;
const MAX_ID = 300;
const PROCESS_NAME = /^[\w.-]{1,64}$/;
const REVIEW_TEXTS = [
  "reviewId",
  "runId",
  "taskId",
  "taskDescription",
  "taskOutput",
  "requestedAt",
] as const;

/** Returns whether a process may have this name on the board. */
export function isProcessName(name: string): boolean {
  return PROCESS_NAME.test(name);
}

/** Returns whether a text may be an id: 1 to 300 characters, without control characters. */
export function isId(id: unknown): id is string {
  return (
    typeof id === "string" &&
    id.length > 0 &&
    id.length <= MAX_ID &&
    !/[\u0000-\u001f\u007f-\u009f]/.test(id)
  );
}

/** Returns whether data of another process has the fields of every entry. */
export function isEntry(value: unknown): value is LogEntry {
  return (
    isObject(value) &&
    Number.isSafeInteger(value["n"]) &&
    typeof value["type"] === "string" &&
    !Number.isNaN(Date.parse(asText(value["at"]))) &&
    (value["taskId"] === undefined || typeof value["taskId"] === "string")
  );
}

/** Returns the waiting reviews of a process under the ids of the board. Omits invalid items. */
export function reviewsIn(value: unknown, wholeId: (id: string) => string): StoredReview[] {
  return asList(value)
    .slice(0, MAX_REVIEWS)
    .filter((review): review is Fields => isObject(review) && isReview(review))
    .map((review) => {
      const ids = { reviewId: asText(review["reviewId"]), runId: asText(review["runId"]) };
      const { reviewId, runId } = ids;
      // The texts of the review are checked.
      return { ...review, reviewId: wholeId(reviewId), runId: wholeId(runId) } as StoredReview;
    });
}

function isReview(review: Fields): boolean {
  return (
    REVIEW_TEXTS.every((name) => typeof review[name] === "string") &&
    isId(review["reviewId"]) &&
    isId(review["runId"]) &&
    (review["requiredRole"] === undefined || typeof review["requiredRole"] === "string") &&
    (review["prompt"] === undefined || typeof review["prompt"] === "string")
  );
}

/** Returns the answered reviews of a process, like `reviewsIn`. */
export function answeredIn(value: unknown, wholeId: (id: string) => string): AnsweredReview[] {
  const names = ["reviewId", "runId", "taskId", "decision", "at"] as const;
  return asList(value)
    .slice(0, MAX_REVIEWS)
    .filter(
      (review): review is Fields =>
        isObject(review) && names.every((name) => typeof review[name] === "string"),
    )
    .map((review) => {
      const [reviewId, runId] = [asText(review["reviewId"]), asText(review["runId"])];
      // The texts of the review are checked.
      return { ...review, reviewId: wholeId(reviewId), runId: wholeId(runId) } as AnsweredReview;
    });
}
