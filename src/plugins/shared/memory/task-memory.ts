import type { TaskCall } from "../../../contracts/hooks.js";
import type {
  EntityMemory,
  EvictionPolicy,
  LongTermMemory,
  MemoryEntry,
  MemoryStore,
} from "../../../contracts/memory.js";
import type { TaskMemory } from "../../../contracts/run.js";
import type { MemoryUser } from "./memory-user.js";
import { MemoryStoreError, noMemoryStore, storeFailure } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { preview } from "../../../contracts/validation.js";
import { askOutside } from "../../../contracts/outside.js";
import { TapMemoryUser } from "./memory-user.js";
import { readMemory } from "./read-memory.js";

/** Default of `maxResults`. */
const MAX_RESULTS = 5;

/** The name of the long-term memory in hooks, events and warnings. */
const LONG_TERM = "(long-term)";

/** The memory of one task. Reads are timed, counted and reported. Writes pass the hooks. */
export class UsedMemory implements TaskMemory {
  readonly #user: MemoryUser;
  readonly #store: MemoryStore | undefined;

  /**
   * Uses the store of the run if `store` is absent. If neither exists, the first use rejects with
   * ValidationError.
   */
  constructor(user: MemoryUser, store?: MemoryStore) {
    this.#user = user;
    this.#store = store;
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults = MAX_RESULTS,
  ): Promise<readonly MemoryEntry[]> {
    const store = this.#storeNow();
    const found = await readMemory(this.#user, {
      kind: "scope",
      name: scope,
      count: "scopeReads",
      read: () => store.retrieve(scope, query, maxResults),
      sizeOf: (entries) => countEntries(entries, `Memory scope '${scope}'`, maxResults, scope),
    });
    return found as readonly MemoryEntry[]; // checked by the count
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    const target = this.#store === undefined ? undefined : { store: this.#store };
    return this.#user.writeMemory(scope, entry, target);
  }

  /**
   * Applies a policy to a scope. The time comes from the clock of the run.
   * @throws ValidationError without a store; MemoryStoreError with the error of the store as its
   * cause.
   */
  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    const { run, taskId, signal } = this.#user;
    signal.throwIfAborted();
    const store = this.#storeNow();
    const now = this.#user.get(Tokens.Clock).now();
    try {
      await askOutside({ run, taskId, signal, kind: "change", name: `evict:${scope}` }, () =>
        store.evict(scope, { apply: (entries) => policy.apply(entries, now) }),
      );
    } catch (error) {
      throw storeFailure(error, `Memory scope '${scope}' could not be trimmed`, "evict", scope);
    }
  }

  /** Returns entries of the long-term memory of the team, nearest first. */
  async recall(
    longTerm: LongTermMemory,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    const found = await readMemory(this.#user, {
      kind: "longTerm",
      name: LONG_TERM,
      count: "longTermRetrievals",
      read: () => longTerm.retrieve(query, maxResults),
      sizeOf: (entries) => countEntries(entries, "Long-term memory", maxResults, LONG_TERM),
    });
    return found as readonly MemoryEntry[]; // checked by the count
  }

  async learn(longTerm: LongTermMemory, entry: MemoryEntry): Promise<void> {
    const store = { store: (_name: string, learnt: MemoryEntry) => longTerm.store(learnt) };
    return this.#user.writeMemory(LONG_TERM, entry, { store, kind: "longTerm" });
  }

  /** Returns all facts, in the order of the entity memory. */
  async facts(entity: EntityMemory): Promise<ReadonlyMap<string, string>> {
    const found = await readMemory(this.#user, {
      kind: "entity",
      name: "(entity)",
      count: "entityLookups",
      read: async () => entity.getAll(),
      sizeOf: countFacts,
    });
    return found as ReadonlyMap<string, string>; // checked by the count
  }

  #storeNow(): MemoryStore {
    const store = this.#store ?? this.#user.find(Tokens.MemoryStore);
    if (store === undefined) throw noMemoryStore();
    return store;
  }
}

/** Returns the memory of a task for one of its taps. */
export function memoryOfCall(call: TaskCall): UsedMemory {
  return new UsedMemory(new TapMemoryUser(call));
}

function countFacts(found: unknown): number {
  if (found instanceof Map) return found.size;
  throw new MemoryStoreError(
    `Entity memory: getAll() must return a Map of names and facts, got ${preview(found)}`,
    { operation: "getAll" },
  );
}

/**
 * @throws MemoryStoreError unless the value is a list of at most `maxResults` entries. Stores are
 * code of users.
 */
function countEntries(found: unknown, place: string, maxResults: number, name: string): number {
  const refuse = (problem: string): never => {
    throw new MemoryStoreError(
      `${place}: retrieve() must return at most ${maxResults} entries with a text as content, got ${problem}`,
      { operation: "retrieve", scope: name },
    );
  };
  if (!Array.isArray(found)) return refuse(preview(found));
  if (found.length > maxResults) return refuse(`${found.length} entries`);
  const wrong = (found as readonly unknown[]).find(
    (entry) => typeof (entry as Partial<MemoryEntry> | null | undefined)?.content !== "string",
  );
  return wrong === undefined && !found.includes(undefined) ? found.length : refuse(preview(wrong));
}
