import type { LogEntry } from "../../../contracts/run-store.js";
import type { UIChunk } from "../../../contracts/ui-stream.js";
import type { Board } from "../board.js";
import type { AnswerPlace } from "../feed/run-log.js";
import type { ReadableRun } from "../stores/board-runs.js";
import type { CountedStream } from "./entry-events.js";
import { asText } from "../../../util/objects.js";
import { chunkResponse } from "../../shared/ui-stream/chunk-response.js";
import { pageStream } from "../../shared/ui-stream/open-chunks.js";
import { storedChunks } from "../../shared/ui-stream/stored-chunks.js";

interface UIStreamRequest {
  readonly signal: AbortSignal;
  readonly openStream: CountedStream;
  /** The only task whose text is shown. Default: all tasks. */
  readonly taskId: string | undefined;
}

/**
 * Returns a run as a UI message stream of the AI SDK, from its first entry. Continues with new
 * entries and the text that the models stream. The disconnection of a client does not affect the
 * run.
 */
export function uiStream(board: Board, run: ReadableRun, o: UIStreamRequest): Response {
  const { taskId } = o;
  const entries = new FollowedEntries(board, run, o);
  const { runId } = run.summary;
  const text = taskId === undefined ? "all" : (task: { readonly taskId: string }) => task.taskId === taskId; // prettier-ignore
  const page = pageStream(runId, { protocol: "ui", text });
  const chunks = storedChunks(entries, runId, page);
  const source = {
    next: async (): Promise<UIChunk | undefined> => {
      const { done, value } = await chunks.next();
      if (done !== true && !entries.isLeft) return value;
      entries.end();
      return undefined;
    },
    leave: () => entries.end(),
  };
  return chunkResponse(source, { protocol: "ui" });
}

/** The full entries of a run, interleaved with pieces of text. Waits for new entries. */
class FollowedEntries {
  readonly #board: Board;
  readonly #run: ReadableRun;
  readonly #ends: (() => void)[] = [];
  readonly #places = new Map<string, AnswerPlace>();
  /** The sent part of the answer in progress, by task. */
  readonly #sent = new Map<string, string>();
  readonly #writing = new Set<string>();
  #wake: () => void = () => undefined;
  #isOver = false;

  constructor(board: Board, run: ReadableRun, { signal, openStream }: UIStreamRequest) {
    this.#board = board;
    this.#run = run;
    const end = (): void => this.end();
    this.#ends.push(
      openStream(end),
      board.feed.watch(),
      board.feed.listen({
        onEntry: (log) => this.#changed(log),
        onToken: (log, taskId) => {
          if (log === run) this.#writing.add(taskId);
          this.#changed(log);
        },
      }),
    );
    signal.addEventListener("abort", end, { once: true });
  }

  /** Whether the client has disconnected, or the server ends, before the end of the run. */
  get isLeft(): boolean {
    return this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const end of this.#ends) end();
    this.#wake();
  }

  /** Like `RunStore.read`. Returns an empty list at the end of the run. */
  async read(_runId: string, after: number, limit: number): Promise<readonly LogEntry[]> {
    for (;;) {
      const run = this.#run;
      if (this.#isOver) return [];
      const count = Math.min(limit, run.n - after);
      if (count > 0)
        return Array.from({ length: count }, (_, i) =>
          this.#withRest(run.entry(after + 1 + i, "full")),
        ).flat();
      const pieces = this.#pieces();
      if (pieces.length > 0) return pieces;
      if (run.ended) return [];
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /**
   * Returns the text that models have streamed since the last call. It has the number of the last
   * entry.
   */
  #pieces(): readonly LogEntry[] {
    const log = this.#board.feed.get(this.#run.summary.runId);
    if (log === undefined || log !== this.#run) return [];
    const now = this.#board.clock.now().toISOString();
    const tasks = [...this.#writing];
    this.#writing.clear();
    return tasks.flatMap((taskId) => {
      const piece = log.answerAfter(taskId, this.#places.get(taskId), now);
      if (piece === undefined) return [];
      this.#places.set(taskId, piece.place);
      const { begins, token } = piece.entry;
      const before = begins === true ? "" : (this.#sent.get(taskId) ?? "");
      this.#sent.set(taskId, before + asText(token));
      return [{ ...piece.entry, ...log.named(taskId) }];
    });
  }

  /**
   * Returns an entry, preceded by the rest of the answer that it ends. The last piece is held back
   * until then.
   */
  #withRest(entry: LogEntry): readonly LogEntry[] {
    const { type, taskId, outcome, responseText } = entry;
    if (taskId === undefined) return [entry];
    const sent = this.#sent.get(taskId) ?? "";
    // Another attempt creates another answer.
    if (type === "usage_recorded" && outcome !== "ok") this.#sent.delete(taskId);
    if (type !== "llm_iteration_completed") return [entry];
    this.#sent.delete(taskId);
    const text = asText(responseText);
    if (sent === "" || text === sent || !text.startsWith(sent)) return [entry];
    const { n, at, agentRole } = entry;
    return [{ n, at, type: "token", taskId, agentRole, token: text.slice(sent.length) }, entry];
  }

  #changed(log: unknown): void {
    if (log === this.#run) this.#wake();
  }
}
