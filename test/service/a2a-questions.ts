import type { Task } from "@a2a-js/sdk";
import { reviewOf } from "../../src/plugins/network/shared/a2a/review-message.js";

/** The review that a task requests. */
export function contentsOfReview({ status }: Task): { readonly reviewId: string } {
  const review = reviewOf(status?.message);
  if (review === undefined) throw new Error("The task asks nothing");
  return review;
}
