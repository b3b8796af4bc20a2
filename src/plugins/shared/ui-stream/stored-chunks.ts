import type { EnsembleEvent, Ev } from "../../../contracts/events.js";
import type { LogEntry, RunStore } from "../../../contracts/run-store.js";
import type { UIChunk } from "../../../contracts/ui-stream.js";
import type { PageEnd, PageStream } from "./page-stream.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { asText, codeOf } from "../../../util/objects.js";
import { ChunkBuffer } from "./chunk-buffer.js";

/** Number of entries in one read. */
const PAGE = 200;

const TIMEOUT = "AE_RUN_TIMEOUT";

/**
 * Yields the parts of a run that is not in progress, from its log: the recorded parts, then the
 * end. A run without an end gets an error. If the run waits for people and `mayPause` returns true,
 * the response pauses. Yields nothing for a run without entries. Errors of the store are thrown
 * unchanged. The page executes a call only if the response pauses without the output of the call.
 */
export async function* storedChunks(
  store: Pick<RunStore, "read">,
  runId: string,
  stream: PageStream,
  mayPause: () => boolean = () => false,
): AsyncGenerator<UIChunk, void, void> {
  const buffer = new ChunkBuffer();
  const ending = new RecordedEnd();
  const calls = new ClientCalls(stream);
  let after = -1;
  for (;;) {
    const entries = await store.read(runId, after, PAGE);
    if (entries.length === 0) break;
    for (const entry of entries) {
      const event = eventOf(entry);
      ending.take(event);
      buffer.add(calls.holdBack(stream.take(event)));
      after = entry.n;
    }
    yield* drainedChunks(buffer);
  }
  if (after < 0) return;
  if (ending.end === undefined && stream.waitsForPeople && mayPause())
    buffer.add([...calls.open(), ...stream.pause()]);
  else buffer.add(stream.end(ending.end ?? { kind: "failed", error: interrupted(runId) }));
  yield* drainedChunks(buffer);
}

/** The calls that the page must execute, without calls that have ended. */
class ClientCalls {
  readonly #stream: PageStream;
  readonly #open = new Map<unknown, UIChunk>();

  constructor(stream: PageStream) {
    this.#stream = stream;
  }

  /** Returns the parts except those that make the page execute a call. */
  holdBack(chunks: readonly UIChunk[]): readonly UIChunk[] {
    return chunks.filter((chunk) => {
      const { type, toolCallId } = chunk;
      if (type.startsWith("tool-output-")) this.#open.delete(toolCallId);
      const isForPage =
        type === "tool-input-available" && this.#stream.clientCalls.has(asText(toolCallId));
      if (isForPage) this.#open.set(toolCallId, chunk);
      return !isForPage;
    });
  }

  /** Returns the parts of the calls whose output is awaited. */
  open(): readonly UIChunk[] {
    return [...this.#open.values()];
  }
}

/** Determines the end of a run from its events. */
class RecordedEnd {
  #failure: AgentEnsembleError | undefined;
  /** Absent if the run did not end, or continued after its end. */
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
      ? { kind: "ended", exitReason } // an expired review
      : { kind: "failed", error: new Error("The run failed") };
  }
}

function* drainedChunks(buffer: ChunkBuffer): Generator<UIChunk, void, void> {
  for (let chunk = buffer.shift(); chunk !== undefined; chunk = buffer.shift()) yield chunk;
}

/** Returns the event of an entry, which has the fields of the event. */
function eventOf(entry: LogEntry): EnsembleEvent {
  return entry as unknown as EnsembleEvent;
}

function interrupted(runId: string): AgentEnsembleError {
  return new AgentEnsembleError(
    "AE_RUN_INTERRUPTED",
    `The process of run '${runId}' ended before the run did`,
  );
}
