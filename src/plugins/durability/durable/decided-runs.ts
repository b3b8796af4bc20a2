import type { KeptRun } from "../../../contracts/journal.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { ReviewStore } from "../../../contracts/review.js";
import { toError } from "../../../util/errors.js";
import { readsReviewsOfRun } from "../shared/reviews-of-run.js";

/** The result of `resumeAll` for one run. */
export interface ResumedRun {
  readonly runId: string;
  readonly output?: EnsembleOutput | undefined;
  /** The reason why the run failed or was skipped. */
  readonly error?: Error | undefined;
}

/** Runs that can be continued, and runs whose reviews can't be read. */
export interface Resumable {
  readonly runs: readonly KeptRun[];
  /** Runs that are skipped because their reviews can't be read. */
  readonly unreadable: readonly ResumedRun[];
}

/**
 * Returns the runs of `waiting` without an open review. Never rejects. A run whose reviews can't be
 * read is skipped. If the store can't list reviews, every run is skipped.
 */
export async function decidedOf(
  waiting: readonly KeptRun[],
  reviews: ReviewStore,
): Promise<Resumable> {
  const runs: KeptRun[] = [];
  const unreadable: ResumedRun[] = [];
  const leaveOut = (error: unknown, { runId }: KeptRun): void =>
    void unreadable.push({ runId, error: toError(error) });
  if (waiting.length === 0) return { runs, unreadable };
  let open: ReadonlySet<string>;
  try {
    open = new Set((await reviews.pending()).map(({ runId }) => runId));
  } catch (error) {
    for (const run of waiting) leaveOut(error, run);
    return { runs, unreadable };
  }
  for (const run of waiting)
    try {
      if (!open.has(run.runId) && !(await hasOpenReview(run, reviews))) runs.push(run);
    } catch (error) {
      leaveOut(error, run);
    }
  return { runs, unreadable };
}

/**
 * Returns whether a run has an open review. `pending()` omits reviews that can't be read, so the
 * reviews of the run are read strictly.
 */
async function hasOpenReview({ runId }: KeptRun, reviews: ReviewStore): Promise<boolean> {
  return readsReviewsOfRun(reviews) && (await reviews.pendingOf(runId)).length > 0;
}
