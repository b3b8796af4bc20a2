import type { MemoryEntry } from "./memory.js";

/** Turns texts into vectors whose nearness stands for nearness of meaning. Vector memories ask it; vendor providers and offline models implement it. */
export interface EmbeddingModel {
  /** How many numbers a vector has, where the model knows it beforehand. A store that has to know asks the model for a vector otherwise. */
  readonly dimensions?: number | undefined;
  /** One vector for each text, in the order of the texts, all of the same length; no text, no vector. Rejects with `ModelCallError` where a service fails. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** An entry as a vector store keeps it. */
export interface StoredVector {
  /** Given by the store, unique within the scope. */
  readonly id: string;
  readonly entry: MemoryEntry;
}

/** An entry that a search found. */
export interface VectorMatch extends StoredVector {
  /** The cosine of the angle between its vector and the one searched for: 1 is the same direction, 0 nothing in common. */
  readonly score: number;
}

/**
 * Where a semantic memory keeps its entries: the contract between `MemoryStore.embeddings(model, vectorStore)` and a vector database. The memory checks all
 * arguments and vectors, asks the model, and applies eviction policies; a vector store only keeps and finds. Whatever its methods reject with reaches
 * the caller as the `cause` of a `MemoryStoreError`.
 */
export interface VectorStore {
  /** Keeps an entry, whole: content, time (milliseconds count), metadata and the structured content, which is JSON. The vector has length and direction. */
  add(scope: string, entry: MemoryEntry, vector: readonly number[]): Promise<void>;
  /** The nearest entries of this scope, best first, at most `maxResults`. Other scopes must not take up places: filter first, then count. */
  search(
    scope: string,
    vector: readonly number[],
    maxResults: number,
  ): Promise<readonly VectorMatch[]>;
  /** All entries of a scope in the order in which they were added. A scope that was never written to is empty. */
  list(scope: string): Promise<readonly StoredVector[]>;
  /** Removes entries of a scope. Ids that are not there are passed over. */
  delete(scope: string, ids: readonly string[]): Promise<void>;
  /** Lets go of files and connections; called by the `close()` of the memory. */
  close?(): Promise<void>;
}
