import type { TaskCall } from "../contracts/hooks.js";
import type {
  EntityMemory,
  EvictionPolicy,
  LongTermMemory,
  MemoryEntry,
  MemoryStore,
} from "../contracts/memory.js";
import type { TaskMemory, TaskScope } from "../contracts/run.js";
import { ValidationError } from "../contracts/errors.js";
import { MemoryStoreError } from "../contracts/state-errors.js";
import { Tokens } from "../contracts/tokens.js";
import { preview } from "../contracts/validation.js";
import { countEntries, evictScope, readMemory, readScope, writeMemory } from "./memory-gateway.js";
import { partsOf } from "./run-info.js";
import { GatewayScope } from "./task-scope.js";

/** Entries a task is shown of each scope, unless somebody asks for another number. */
const MAX_RESULTS = 5;

/** The name under which hooks, events and warnings know writes to the long-term memory. */
const LONG_TERM = "(long-term)";

/** Memory as one task uses it: reads are timed, counted and told, writes go through the hooks. */
export class GatewayMemory implements TaskMemory {
  readonly #scope: GatewayScope;
  readonly #store: MemoryStore | undefined;

  constructor(scope: GatewayScope, store?: MemoryStore) {
    this.#scope = scope;
    this.#store = store;
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults = MAX_RESULTS,
  ): Promise<readonly MemoryEntry[]> {
    return readScope(this.#scope, scope, query, maxResults, this.#store);
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    return writeMemory(
      this.#scope,
      scope,
      entry,
      this.#store === undefined ? undefined : { store: this.#store, count: "scopeWrites" },
    );
  }

  /** Applies a policy to a scope, by the run's clock. */
  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    return evictScope(this.#scope, scope, policy, this.#store);
  }

  /** The team's long-term memory, nearest first. */
  async recall(
    longTerm: LongTermMemory,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    const found = await readMemory(this.#scope, {
      kind: "longTerm",
      name: LONG_TERM,
      count: "longTermRetrievals",
      read: () => longTerm.retrieve(query, maxResults),
      sizeOf: (entries) => countEntries(entries, "Long-term memory", maxResults, LONG_TERM),
    });
    return found as readonly MemoryEntry[]; // counted, so checked
  }

  async learn(longTerm: LongTermMemory, entry: MemoryEntry): Promise<void> {
    const store = { store: (_name: string, learnt: MemoryEntry) => longTerm.store(learnt) };
    return writeMemory(this.#scope, LONG_TERM, entry, { store, count: "longTermStores" });
  }

  /** All facts, in the order of the entity memory. */
  async facts(entity: EntityMemory): Promise<ReadonlyMap<string, string>> {
    const found = await readMemory(this.#scope, {
      kind: "entity",
      name: "(entity)",
      count: "entityLookups",
      read: async () => entity.getAll(),
      sizeOf: countFacts,
    });
    return found as ReadonlyMap<string, string>; // counted, so checked
  }
}

function countFacts(found: unknown): number {
  if (found instanceof Map) return found.size;
  throw new MemoryStoreError(
    `Entity memory: getAll() must give a Map of names and facts, got ${preview(found)}`,
    { operation: "getAll" },
  );
}

/** A memory without a run behind it, for tests of tools: used at once, without hooks and records. */
function bareMemory(scope: TaskScope, store: MemoryStore | undefined): TaskMemory {
  return {
    retrieve: async (name, query, maxResults = MAX_RESULTS) =>
      (store ?? scope.get(Tokens.MemoryStore)).retrieve(name, query, maxResults),
    store: (name, entry) =>
      store === undefined ? scope.writeMemory(name, entry) : store.store(name, entry),
  };
}

/** Memory for an executor, a handler or a tool. Without `store` it is the run's; a run without one throws ValidationError at the first use. */
export function memoryOf(scope: TaskScope, store?: MemoryStore): TaskMemory {
  return scope instanceof GatewayScope ? new GatewayMemory(scope, store) : bareMemory(scope, store);
}

/** Memory for a tap of a task that has begun. @throws ValidationError for what is no running task. */
export function memoryOfCall(call: TaskCall): GatewayMemory {
  const { control } = partsOf(call.run);
  if (control === undefined) throw new ValidationError("The run has ended");
  return new GatewayMemory(control.scopeOf(call));
}
