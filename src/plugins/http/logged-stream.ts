import type { LogEntry, RunStore } from "../../contracts/run-store.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { PageStream } from "../shared/ui-stream/page-stream.js";
import { sleep } from "../../util/abort/timeouts.js";
import { storedChunks } from "../shared/ui-stream/stored-chunks.js";

/** Time in milliseconds after which a log without new entries is read again. */
const LOG_PAUSE_MS = 250;
/**
 * Maximum number of reads after a run has ended, until the log contains the end. Logs are written
 * in batches.
 */
const LAST_LOOKS = 8;

/** The sources for rebuilding a stream. */
export interface FollowedRun {
  readonly log: RunStore;
  readonly runId: string;
  /**
   * Returns whether the run is in progress in this process. Returns `undefined` if it did not run
   * here.
   */
  readonly isLive: () => boolean | undefined;
  /** Whether the stream ends when the run waits for people. */
  readonly endsAtApproval: boolean;
  /** Whether the log shows that the run waits for people in another process. */
  readonly waitsElsewhere: boolean;
}

/**
 * Rebuilds the stream of a run from its log. The stream contains the recorded entries. While the
 * run is in progress in this process, further entries follow. The last part is the end or an error.
 */
export function loggedStream(run: FollowedRun, page: PageStream): ChunkSource {
  const end = new AbortController();
  const { runId, isLive, endsAtApproval, waitsElsewhere } = run;
  const mayPause = (): boolean => endsAtApproval && (isLive() ?? waitsElsewhere);
  const store = { read: followed(run, end.signal, () => page.waitsForPeople && mayPause()) };
  const chunks = storedChunks(store, runId, page, mayPause);
  return {
    next: async () => {
      const result = await chunks.next();
      return result.done === true ? undefined : result.value;
    },
    leave: () => end.abort(new Error("The reader has left")),
  };
}

/**
 * Reads a log. At its end, waits for more entries while the run is in progress and does not pause.
 */
function followed(
  { log, isLive }: FollowedRun,
  signal: AbortSignal,
  isPaused: () => boolean,
): RunStore["read"] {
  let looks = 0;
  let hasEnd = false;
  return async (id, after, limit): Promise<readonly LogEntry[]> => {
    for (;;) {
      const goesOn = isLive();
      const entries = await log.read(id, after, limit);
      hasEnd ||= entries.some(({ type }) => type === "ensemble_completed");
      if (entries.length > 0 || hasEnd || goesOn === undefined || looks >= LAST_LOOKS)
        return entries;
      if (goesOn && isPaused()) return entries;
      if (!goesOn) looks++;
      await sleep(LOG_PAUSE_MS, signal);
    }
  };
}
