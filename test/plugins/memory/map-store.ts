import type { EvictionPolicy, MemoryEntry, MemoryStore } from "agentensemble";

/** The operations of a store, in order. */
export type Asked = readonly [operation: keyof MemoryStore, scope: string, ...rest: unknown[]];

/**
 * A store in a map that records its operations, and executes a test's function in place of an
 * operation.
 */
export class MapStore implements MemoryStore {
  readonly scopes = new Map<string, readonly MemoryEntry[]>();
  readonly asked: Asked[] = [];
  /** Called before an operation; may throw or delay. */
  before: (operation: keyof MemoryStore, scope: string) => void | Promise<void> = () => undefined;

  contents(scope: string): readonly string[] {
    return (this.scopes.get(scope) ?? []).map(({ content }) => content);
  }

  fill(scope: string, ...contents: readonly string[]): this {
    const entries = contents.map((content) => ({ content, storedAt: new Date(0) }));
    this.scopes.set(scope, [...(this.scopes.get(scope) ?? []), ...entries]);
    return this;
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    this.asked.push(["store", scope, entry.content]);
    await this.before("store", scope);
    this.scopes.set(scope, [...(this.scopes.get(scope) ?? []), entry]);
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    this.asked.push(["retrieve", scope, query, maxResults]);
    await this.before("retrieve", scope);
    return (this.scopes.get(scope) ?? []).slice(-maxResults);
  }

  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    this.asked.push(["evict", scope]);
    await this.before("evict", scope);
    this.scopes.set(scope, policy.apply(this.scopes.get(scope) ?? []));
  }

  async clear(scope: string): Promise<void> {
    this.asked.push(["clear", scope]);
    await this.before("clear", scope);
    this.scopes.delete(scope);
  }
}
