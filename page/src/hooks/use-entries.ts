import { useEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { EntriesBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError } from "../api.js";
import { rangesOf } from "../lib/run/number-ranges.js";
import { useBoard } from "../stores/board.js";

/** Some entries of a run with all their texts. */
export interface Entries {
  /** The received entries, in order. */
  readonly entries: readonly LogEntry[];
  readonly isLoading: boolean;
  readonly error: ApiError | undefined;
}

/** Maximum number of fetches. Beyond this number, the oldest entries are omitted. */
const MOST_RANGES = 30;

/** Fetches the entries with these ascending numbers, each once. */
export function useEntries(runId: string, numbers: readonly number[]): Entries {
  const { api } = useBoard();
  const [known, setKnown] = useState<ReadonlyMap<number, LogEntry>>(new Map());
  const [error, setError] = useState<ApiError>();
  const [isLoading, setLoading] = useState(true);
  // A new set per run. An answer is used only if its set is still the current set, also after a
  // change of the numbers.
  const asked = useRef(new Set<number>());
  useEffect(() => {
    setKnown(new Map());
    return () => {
      asked.current = new Set();
    };
  }, [runId]);
  useEffect(() => {
    const present = asked.current;
    const isWanted = (): boolean => present === asked.current;
    const missing = numbers.filter((n) => !present.has(n));
    for (const n of missing) present.add(n);
    const load = async (): Promise<void> => {
      for (const { after, limit } of rangesOf(missing, MOST_RANGES)) {
        const last = after + limit;
        for (let from: number | undefined = after; from !== undefined && from < last;) {
          const path: string = `/api/runs/${encodeURIComponent(runId)}/log?after=${from}&limit=${last - from}`;
          const { entries, next }: EntriesBody = await api.get(path);
          if (!isWanted()) return;
          const wanted = entries.filter(({ n }) => present.has(n));
          setKnown(
            (before) => new Map([...before, ...wanted.map((entry) => [entry.n, entry] as const)]),
          );
          from = next; // an answer with long texts has fewer entries
        }
      }
      setError(undefined);
      setLoading(false);
    };
    load().catch((reason: unknown) => {
      if (!(reason instanceof ApiError)) throw reason;
      for (const n of missing) present.delete(n);
      if (isWanted()) setError(reason);
    });
  }, [runId, numbers.length, numbers.at(-1)]);
  return { entries: [...known.values()].sort((a, b) => a.n - b.n), isLoading, error };
}
