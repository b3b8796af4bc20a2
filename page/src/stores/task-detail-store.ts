import { signal, type ReadonlySignal } from "@preact/signals";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { EntriesBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError, type Api } from "../api.js";
import type { ConnectionStore } from "./connection-store.js";
import type { Environment } from "./environment.js";
import type { OpenRunStore } from "./open-run-store.js";

/** The full entries of one task. */
export interface TaskDetail {
  readonly runId: string;
  readonly taskId: string;
  /** `loading` until the first answer. Entries that have arrived are in `entries`. */
  readonly state: "loading" | "ready" | "failed";
  readonly error?: ApiError | undefined;
  /** The entries in order, with all their texts. */
  readonly entries: readonly LogEntry[];
  /** The answer that the model is streaming. Empty between answers. */
  readonly writing: string;
  /** Milliseconds since 1970 by this machine's clock when the answer began. */
  readonly writingSinceMs: number | undefined;
}

export interface TaskDetailStore {
  readonly current: ReadonlySignal<TaskDetail | undefined>;
  /** Follows one task. `undefined`: follows none. */
  watch(runId: string | undefined, taskId: string | undefined): void;
}

interface Needs {
  readonly connection: ConnectionStore;
  readonly openRun: OpenRunStore;
  readonly api: Api;
  readonly env: Environment;
}

export function createTaskDetailStore(needs: Needs): TaskDetailStore {
  return new WatchedTask(needs);
}

/** Entries that end the answer in progress. */
const ENDS_ANSWER = new Set([
  "llm_iteration_completed",
  "task_completed",
  "task_failed",
  "usage_recorded",
]);

class WatchedTask implements TaskDetailStore {
  readonly current = signal<TaskDetail | undefined>(undefined);
  readonly #needs: Needs;
  #task: { readonly runId: string; readonly taskId: string } | undefined;
  #entries = new Map<number, LogEntry>();
  #state: TaskDetail["state"] = "loading";
  #error: ApiError | undefined;
  #writing = "";
  #writingSinceMs: number | undefined;
  #isDrawing = false;
  /** Whether entries of the task arrive in full. */
  #isWatched = false;
  /**
   * Number of pings without an answer. Only the answer to the last ping belongs to the last task.
   */
  #pings = 0;
  #fetch = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
    needs.openRun.onEntries((entries, runId) => this.#take(entries, runId));
    needs.connection.onFrame((frame) => {
      if (frame.type === "hello") this.#pings = 0;
      if (frame.type === "hello" || (frame.type === "resync" && frame.runId === this.#task?.runId))
        this.#begin();
      else if (frame.type === "pong" && --this.#pings <= 0) this.#startLoading();
    });
  }

  watch(runId: string | undefined, taskId: string | undefined): void {
    if (this.#task?.runId === runId && this.#task?.taskId === taskId) return;
    const before = this.#task;
    this.#task = runId === undefined || taskId === undefined ? undefined : { runId, taskId };
    this.#entries = new Map();
    this.#state = "loading";
    this.#endAnswer();
    if (this.#task === undefined) {
      this.#fetch++;
      this.#isWatched = false;
      if (before !== undefined)
        this.#needs.connection.send({ type: "watch", runId: before.runId, tasks: [] });
      this.current.value = undefined;
      return;
    }
    this.current.value = this.#detail(this.#task);
    this.#begin();
  }

  /**
   * Subscribes, and fetches after the server's answer to a ping. From this answer on, entries of
   * the task arrive in full. The fetched data contain the earlier entries.
   */
  #begin(): void {
    const task = this.#task;
    if (task === undefined) return;
    const { connection } = this.#needs;
    this.#fetch++;
    this.#isWatched = false;
    connection.send({ type: "watch", runId: task.runId, tasks: [task.taskId] });
    if (connection.send({ type: "ping" })) this.#pings++;
    else this.#startLoading();
  }

  #startLoading(): void {
    if (this.#task === undefined || this.#isWatched) return;
    this.#isWatched = true;
    void this.#load(this.#task, this.#fetch);
  }

  async #load({ runId, taskId }: { runId: string; taskId: string }, fetch: number): Promise<void> {
    if (this.#hasNotBegun(taskId)) {
      this.#state = "ready"; // the server has no entry of the task and would refuse
      this.#draw();
      return;
    }
    const path = `/api/runs/${encodeURIComponent(runId)}/tasks/${encodeURIComponent(taskId)}`;
    try {
      let after: number | undefined;
      do {
        const body: EntriesBody = await this.#needs.api.get(
          after === undefined ? path : `${path}?after=${after}`,
        );
        if (fetch !== this.#fetch) return;
        for (const entry of body.entries) this.#entries.set(entry.n, entry);
        after = body.next;
      } while (after !== undefined);
      this.#state = "ready";
      this.#error = undefined;
    } catch (error) {
      if (fetch !== this.#fetch) return;
      if (!(error instanceof ApiError)) throw error;
      if (this.#state === "ready") return; // the shown state remains
      this.#state = "failed";
      this.#error = error;
    }
    this.#draw();
  }

  #hasNotBegun(taskId: string): boolean {
    const state = this.#needs.openRun.state.value;
    const task = state.kind === "ready" ? state.run.view.tasks.get(taskId) : undefined;
    return task !== undefined && task.startMs === undefined;
  }

  #take(entries: readonly LogEntry[], runId: string): void {
    const { taskId } = this.#task?.runId === runId ? this.#task : {};
    if (!this.#isWatched) return;
    let isChanged = false;
    for (const entry of entries) {
      if (taskId === undefined || entry.taskId !== taskId) continue;
      isChanged = true;
      if (entry.type === "token") {
        this.#addToken(entry);
        continue;
      }
      if (ENDS_ANSWER.has(entry.type)) this.#endAnswer();
      this.#entries.set(entry.n, entry);
    }
    if (isChanged) this.#draw();
  }

  #addToken({ token, begins }: LogEntry): void {
    if (typeof token !== "string") return;
    if (begins === true || this.#writing === "") {
      this.#writing = "";
      this.#writingSinceMs = this.#needs.env.now();
    }
    this.#writing += token;
  }

  #endAnswer(): void {
    this.#writing = "";
    this.#writingSinceMs = undefined;
  }

  #detail({ runId, taskId }: { runId: string; taskId: string }): TaskDetail {
    const entries = [...this.#entries.values()].sort((a, b) => a.n - b.n);
    return {
      runId,
      taskId,
      state: this.#state,
      error: this.#error,
      entries,
      writing: this.#writing,
      writingSinceMs: this.#writingSinceMs,
    };
  }

  #draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#needs.env.nextFrame(() => {
      this.#isDrawing = false;
      if (this.#task !== undefined) this.current.value = this.#detail(this.#task);
    });
  }
}
