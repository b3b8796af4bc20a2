import type {
  EvictionPolicy,
  MemoryEntry,
  SharedMemoryStore,
  VersionedEntries,
} from "../../../contracts/memory.js";
import { MemoryConflictError } from "../../../contracts/state-errors.js";
import {
  checkEntry,
  checkExpectedVersion,
  checkLock,
  checkMaxResults,
  checkPolicy,
  checkScope,
  keptBy,
} from "../shared/checks.js";
import { frozenEntry, handedOut } from "../shared/frozen-entry.js";
import { ScopeLocks } from "../shared/scope-locks.js";

interface ScopeEntries {
  version: number;
  entries: MemoryEntry[];
}

/**
 * Keeps entries in order of arrival as long as the process runs. Versions survive a `clear`, so
 * that a late conditional write is rejected.
 */
class InMemoryStore implements SharedMemoryStore {
  readonly #scopes = new Map<string, ScopeEntries>();
  readonly #locks = new ScopeLocks();

  /**
   * An accessor, not a field. Checks of options list own fields, and would report a field when the
   * store is used as `memory`.
   */
  get isVolatile(): boolean {
    return true;
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    checkScope(scope);
    this.#append(scope, frozenEntry(entry));
  }

  async storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number> {
    checkScope(scope);
    checkEntry(entry);
    checkExpectedVersion(expectedVersion);
    const copy = frozenEntry(entry);
    if ((this.#scopes.get(scope)?.version ?? 0) !== expectedVersion)
      throw new MemoryConflictError(scope, expectedVersion);
    return this.#append(scope, copy);
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    return (await this.retrieveVersioned(scope, query, maxResults)).entries;
  }

  async retrieveVersioned(
    scope: string,
    _query: string,
    maxResults: number,
  ): Promise<VersionedEntries> {
    checkScope(scope);
    checkMaxResults(maxResults);
    const { entries, version } = this.#scopes.get(scope) ?? { entries: [], version: 0 };
    return Object.freeze({
      entries: Object.freeze(entries.slice(-maxResults).map(handedOut)),
      version,
    });
  }

  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    checkScope(scope);
    checkPolicy(policy);
    const kept = this.#scopes.get(scope);
    if (kept === undefined || kept.entries.length === 0) return;
    const stays = keptBy(policy, kept.entries.map(handedOut));
    this.#replace(
      kept,
      kept.entries.filter((_, index) => stays[index] !== false),
    );
  }

  async clear(scope: string): Promise<void> {
    checkScope(scope);
    const kept = this.#scopes.get(scope);
    if (kept !== undefined) this.#replace(kept, []);
  }

  async withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options?: { readonly timeoutMs?: number | undefined },
  ): Promise<T> {
    return this.#locks.run(scope, work, checkLock(scope, work, options));
  }

  #append(name: string, entry: MemoryEntry): number {
    const scope = this.#scopes.get(name) ?? { version: 0, entries: [] };
    this.#scopes.set(name, scope);
    scope.entries.push(entry);
    return ++scope.version;
  }

  /** Replaces the entries. If nothing is removed, the version stays the same. */
  #replace(scope: ScopeEntries, entries: MemoryEntry[]): void {
    if (entries.length === scope.entries.length) return;
    scope.entries = entries;
    scope.version++;
  }
}

/**
 * Creates a store that lasts as long as this object. `retrieve` ignores the query and returns the
 * latest entries, oldest first. Entries are frozen copies with JSON-compatible structured content.
 * `clear` and `evict` free the memory. The version numbers of scopes remain.
 */
export function inMemoryStore(): SharedMemoryStore {
  return new InMemoryStore();
}
