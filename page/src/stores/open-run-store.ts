import { signal, type ReadonlySignal } from "@preact/signals";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { RunBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { EventsFrame } from "../../../src/plugins/dashboard/protocol/messages.js";
import {
  createRunState,
  type NumberedReducer,
} from "../../../src/plugins/dashboard/protocol/run-state.js";
import type { RunView } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { ApiError, type Api } from "../api.js";
import type { ConnectionStore } from "./connection-store.js";
import type { Environment } from "./environment.js";

/**
 * A run for display. `view` is the state of the reducer and changes in place with the next entries.
 * Components therefore depend on `tick`, the number of frames.
 */
export interface OpenRun {
  readonly runId: string;
  readonly view: RunView;
  readonly tick: number;
  /**
   * Number of the entry up to which the page fetched the state after it was too slow. Otherwise
   * `undefined`.
   */
  readonly caughtUpAt: number | undefined;
  /**
   * The shown instant of a run that is played, in milliseconds since 1970. Absent for the current
   * state.
   */
  readonly untilMs?: number | undefined;
}

export type OpenRunState =
  | { readonly kind: "none" }
  | { readonly kind: "loading"; readonly runId: string }
  | { readonly kind: "missing"; readonly runId: string }
  | { readonly kind: "failed"; readonly runId: string; readonly error: ApiError }
  | { readonly kind: "ready"; readonly runId: string; readonly run: OpenRun };

export interface OpenRunStore {
  readonly state: ReadonlySignal<OpenRunState>;
  /** Follows only this run. `undefined`: follows none. */
  open(runId: string | undefined): void;
  /** Fetches the open run again. */
  reload(): void;
  /**
   * Calls `fn` with the entries of the open run when they arrive, before they are drawn. Passes an
   * empty list if the state was fetched instead.
   */
  onEntries(fn: (entries: readonly LogEntry[], runId: string) => void): () => void;
}

interface Needs {
  readonly connection: ConnectionStore;
  readonly api: Api;
  readonly env: Environment;
}

export function createOpenRunStore(needs: Needs): OpenRunStore {
  return new FollowedRun(needs);
}

class FollowedRun implements OpenRunStore {
  readonly state = signal<OpenRunState>({ kind: "none" });
  readonly #needs: Needs;
  readonly #listeners = new Set<(entries: readonly LogEntry[], runId: string) => void>();
  #runId: string | undefined;
  #reducer: NumberedReducer | undefined;
  #epoch = "";
  #tick = 0;
  #isDrawing = false;
  #caughtUpAt: number | undefined;
  /** Counts fetches: the answer of an earlier fetch has no effect. */
  #fetch = 0;
  #isLoading = false;

  constructor(needs: Needs) {
    this.#needs = needs;
    needs.connection.onFrame((frame) => {
      if (frame.type === "hello") this.#resume(frame.epoch);
      else if (frame.type === "events" && frame.runId === this.#runId) this.#take(frame);
      else if (frame.type === "resync" && frame.runId === this.#runId) this.#catchUp(frame.n);
    });
  }

  open(runId: string | undefined): void {
    if (runId === this.#runId) return;
    if (this.#runId !== undefined)
      this.#needs.connection.send({ type: "unsubscribe", runId: this.#runId });
    this.#runId = runId;
    this.#reducer = undefined;
    this.#caughtUpAt = undefined;
    this.state.value = runId === undefined ? { kind: "none" } : { kind: "loading", runId };
    this.reload();
  }

  reload(): void {
    if (this.#runId !== undefined) void this.#load(this.#runId, ++this.#fetch);
  }

  onEntries(fn: (entries: readonly LogEntry[], runId: string) => void): () => void {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  }

  async #load(runId: string, fetch: number): Promise<void> {
    this.#isLoading = true;
    try {
      const { snapshot, epoch } = await this.#needs.api.get<RunBody>(
        `/api/runs/${encodeURIComponent(runId)}`,
      );
      if (fetch !== this.#fetch) return;
      this.#reducer = createRunState({ snapshot });
      this.#epoch = epoch;
      this.#subscribe(runId);
      for (const listener of [...this.#listeners]) listener([], runId);
      this.#draw();
    } catch (error) {
      if (fetch !== this.#fetch) return;
      if (!(error instanceof ApiError)) throw error;
      // The shown state remains while the program can't be reached.
      if (error.status === 0 && this.#reducer !== undefined) return;
      this.state.value =
        error.status === 404 ? { kind: "missing", runId } : { kind: "failed", runId, error };
    } finally {
      if (fetch === this.#fetch) this.#isLoading = false;
    }
  }

  #subscribe(runId: string): void {
    const after = this.#reducer?.view.n ?? -1;
    this.#needs.connection.send({ type: "subscribe", runId, after, epoch: this.#epoch });
  }

  /**
   * After a new connection: continues after the last entry, or begins again after another start of
   * the server.
   */
  #resume(epoch: string): void {
    if (this.#runId === undefined) return;
    // Subscribes when the state has arrived.
    if (this.#reducer === undefined && this.#isLoading) return;
    if (this.#reducer !== undefined && epoch === this.#epoch) this.#subscribe(this.#runId);
    else this.reload();
  }

  #catchUp(n: number): void {
    this.#caughtUpAt = n;
    this.reload();
  }

  #take({ events, runId }: EventsFrame): void {
    const reducer = this.#reducer;
    if (reducer === undefined) return;
    // Pieces of answers have the number of the previous entry.
    for (const entry of events) if (entry.type !== "token") reducer.apply(entry);
    for (const listener of [...this.#listeners]) listener(events, runId);
    this.#draw();
  }

  /** Shows new data, once per frame. */
  #draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#needs.env.nextFrame(() => {
      this.#isDrawing = false;
      const [runId, view] = [this.#runId, this.#reducer?.view];
      if (runId === undefined || view === undefined) return;
      const run = { runId, view, tick: ++this.#tick, caughtUpAt: this.#caughtUpAt };
      this.state.value = { kind: "ready", runId, run };
    });
  }
}
