import type { EnsembleEvent, Ev } from "../../../contracts/events.js";
import type { LogEntry, RunStore } from "../../../contracts/run-store.js";
import type { UIChunk } from "../../../contracts/ui-stream.js";
import type { PageEnd, PageStream } from "./page-stream.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { codeOf } from "../../../util/objects.js";
import { ChunkBuffer } from "./chunk-buffer.js";

/** Entries that are read at a time. */
const PAGE = 200;

const TIMEOUT = "AE_RUN_TIMEOUT";

/**
 * The parts of a run that is not running any more, made of its log: those that were recorded, then the end. A run that never ended ends with an error.
 * Where people are waited for and `mayPause` returns true, it ends as a response that waits for them. Nothing for a run without entries. What the store throws passes.
 */
export async function* storedChunks(
  store: Pick<RunStore, "read">,
  runId: string,
  stream: PageStream,
  mayPause: () => boolean = () => false,
): AsyncGenerator<UIChunk, void, void> {
  const buffer = new ChunkBuffer();
  const ending = new RecordedEnd();
  let after = -1;
  for (;;) {
    const entries = await store.read(runId, after, PAGE);
    if (entries.length === 0) break;
    for (const entry of entries) {
      const event = eventOf(entry);
      ending.take(event);
      buffer.add(stream.take(event));
      after = entry.n;
    }
    yield* drainedChunks(buffer);
  }
  if (after < 0) return;
  if (ending.end === undefined && stream.waitsForPeople && mayPause()) buffer.add(stream.pause());
  else buffer.add(stream.end(ending.end ?? { kind: "failed", error: interrupted(runId) }));
  yield* drainedChunks(buffer);
}

/** How a run ended, by its events. */
class RecordedEnd {
  #failure: AgentEnsembleError | undefined;
  /** Absent where the run did not end, or has gone on since. */
  end: PageEnd | undefined;

  take(event: EnsembleEvent): void {
    if (event.type === "ensemble_started") {
      this.#failure = undefined;
      this.end = undefined;
    } else if (event.type === "task_failed") {
      // No event reports that a run exceeded its time limit.
      if (codeOf(event.cause) === TIMEOUT)
        this.#failure = new AgentEnsembleError(TIMEOUT, "The run did not finish in time");
    } else if (event.type === "run_failed") {
      this.#failure = new AgentEnsembleError(event.code, event.message);
    } else if (event.type === "ensemble_completed") this.end = this.#endOf(event);
  }

  #endOf({ exitReason }: Ev<"ensemble_completed">): PageEnd {
    if (exitReason !== "ERROR" && exitReason !== "TIMEOUT") return { kind: "ended", exitReason };
    if (this.#failure !== undefined) return { kind: "failed", error: this.#failure };
    return exitReason === "TIMEOUT"
      ? { kind: "ended", exitReason } // a review whose time was over
      : { kind: "failed", error: new Error("The run failed") };
  }
}

function* drainedChunks(buffer: ChunkBuffer): Generator<UIChunk, void, void> {
  for (let chunk = buffer.shift(); chunk !== undefined; chunk = buffer.shift()) yield chunk;
}

/** An entry has the fields of the event that it is made of. */
function eventOf(entry: LogEntry): EnsembleEvent {
  return entry as unknown as EnsembleEvent;
}

function interrupted(runId: string): AgentEnsembleError {
  return new AgentEnsembleError(
    "AE_RUN_INTERRUPTED",
    `The process of run '${runId}' ended before the run did`,
  );
}
