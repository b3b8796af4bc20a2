import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import type { ConnectionStore } from "./connection-store.js";

/** The runs that the program sends without a request: the last runs, and runs that change. */
export interface RunsStore {
  /** The runs, newest first. */
  readonly list: ReadonlySignal<readonly RunSummary[]>;
  /** The number of conversations whose threads can be read. */
  readonly conversations: ReadonlySignal<number>;
  /** The number of services of the program. */
  readonly services: ReadonlySignal<number>;
  /** Whether the first list has arrived. */
  readonly isKnown: ReadonlySignal<boolean>;
  summaryOf(runId: string): RunSummary | undefined;
}

export function createRunsStore(connection: ConnectionStore): RunsStore {
  const byId = signal<ReadonlyMap<string, RunSummary>>(new Map());
  const isKnown = signal(false);
  const conversations = signal(0);
  const services = signal(0);
  const count = (frame: { readonly conversations: number; readonly services: number }): void => {
    conversations.value = frame.conversations;
    services.value = frame.services;
  };
  const list = computed(() =>
    [...byId.value.values()].sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)),
  );
  const take = (
    before: ReadonlyMap<string, RunSummary>,
    runs: readonly RunSummary[],
    removed: readonly string[] = [],
  ): void => {
    const map = new Map(before);
    for (const run of runs) map.set(run.runId, run);
    for (const id of removed) map.delete(id);
    byId.value = map;
  };
  connection.onFrame((frame) => {
    if (frame.type === "hello") {
      take(new Map(), frame.runs); // known runs may be of an earlier start of the server
      isKnown.value = true;
      count(frame);
    } else if (frame.type === "runs") {
      take(byId.value, frame.upsert, frame.removed);
      count(frame);
    }
  });
  return { list, isKnown, conversations, services, summaryOf: (runId) => byId.value.get(runId) };
}
