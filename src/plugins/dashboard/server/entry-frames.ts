import type { RunLog } from "../feed/run-log.js";
import type { LogEntry } from "../../../contracts/run-store.js";

/** The text of a frame with entries, up to number `to`. */
export interface EntryFrame {
  readonly to: number;
  readonly bytes: Uint8Array;
}

/**
 * Creates the frames with entries. Clients at the same position of a run receive the same bytes.
 */
export class EntryFrames {
  readonly #maxBytes: number;
  readonly #shared = new Map<RunLog, Map<number, EntryFrame>>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Removes the bytes of the last flush. */
  clear(): void {
    this.#shared.clear();
  }

  /** Returns the next frame after number `sent`. Entries of `watched` tasks are full. */
  after(log: RunLog, sent: number, watched: ReadonlyMap<string, unknown>): EntryFrame {
    if (watched.size > 0) return this.#make(log, sent, (n) => watched.has(log.taskOf(n) ?? ""));
    const frames = this.#shared.get(log) ?? new Map<number, EntryFrame>();
    this.#shared.set(log, frames);
    let frame = frames.get(sent);
    if (frame === undefined) frames.set(sent, (frame = this.#make(log, sent, () => false)));
    return frame;
  }

  #make(log: RunLog, sent: number, isFull: (n: number) => boolean): EntryFrame {
    const texts: string[] = [];
    let length = 0;
    let to = sent;
    while (to < log.n && length < this.#maxBytes) {
      to++;
      const text = log.text(to, isFull(to) ? "full" : "slim");
      texts.push(text);
      length += text.length;
    }
    return { to, bytes: frameBytes(log.runId, to, texts) };
  }
}

/** Returns a frame with pieces of streamed answers, which are not entries. */
export function pieceFrame(log: RunLog, sent: number, pieces: readonly LogEntry[]): Uint8Array {
  return frameBytes(
    log.runId,
    sent,
    pieces.map((piece) => JSON.stringify(piece)),
  );
}

export function frameBytes(runId: string, to: number, texts: readonly string[]): Uint8Array {
  const head = `{"type":"events","runId":${JSON.stringify(runId)},"to":${to}`;
  return Buffer.from(`${head},"events":[${texts.join(",")}]}`);
}
