import type { MemoryEntry } from "./memory.js";

/**
 * Turns texts into vectors. Texts with similar meaning get near vectors. Vector memories call it;
 * vendor providers and offline models implement it.
 */
export interface EmbeddingModel {
  /**
   * Length of a vector, if the model knows it in advance. A store that needs it can otherwise
   * request one vector.
   */
  readonly dimensions?: number | undefined;
  /**
   * Returns one vector for each text, in the order of the texts, all of the same length. Returns no
   * vector for no text. Rejects with `ModelCallError` if a service fails.
   */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** An entry as a vector store keeps it. */
export interface StoredVector {
  /** Assigned by the store, unique within the scope. */
  readonly id: string;
  readonly entry: MemoryEntry;
}

/** An entry found by a search. */
export interface VectorMatch extends StoredVector {
  /**
   * The cosine of the angle between its vector and the query's: 1 for the same direction, 0 for no
   * similarity.
   */
  readonly score: number;
}

/**
 * Storage of a semantic memory: the contract between `MemoryStore.embeddings(model, vectorStore)`
 * and a vector database. The memory checks all arguments and vectors, calls the model, and applies
 * eviction policies. A vector store only stores and searches. Its rejections reach the caller as
 * the `cause` of a `MemoryStoreError`.
 */
export interface VectorStore {
  /**
   * Stores a whole entry: content, time (milliseconds count), metadata and the structured content,
   * which is JSON. The vector has length and direction.
   */
  add(scope: string, entry: MemoryEntry, vector: readonly number[]): Promise<void>;
  /**
   * Returns the nearest entries of this scope, best first, up to `maxResults`. Filter by scope
   * before counting: other scopes must not reduce the results.
   */
  search(
    scope: string,
    vector: readonly number[],
    maxResults: number,
  ): Promise<readonly VectorMatch[]>;
  /**
   * Returns all entries of a scope in the order of their addition. Returns no entries for an
   * unknown scope.
   */
  list(scope: string): Promise<readonly StoredVector[]>;
  /** Removes entries of a scope. Ignores unknown ids. */
  delete(scope: string, ids: readonly string[]): Promise<void>;
  /** Closes files and connections. Called by `close()` of the memory. */
  close?(): Promise<void>;
}
