import type { KeptRun } from "../../../contracts/journal.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { ReviewStore } from "../../../contracts/review.js";
import { toError } from "../../../util/errors.js";
import { readsReviewsOfRun } from "../shared/reviews-of-run.js";

/** The result of `resumeAll` for one run. */
export interface ResumedRun {
  readonly runId: string;
  readonly output?: EnsembleOutput | undefined;
  /** Why the run failed, or was left out. */
  readonly error?: Error | undefined;
}

/** Runs that can be continued, and runs of which that is unknown. */
export interface Resumable {
  readonly runs: readonly KeptRun[];
  /** Runs that are left out because their reviews cannot be read. */
  readonly unreadable: readonly ResumedRun[];
}

/**
 * Those of `waiting` that have no open review. Never rejects: where one review cannot be read, the reviews are read run by run, so that only its own run is
 * left out. A store that can't do so leaves out all.
 */
export async function decidedOf(
  waiting: readonly KeptRun[],
  reviews: ReviewStore,
): Promise<Resumable> {
  if (waiting.length === 0) return { runs: [], unreadable: [] };
  try {
    const open = new Set((await reviews.pending()).map(({ runId }) => runId));
    return { runs: waiting.filter(({ runId }) => !open.has(runId)), unreadable: [] };
  } catch (error) {
    return decidedRunByRun(waiting, reviews, toError(error));
  }
}

async function decidedRunByRun(
  waiting: readonly KeptRun[],
  reviews: ReviewStore,
  error: Error,
): Promise<Resumable> {
  if (!readsReviewsOfRun(reviews))
    return { runs: [], unreadable: waiting.map(({ runId }) => ({ runId, error })) };
  const runs: KeptRun[] = [];
  const unreadable: ResumedRun[] = [];
  for (const run of waiting) {
    const { runId } = run;
    try {
      if ((await reviews.pendingOf(runId)).length === 0) runs.push(run);
    } catch (cause) {
      unreadable.push({ runId, error: toError(cause) });
    }
  }
  return { runs, unreadable };
}
