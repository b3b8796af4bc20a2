import type { MemoryEntry, MemoryOperationCounts } from "../../../contracts/memory.js";
import type { OutsideCall } from "../../../contracts/outside.js";
import type { MemoryUser } from "./memory-user.js";
import { MEMORY_METADATA } from "../../../contracts/memory.js";
import { storeFailure } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { askOutside } from "../../../contracts/outside.js";
import { noteKeptSource } from "./kept-source.js";

/** One read of memory. */
export interface MemoryReading {
  readonly kind: "scope" | "longTerm" | "entity";
  /** The name of the store in errors. */
  readonly name: string;
  readonly count: keyof MemoryOperationCounts;
  read(): PromiseLike<unknown>;
  /** Returns the number of entries. @throws MemoryStoreError for a value that has no entries. */
  sizeOf(found: unknown): number;
}

/**
 * Reads memory for a task: measures the time, counts the read, and emits `memory_read`.
 * @throws MemoryStoreError with the error of the store as its cause; the reason of the signal if
 * the task has ended.
 */
export async function readMemory(user: MemoryUser, reading: MemoryReading): Promise<unknown> {
  user.signal.throwIfAborted();
  const { kind, name, count } = reading;
  const clock = user.get(Tokens.Clock);
  const startedMs = clock.monotonicMs();
  let found: unknown;
  try {
    const { run, taskId, signal } = user;
    const codec = kind === "entity" ? FACTS : ENTRIES;
    found = await askOutside(
      { run, taskId, signal, kind: "read", name: `${kind}:${name}`, codec },
      async () => reading.read(),
    );
  } catch (error) {
    throw storeFailure(error, `${placeOf(kind, name)} could not be read`, "retrieve", name);
  } finally {
    user.recordMetrics({ memoryRetrievalMs: clock.monotonicMs() - startedMs });
  }
  user.signal.throwIfAborted();
  const size = reading.sizeOf(found);
  noteUntrusted(user, found);
  const durationMs = clock.monotonicMs() - startedMs;
  const scope = kind === "scope" ? { scope: name } : undefined;
  user.recordMetrics({
    // a read of zero facts does not count
    ...((kind !== "entity" || size > 0) && { memoryOperations: { [count]: 1 } }),
    memory: () => ({ operation: "read", kind, ...scope, entries: textsOf(found) }),
  });
  if (!user.listens("memory_read")) return found;
  const { taskId, parentTaskId, agentRole } = user;
  user.emit({
    type: "memory_read",
    taskId,
    ...(parentTaskId !== undefined && { parentTaskId }),
    agentRole,
    kind,
    ...scope,
    entries: size,
    durationMs: Math.round(durationMs),
  });
  return found;
}

/**
 * Records the sources of entries that were written after external text had been read. Such entries
 * may contain the text.
 */
function noteUntrusted({ run }: MemoryUser, found: unknown): void {
  if (!Array.isArray(found)) return;
  for (const { metadata } of found as readonly MemoryEntry[]) {
    const mark = metadata?.[MEMORY_METADATA.untrusted];
    if (mark === undefined) continue;
    noteKeptSource(run, "memory written", mark);
    return;
  }
}

/** Converts results of stores. The count checks them. */
const ENTRIES: OutsideCall["codec"] = {
  toJson: (found) => found,
  fromJson: (found) =>
    Array.isArray(found)
      ? (found as readonly MemoryEntry[]).map((entry) => ({
          ...entry,
          storedAt: new Date(entry.storedAt),
        }))
      : found,
};
const FACTS: OutsideCall["codec"] = {
  toJson: (found) => (found instanceof Map ? [...(found as Map<unknown, unknown>)] : found),
  fromJson: (found) => (Array.isArray(found) ? new Map(found as [unknown, unknown][]) : found),
};

/** Returns the found entries as texts for the trace. */
function textsOf(found: unknown): readonly string[] {
  if (found instanceof Map)
    return [...(found as ReadonlyMap<string, string>)].map(([name, fact]) => `${name}: ${fact}`);
  return Array.isArray(found)
    ? (found as readonly MemoryEntry[]).map(({ content }) => content)
    : []; // checked by the count
}

function placeOf(kind: MemoryReading["kind"], name: string): string {
  return kind === "scope"
    ? `Memory scope '${name}'`
    : kind === "longTerm"
      ? "Long-term memory"
      : "Entity memory";
}
