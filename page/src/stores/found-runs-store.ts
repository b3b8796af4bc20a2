import { signal, type ReadonlySignal } from "@preact/signals";
import type { RunSummary, RunSums } from "../../../src/contracts/run-store.js";
import type { RunListBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { parseRunFilter } from "../../../src/plugins/dashboard/protocol/run-filter.js";
import { ApiError, type Api } from "../api.js";
import { runsPath } from "../lib/run-search.js";
import type { ConnectionStore } from "./connection-store.js";
import type { Environment } from "./environment.js";

/** The runs that match a filter. */
export interface FoundRuns {
  readonly filter: string;
  /** The runs, newest first. */
  readonly runs: readonly RunSummary[];
  readonly total: number;
  /** Sums over all matching runs. Absent if the store of the runs does not compute sums. */
  readonly sums?: RunSums | undefined;
  /** Numbers of runs by state that match the rest of the filter. */
  readonly states?: RunSums["states"] | undefined;
  readonly hasMore: boolean;
  readonly error?: ApiError | undefined;
}

export interface FoundRunsStore {
  /** `undefined` before the first answer. */
  readonly current: ReadonlySignal<FoundRuns | undefined>;
  /**
   * Follows the matching runs. `undefined`: follows none. The previous result is shown until the
   * answer arrives.
   */
  find(filter: string | undefined): void;
  /** Fetches the next page. */
  more(): void;
}

const PAGE = 100;
/** Interval at which changes of runs are fetched together. */
const AGAIN_MS = 2_000;

interface Needs {
  readonly connection: ConnectionStore;
  readonly api: Api;
  readonly env: Environment;
}

export function createFoundRunsStore(needs: Needs): FoundRunsStore {
  return new FollowedFilter(needs);
}

class FollowedFilter implements FoundRunsStore {
  readonly current = signal<FoundRuns | undefined>(undefined);
  readonly #needs: Needs;
  #filter: string | undefined;
  #next: string | undefined;
  /** Number of shown pages. */
  #pages = 1;
  #isPlanned = false;
  /** Counts fetches: the answer of an earlier fetch has no effect. */
  #fetch = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
    needs.connection.onFrame(({ type }) => {
      if (type === "hello") this.#load();
      else if (type === "runs") this.#plan();
    });
  }

  find(filter: string | undefined): void {
    if (filter === this.#filter) return;
    this.#filter = filter;
    this.#pages = 1;
    this.#load();
  }

  more(): void {
    if (this.#next === undefined) return;
    this.#pages++;
    this.#load();
  }

  #plan(): void {
    if (this.#isPlanned || this.#filter === undefined) return;
    this.#isPlanned = true;
    this.#needs.env.later(() => {
      this.#isPlanned = false;
      this.#load();
    }, AGAIN_MS);
  }

  #load(): void {
    const filter = this.#filter;
    const fetch = ++this.#fetch;
    if (filter === undefined) return;
    this.#listed(filter).then(
      (found) => {
        if (fetch === this.#fetch) this.current.value = found;
      },
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        if (fetch === this.#fetch)
          this.current.value = {
            runs: [],
            total: 0,
            hasMore: false,
            ...this.current.value,
            filter,
            error,
          };
      },
    );
  }

  async #listed(filter: string): Promise<FoundRuns> {
    const { api } = this.#needs;
    const { query } = parseRunFilter(filter);
    const first = await api.get<RunListBody>(runsPath(query, PAGE));
    const runs = [...first.runs];
    let { next } = first;
    for (let page = 1; page < this.#pages && next !== undefined; page++) {
      const body: RunListBody = await api.get(runsPath(query, PAGE, next));
      runs.push(...body.runs);
      next = body.next;
    }
    const all =
      query.state === undefined
        ? first
        : await api.get<RunListBody>(runsPath({ ...query, state: undefined }, 1));
    this.#next = next;
    const { total, sums } = first;
    return { filter, runs, total, sums, states: all.sums?.states, hasMore: next !== undefined };
  }
}
