import type { LogEntry, RunStore } from "../../contracts/run-store.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { PageStream } from "../shared/ui-stream/page-stream.js";
import { sleep } from "../../util/abort/timeouts.js";
import { storedChunks } from "../shared/ui-stream/stored-chunks.js";

/** How long a log is left alone that has nothing new. */
const LOG_PAUSE_MS = 250;
/** So often the end of a run is looked for in its log after the run has ended: logs are written in batches. */
const LAST_LOOKS = 8;

/** What a stream is rebuilt from. */
export interface FollowedRun {
  readonly log: RunStore;
  readonly runId: string;
  /** Whether the run goes on in this process; `undefined` where it did not run here. */
  readonly isLive: () => boolean | undefined;
  /** Whether the stream ends where people are waited for. */
  readonly endsAtApproval: boolean;
  /** Whether another process waits for people, by the log. */
  readonly waitsElsewhere: boolean;
}

/** The stream of a run as its log has it: what is recorded, what is recorded until its end where it still goes on here, then the end or an error. */
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

/** Reads a log, and waits at its end for more while the run goes on and does not pause. */
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
