import type { EmbeddingModel, StoredVector, VectorStore } from "../../../contracts/embedding.js";
import type {
  EvictionPolicy,
  MemoryEntry,
  MemoryStore,
  SharedMemoryStore,
  VersionedEntries,
} from "../../../contracts/memory.js";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { MemoryConflictError, MemoryStoreError } from "../../../contracts/state-errors.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import {
  checkExpectedVersion,
  checkLock,
  checkMaxResults,
  checkPolicy,
  checkScope,
  keptBy,
} from "../shared/checks.js";
import { frozenEntry, handedOut } from "../shared/frozen-entry.js";

import { ScopeLocks } from "../shared/scope-locks.js";
import { checkMinScore, checkEmbeddingModel } from "../shared/semantic-options.js";
import { TextVectors } from "../shared/text-vectors.js";
import { InMemoryVectors } from "./in-memory-vectors.js";
import { hasText } from "../../../util/text.js";
import { messageOf } from "../../../util/errors.js";

const VECTOR_STORE_METHODS = ["add", "search", "list", "delete"] as const;

function checkVectorStore(vectorStore: unknown): asserts vectorStore is VectorStore {
  if (vectorStore === null) throw new ValidationError("vectorStore must not be null");
  for (const method of VECTOR_STORE_METHODS) {
    if (typeof (vectorStore as Partial<VectorStore>)[method] !== "function") {
      // any value except null and undefined allows property access
      throw new ValidationError(
        `vectorStore must have a method ${method}, got: ${preview(vectorStore)}`,
      );
    }
  }
}

/**
 * Stores entries with the vectors of their texts. Finds the entries with the meaning nearest to a
 * query.
 */
class EmbeddingMemory implements MemoryStore {
  readonly #texts: TextVectors;
  readonly #vectors: VectorStore;
  readonly #minScore: number;

  constructor(model: EmbeddingModel, vectors: VectorStore, minScore: number) {
    this.#texts = new TextVectors(model);
    this.#vectors = vectors;
    this.#minScore = minScore;
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    await this.write(scope, entry, "store");
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    return (await this.question(scope, query, maxResults))();
  }

  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    checkScope(scope);
    checkPolicy(policy);
    await this.#remove(scope, "evict", (stored) => {
      const kept = keptBy(
        policy,
        stored.map(({ entry }) => entry),
      );
      return stored.filter((_, index) => kept[index] === false);
    });
  }

  async clear(scope: string): Promise<void> {
    checkScope(scope);
    await this.#remove(scope, "clear", (stored) => stored);
  }

  async close(): Promise<void> {
    await this.#vectors.close?.();
  }

  /**
   * `mayWrite` throws if the entry must not be written. Called before the model call, and again in
   * the turn of the write.
   */
  protected async write(
    scope: string,
    entry: MemoryEntry,
    operation: string,
    mayWrite: () => void = () => undefined,
  ): Promise<void> {
    checkScope(scope);
    const copy = frozenEntry(entry);
    mayWrite(); // a write that will fail should not cost a model call
    const vector = await this.#texts.of(copy.content, { operation, scope });
    mayWrite();
    await this.#ask(operation, scope, () => this.#vectors.add(scope, copy, vector));
  }

  /** Embeds the query. Returns a function that searches with its vector. */
  protected async question(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<() => Promise<readonly MemoryEntry[]>> {
    checkScope(scope);
    checkMaxResults(maxResults);
    const operation = "retrieve";
    const vector = hasText(query)
      ? await this.#texts.ofQuery(query, { operation, scope })
      : undefined;
    const latest = async (): Promise<readonly StoredVector[]> =>
      (await this.#vectors.list(scope)).slice(-maxResults);
    const nearest = async (near: readonly number[]): Promise<readonly StoredVector[]> =>
      (await this.#vectors.search(scope, near, maxResults)).filter(
        ({ score }) => score >= this.#minScore,
      );
    return async () => {
      const found = await this.#ask(operation, scope, () =>
        vector === undefined ? latest() : nearest(vector),
      );
      return Object.freeze(found.map(({ entry }) => handedOut(entry)));
    };
  }

  async #remove(
    scope: string,
    operation: string,
    choose: (stored: readonly StoredVector[]) => readonly StoredVector[],
  ): Promise<void> {
    const ids = choose(await this.#ask(operation, scope, () => this.#vectors.list(scope))).map(
      ({ id }) => id,
    );
    if (ids.length > 0) await this.#ask(operation, scope, () => this.#vectors.delete(scope, ids));
  }

  async #ask<T>(operation: string, scope: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (AgentEnsembleError.isInstance(cause)) throw cause;
      throw new MemoryStoreError(
        `Memory scope '${preview(scope)}': the vector store failed to ${operation}: ${messageOf(cause)}`,
        { operation, scope },
        { cause },
      );
    }
  }
}

/** Adds versions and locks. Both exist only for entries in memory. */
class SharedEmbeddingMemory extends EmbeddingMemory implements SharedMemoryStore {
  readonly #vectors: InMemoryVectors;
  readonly #locks = new ScopeLocks();

  constructor(model: EmbeddingModel, minScore: number) {
    const vectors = new InMemoryVectors();
    super(model, vectors, minScore);
    this.#vectors = vectors;
  }

  async retrieveVersioned(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<VersionedEntries> {
    const find = await this.question(scope, query, maxResults);
    const finding = find();
    const version = this.#vectors.versionOf(scope); // read in the turn in which the search began
    return Object.freeze({ entries: await finding, version });
  }

  async storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number> {
    checkExpectedVersion(expectedVersion);
    await this.write(scope, entry, "storeIf", () => {
      if (this.#vectors.versionOf(scope) !== expectedVersion)
        throw new MemoryConflictError(scope, expectedVersion);
    });
    return expectedVersion + 1;
  }

  async withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<T> {
    return this.#locks.run(scope, work, checkLock(scope, work, options));
  }
}

/** Further options of a semantic memory. */
export interface EmbeddingMemoryOptions {
  /**
   * Minimum similarity to the query, from -1 to 1. Entries with a lower similarity are omitted. The
   * table of the models lists useful values. Default -1: the nearest entries at any distance.
   */
  readonly minScore?: number | undefined;
}

/**
 * Creates a memory that searches by meaning. Without a vector store it keeps everything in memory
 * and also supports versions and locks. A query without words returns the latest entries, oldest
 * first.
 * @throws ValidationError for an invalid model or vector store
 */
export function embeddingMemory(
  model: EmbeddingModel,
  vectorStore?: undefined,
  options?: EmbeddingMemoryOptions,
): SharedMemoryStore;
export function embeddingMemory(
  model: EmbeddingModel,
  vectorStore: VectorStore,
  options?: EmbeddingMemoryOptions,
): MemoryStore;
export function embeddingMemory(
  model: EmbeddingModel,
  vectorStore?: VectorStore,
  options: EmbeddingMemoryOptions = {},
): MemoryStore {
  checkEmbeddingModel(model);
  checkOptions("MemoryStore.embeddings()", options, ["minScore"]);
  const minScore = checkMinScore(options.minScore);
  if (vectorStore === undefined) return new SharedEmbeddingMemory(model, minScore);
  checkVectorStore(vectorStore);
  return new EmbeddingMemory(model, vectorStore, minScore);
}
