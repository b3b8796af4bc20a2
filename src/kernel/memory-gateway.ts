import type {
  EvictionPolicy,
  MemoryEntry,
  MemoryOperationCounts,
  MemoryStore,
} from "../contracts/memory.js";
import type { GatewayScope } from "./task-scope.js";
import { AgentEnsembleError, ValidationError, messageOf, toError } from "../contracts/errors.js";
import { MEMORY_METADATA } from "../contracts/memory.js";
import { MemoryStoreError } from "../contracts/state-errors.js";
import { Tokens } from "../contracts/tokens.js";
import { preview } from "../contracts/validation.js";
import { fireAfter, fireBefore } from "./firing.js";

/** Where something is written to, and how it is counted. */
export interface MemoryTarget {
  readonly store: Pick<MemoryStore, "store">;
  readonly count: keyof MemoryOperationCounts;
}

/** What is read, and how it is counted and told. `store` names where from, in errors. */
export interface MemoryReading {
  readonly kind: "scope" | "longTerm" | "entity";
  readonly name: string;
  readonly count: keyof MemoryOperationCounts;
  read(): PromiseLike<unknown>;
  /** How many entries that is. @throws MemoryStoreError for something else than entries. */
  sizeOf(found: unknown): number;
}

/** @throws ValidationError where there is none. */
function storeOf({ engine }: GatewayScope): MemoryStore {
  const store = engine.settings.find(Tokens.MemoryStore);
  if (store !== undefined) return store;
  throw new ValidationError("There is no memory store", {
    hint: "Give the ensemble a memoryStore, MemoryStore.inMemory() for instance.",
  });
}

/** @throws the reason of the end: nothing is read or written after it. */
function checkGoing(scope: GatewayScope): void {
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
}

/** The framework's errors as they are; what else a store throws, with what was being done. */
function storeError(
  error: unknown,
  what: string,
  operation: string,
  scope: string,
): AgentEnsembleError {
  if (AgentEnsembleError.isInstance(error)) return error;
  return new MemoryStoreError(
    `${what}: ${messageOf(error)}`,
    { operation, scope },
    { cause: error },
  );
}

/** The entry with where it came from; what its writer says of that itself stands. What is no entry is left to the store to refuse. */
function withOrigin(
  { engine, taskId, attempt, record }: GatewayScope,
  entry: MemoryEntry,
): MemoryEntry {
  const { metadata = {} } = (entry as MemoryEntry | null | undefined) ?? {}; // handlers may be JavaScript
  if (typeof entry !== "object" || typeof metadata !== "object" || Array.isArray(metadata))
    return entry;
  const origin = {
    [MEMORY_METADATA.agentRole]: record.agentRole,
    [MEMORY_METADATA.runId]: engine.info.id,
    [MEMORY_METADATA.taskId]: taskId,
    [MEMORY_METADATA.attempt]: String(attempt),
  };
  return Object.freeze({ ...entry, metadata: Object.freeze({ ...origin, ...metadata }) });
}

/**
 * The gateway of all writes to memory. Every entry bears the run, the task, its attempt and its agent's role. A rejected entry is not written and becomes a warning.
 * @throws ValidationError without a store; MemoryStoreError around what the store throws.
 */
export async function writeMemory(
  scope: GatewayScope,
  name: string,
  entry: MemoryEntry,
  target?: MemoryTarget,
): Promise<void> {
  const { engine } = scope;
  const { points, warn, info } = engine;
  checkGoing(scope);
  const { store, count } = target ?? { store: storeOf(scope), count: "scopeWrites" };
  let write = { run: info, scope: name, entry: withOrigin(scope, entry) };
  const fired = points.beforeMemoryWrite.used || points.afterMemoryWrite.used;
  try {
    if (points.beforeMemoryWrite.used) {
      const firing = await fireBefore(points.beforeMemoryWrite, write, warn);
      write = firing.call;
      if (firing.rejection !== undefined) {
        warn(`Memory scope '${name}': the entry was not written: ${messageOf(firing.rejection)}`);
        await fireAfter(
          points.afterMemoryWrite,
          { ...write, entry: undefined, outcome: "rejected", error: firing.rejection },
          warn,
        );
        return;
      }
      checkGoing(scope); // a tap may have waited long
    }
    await perform(name, () => store.store(name, write.entry));
  } catch (error) {
    const outcome = scope.cancellation.reason === undefined ? "failed" : "aborted";
    if (fired)
      await fireAfter(
        points.afterMemoryWrite,
        { ...write, entry: undefined, outcome, error: toError(error) },
        warn,
      );
    throw error;
  }
  scope.note({ memoryOperations: { [count]: 1 } });
  if (engine.capture.capturesMemory) {
    const kind = count === "longTermStores" ? "longTerm" : "scope";
    scope.note({
      memory: {
        operation: "write",
        kind,
        ...(kind === "scope" && { scope: name }),
        entries: [write.entry.content],
      },
    });
  }
  if (fired) await fireAfter(points.afterMemoryWrite, { ...write, outcome: "ok" }, warn);
  if (scope.listens("memory_written"))
    scope.emit({ type: "memory_written", ...scope.identity, scope: name });
}

async function perform(name: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw storeError(error, `Memory scope '${name}' could not be written`, "store", name);
  }
}

/**
 * The gateway of all reads of memory: keeps time, counts and tells.
 * @throws MemoryStoreError around what the store throws, and for what is no list of entries.
 */
export async function readMemory(scope: GatewayScope, reading: MemoryReading): Promise<unknown> {
  checkGoing(scope);
  const { kind, name, count } = reading;
  const startedMs = scope.engine.clock.monotonicMs();
  let found: unknown;
  try {
    found = await reading.read();
  } catch (error) {
    throw storeError(error, `${placeOf(kind, name)} could not be read`, "retrieve", name);
  } finally {
    scope.note({ memoryRetrievalMs: scope.engine.clock.monotonicMs() - startedMs });
  }
  checkGoing(scope);
  const entries = reading.sizeOf(found);
  scope.note({ memoryOperations: { [count]: 1 } });
  const durationMs = scope.engine.clock.monotonicMs() - startedMs;
  if (scope.engine.capture.capturesMemory)
    scope.note({
      memory: {
        operation: "read",
        kind,
        ...(kind === "scope" && { scope: name }),
        entries: textsOf(found),
      },
    });
  if (scope.listens("memory_read"))
    scope.emit({
      type: "memory_read",
      ...scope.identity,
      kind,
      ...(kind === "scope" && { scope: name }),
      entries,
      durationMs,
    });
  return found;
}

/** What was found, as texts for the trace. */
function textsOf(found: unknown): readonly string[] {
  if (found instanceof Map)
    return [...(found as ReadonlyMap<string, string>)].map(([name, fact]) => `${name}: ${fact}`);
  return Array.isArray(found)
    ? (found as readonly MemoryEntry[]).map(({ content }) => content)
    : []; // counted, so checked
}

function placeOf(kind: MemoryReading["kind"], name: string): string {
  return kind === "scope"
    ? `Memory scope '${name}'`
    : kind === "longTerm"
      ? "Long-term memory"
      : "Entity memory";
}

/** Reads a scope. @throws ValidationError without a store; as {@link readMemory}. */
export async function readScope(
  scope: GatewayScope,
  name: string,
  query: string,
  maxResults: number,
  given?: MemoryStore,
): Promise<readonly MemoryEntry[]> {
  const store = given ?? storeOf(scope);
  const found = await readMemory(scope, {
    kind: "scope",
    name,
    count: "scopeReads",
    read: () => store.retrieve(name, query, maxResults),
    sizeOf: (entries) => countEntries(entries, placeOf("scope", name), maxResults, name),
  });
  return found as readonly MemoryEntry[]; // counted, so checked
}

/** Applies a policy to a scope, by the run's clock. @throws ValidationError without a store; MemoryStoreError around what the store throws. */
export async function evictScope(
  scope: GatewayScope,
  name: string,
  policy: EvictionPolicy,
  given?: MemoryStore,
): Promise<void> {
  checkGoing(scope);
  const store = given ?? storeOf(scope);
  const now = scope.engine.clock.now();
  try {
    await store.evict(name, { apply: (entries) => policy.apply(entries, now) });
  } catch (error) {
    throw storeError(error, `Memory scope '${name}' could not be trimmed`, "evict", name);
  }
}

/** @throws MemoryStoreError for anything but at most `maxResults` entries: stores are other people's code. */
export function countEntries(
  found: unknown,
  place: string,
  maxResults: number,
  name: string,
): number {
  const refuse = (problem: string): never => {
    throw new MemoryStoreError(
      `${place}: retrieve() must give at most ${maxResults} entries with a text as content, got ${problem}`,
      {
        operation: "retrieve",
        scope: name,
      },
    );
  };
  if (!Array.isArray(found)) return refuse(preview(found));
  if (found.length > maxResults) return refuse(`${found.length} entries`);
  const wrong = (found as readonly unknown[]).find(
    (entry) => typeof (entry as Partial<MemoryEntry> | null | undefined)?.content !== "string",
  );
  return wrong === undefined && !found.includes(undefined) ? found.length : refuse(preview(wrong));
}
