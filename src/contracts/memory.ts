/** One thing remembered. `metadata` tells where it came from. */
export interface MemoryEntry {
  readonly content: string;
  readonly structuredContent?: unknown;
  readonly storedAt: Date;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Decides which entries of a scope stay. */
export interface EvictionPolicy {
  apply(entries: readonly MemoryEntry[]): readonly MemoryEntry[];
}

/** Keeps entries by scope. Writes of a run go through the `writeMemory` gateway, so that hooks see them. */
export interface MemoryStore {
  store(scope: string, entry: MemoryEntry): Promise<void>;
  retrieve(scope: string, query: string, maxResults: number): Promise<readonly MemoryEntry[]>;
  evict(scope: string, policy: EvictionPolicy): Promise<void>;
  clear(scope: string): Promise<void>;
}
