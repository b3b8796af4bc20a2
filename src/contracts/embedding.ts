import type { MemoryEntry } from "./memory.js";

/**
 * Converts texts to vectors. Texts with similar meaning have similar vectors. Providers and offline
 * models implement this interface. Vector memories call it.
 */
export interface EmbeddingModel {
  /**
   * Length of a vector, if it is known in advance. Otherwise, a store that needs the length
   * requests one vector.
   */
  readonly dimensions?: number | undefined;
  /**
   * Returns one vector for each text, in the order of the texts, all of the same length. Returns an
   * empty list for an empty list. Rejects with `ModelCallError` if the service fails.
   */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** An entry as stored in a vector store. */
export interface StoredVector {
  /** The id that the store assigned. Unique within the scope. */
  readonly id: string;
  readonly entry: MemoryEntry;
}

/** An entry found by a search. */
export interface VectorMatch extends StoredVector {
  /**
   * The cosine similarity of the vectors of the entry and the query. `1`: the same direction. `0`:
   * no similarity.
   */
  readonly score: number;
}

/**
 * The storage of a semantic memory: the contract between `MemoryStore.embeddings(model,
 * vectorStore)` and a vector database. The memory checks all arguments and vectors, calls the
 * model, and applies eviction policies. A vector store only stores and searches. If it rejects, the
 * caller receives the rejection as the `cause` of a `MemoryStoreError`.
 */
export interface VectorStore {
  /**
   * Stores a complete entry: content, time (in whole milliseconds), metadata and the structured
   * content as JSON. The vector is not the zero vector.
   */
  add(scope: string, entry: MemoryEntry, vector: readonly number[]): Promise<void>;
  /**
   * Returns the nearest entries of this scope, best first, at most `maxResults`. The store must
   * filter by scope before it limits the number. Otherwise entries of other scopes would reduce the
   * results.
   */
  search(
    scope: string,
    vector: readonly number[],
    maxResults: number,
  ): Promise<readonly VectorMatch[]>;
  /**
   * Returns all entries of a scope in the order in which they were added. Returns an empty list for
   * an unknown scope.
   */
  list(scope: string): Promise<readonly StoredVector[]>;
  /** Removes entries of a scope. Ignores unknown ids. */
  delete(scope: string, ids: readonly string[]): Promise<void>;
  /** Closes files and connections. Called by `close()` of the memory. */
  close?(): Promise<void>;
}
