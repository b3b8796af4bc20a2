import { signal, type ReadonlySignal } from "@preact/signals";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { EntriesBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError, type Api } from "../api.js";
import type { Environment } from "./environment.js";
import type { OpenRunStore } from "./open-run-store.js";

/** The entries of a run from the first entry on, without the texts of tasks. */
export interface RunLog {
  readonly runId: string;
  /** `loading` until the last known entry has arrived. */
  readonly state: "loading" | "ready" | "failed";
  readonly error?: ApiError | undefined;
  /** The entries in order, without a gap. */
  readonly entries: readonly LogEntry[];
  /** Whether entries after these are omitted: see {@link MOST_ENTRIES}. */
  readonly isCut: boolean;
}

export interface RunLogStore {
  readonly current: ReadonlySignal<RunLog | undefined>;
  /**
   * Follows the log of the open run. `undefined`: follows none. Fetched entries are kept while the
   * run is the same.
   */
  follow(runId: string | undefined): void;
  /** Fetches again after a failure. */
  retry(): void;
}

/** Entries beyond this number are not fetched. */
export const MOST_ENTRIES = 100_000;
const PAGE = 1_000;

interface Needs {
  readonly api: Api;
  readonly env: Environment;
  readonly openRun: OpenRunStore;
}

export function createRunLogStore(needs: Needs): RunLogStore {
  return new FollowedLog(needs);
}

class FollowedLog implements RunLogStore {
  readonly current = signal<RunLog | undefined>(undefined);
  readonly #needs: Needs;
  #runId: string | undefined;
  #entries: LogEntry[] = [];
  #isFollowing = false;
  #isFetching = false;
  #isDrawing = false;
  /** Whether entries arrived during a fetch. The answer may not contain them. */
  #isBehind = false;
  #error: ApiError | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
    needs.openRun.onEntries((entries, runId) => this.#take(entries, runId));
  }

  follow(runId: string | undefined): void {
    this.#isFollowing = runId !== undefined;
    if (runId === undefined) return;
    if (runId !== this.#runId) {
      this.#runId = runId;
      this.#entries = [];
      this.#error = undefined;
      this.#draw();
    }
    void this.#fetch(runId);
  }

  retry(): void {
    this.#error = undefined;
    if (this.#runId !== undefined) void this.#fetch(this.#runId);
  }

  get #last(): number {
    return this.#entries.at(-1)?.n ?? -1;
  }

  get #isCut(): boolean {
    return this.#entries.length >= MOST_ENTRIES;
  }

  async #fetch(runId: string): Promise<void> {
    if (this.#isFetching) return;
    this.#isFetching = true;
    this.#isBehind = false;
    try {
      for (let next: number | undefined = this.#last; next !== undefined && !this.#isCut;) {
        const path = `/api/runs/${encodeURIComponent(runId)}/log`;
        const body: EntriesBody = await this.#needs.api.get(
          `${path}?after=${next}&limit=${PAGE}&slim=true`,
        );
        if (runId !== this.#runId || !this.#isFollowing) break;
        this.#add(body.entries);
        next = body.next;
        this.#draw();
      }
      this.#error = undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#error = error;
    } finally {
      this.#isFetching = false;
      this.#draw();
    }
    const isOther = this.#runId !== runId;
    if (this.#isFollowing && this.#runId !== undefined && (isOther || this.#isBehind))
      await this.#fetch(this.#runId);
  }

  /** Adds the next entries. Omits entries that are already present. */
  #add(entries: readonly LogEntry[]): void {
    for (const entry of entries)
      if (entry.n === this.#last + 1 && entry.type !== "token" && !this.#isCut)
        this.#entries.push(entry);
  }

  #take(entries: readonly LogEntry[], runId: string): void {
    if (!this.#isFollowing || runId !== this.#runId) return;
    const first = entries.find(({ type }) => type !== "token");
    if (first === undefined && entries.length > 0) return;
    if (first === undefined || first.n > this.#last + 1) {
      this.#isBehind = true;
      void this.#fetch(runId);
    } else {
      this.#add(entries);
      this.#draw();
    }
  }

  #draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    this.#needs.env.nextFrame(() => {
      this.#isDrawing = false;
      const runId = this.#runId;
      if (runId === undefined) return;
      const state = this.#error !== undefined ? "failed" : this.#isFetching ? "loading" : "ready";
      this.current.value = {
        runId,
        state,
        error: this.#error,
        entries: this.#entries.slice(),
        isCut: this.#isCut,
      };
    });
  }
}
