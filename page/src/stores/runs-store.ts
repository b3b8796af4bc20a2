import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { RunListBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import type { Api } from "../api.js";
import type { ConnectionStore } from "./connection-store.js";

export interface RunsStore {
  /** Newest first. */
  readonly list: ReadonlySignal<readonly RunSummary[]>;
  /** How many runs the server has; 0 before the first answer. */
  readonly total: ReadonlySignal<number>;
  /** Whether the first answer has come. */
  readonly isKnown: ReadonlySignal<boolean>;
  summaryOf(runId: string): RunSummary | undefined;
  /** Fetches older runs. @throws ApiError */
  more(): Promise<void>;
}

const PAGE = 100;

export function createRunsStore(connection: ConnectionStore, api: Api): RunsStore {
  const byId = signal<ReadonlyMap<string, RunSummary>>(new Map());
  const total = signal(0);
  const isKnown = signal(false);
  let next: string | undefined;
  const list = computed(() =>
    [...byId.value.values()].sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)),
  );
  const take = (runs: readonly RunSummary[], removed: readonly string[] = []): void => {
    const map = new Map(byId.value);
    for (const run of runs) map.set(run.runId, run);
    for (const id of removed) map.delete(id);
    byId.value = map;
    total.value = Math.max(total.value - removed.length, map.size);
  };
  const fetchPage = async (before: string | undefined): Promise<void> => {
    const query = before === undefined ? "" : `&before=${encodeURIComponent(before)}`;
    const body = await api.get<RunListBody>(`/api/runs?limit=${PAGE}${query}`);
    next = body.next;
    take(body.runs);
    total.value = body.total;
  };
  connection.onFrame((frame) => {
    if (frame.type === "hello") {
      byId.value = new Map(); // of an earlier start of the server, perhaps
      take(frame.runs);
      isKnown.value = true;
      fetchPage(undefined).catch(() => undefined); // the sums stay those of the frame
    } else if (frame.type === "runs") take(frame.upsert, frame.removed);
  });
  return {
    list,
    total,
    isKnown,
    summaryOf: (runId) => byId.value.get(runId),
    more: async () => {
      if (next !== undefined) await fetchPage(next);
    },
  };
}
