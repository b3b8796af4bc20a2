import type { ReflectionStore as Reflections } from "../contracts/reflection.js";
import { fileReflections } from "../plugins/reflection/file-reflections.js";
import { inMemoryReflections } from "../plugins/reflection/in-memory-reflections.js";
import type { AgentSynthesizer as Synthesizer } from "../contracts/executors.js";
import type { EmbeddingModel, VectorStore } from "../contracts/embedding.js";
import type {
  EntityMemory as Entities,
  EvictionPolicy as Eviction,
  LongTermMemory as LongTerm,
  MemoryStore as Store,
  SharedMemoryStore,
} from "../contracts/memory.js";
import type { Clock } from "../contracts/runtime.js";
import type { EmbeddingMemoryOptions } from "../plugins/memory/embeddings/index.js";
import type { FileStoreOptions } from "../plugins/memory/file/index.js";
import type { InMemoryEntityMemory } from "../plugins/memory/in-memory/index.js";
import { keepEntriesWithin, keepLastEntries } from "../contracts/memory-scope.js";
import { systemClock } from "../util/runtime.js";
import { llmSynthesizer } from "../plugins/agents/synthesis/llm-synthesizer.js";
import { templateSynthesizer } from "../plugins/agents/synthesis/template-synthesizer.js";
import { embeddingMemory, longTermMemory } from "../plugins/memory/embeddings/index.js";
import { fileStore } from "../plugins/memory/file/index.js";
import { inMemoryEntities, inMemoryStore } from "../plugins/memory/in-memory/index.js";
import type { ReviewHandler as Handler } from "../contracts/review.js";
import type { ConsoleReviewOptions } from "../plugins/review/handlers/console-handler.js";
import { autoApprove, autoApproveWithDelay } from "../plugins/review/handlers/auto-approve.js";
import { consoleHandler } from "../plugins/review/handlers/console-handler.js";

// Each factory object has the name of a type: `AgentSynthesizer`, for instance, is both the
// contract and the object with the available synthesizers.

/** Stores lessons of tasks. See the contract. */
export type ReflectionStore = Reflections;

/** The available stores, for `EnsembleOptions.reflectionStore`. */
export const ReflectionStore = Object.freeze({
  /** Stores lessons in memory, for the lifetime of the object. */
  inMemory: (): ReflectionStore => inMemoryReflections(),
  /** Stores lessons in one JSON file. @throws ValidationError for a blank path. */
  file: (path: string): ReflectionStore => fileReflections(path),
});

/** Creates an agent for a task without an agent. See the contract. */
export type AgentSynthesizer = Synthesizer;

/** The available synthesizers, for `EnsembleOptions.agentSynthesizer`. */
export const AgentSynthesizer = Object.freeze({
  /**
   * Creates the agent from the description without a model: the first verb determines the role.
   * This is the default.
   */
  template: (): AgentSynthesizer => templateSynthesizer(),
  /**
   * Calls the task's model once for each task without an agent. If the answer does not describe an
   * agent, uses the template and emits a `run_warning`.
   */
  llmBased: (): AgentSynthesizer => llmSynthesizer(),
});

/** Stores entries by scope. See the contract. */
export type MemoryStore = Store;

/**
 * Creates a store that searches by meaning. Its entries are in memory or in the given vector store.
 * A vector store has no versions and locks.
 */
function embeddings(
  model: EmbeddingModel,
  vectorStore?: undefined,
  options?: EmbeddingMemoryOptions,
): SharedMemoryStore;
function embeddings(
  model: EmbeddingModel,
  vectorStore: VectorStore,
  options?: EmbeddingMemoryOptions,
): MemoryStore;
function embeddings(
  model: EmbeddingModel,
  vectorStore?: VectorStore,
  options?: EmbeddingMemoryOptions,
): MemoryStore {
  return vectorStore === undefined
    ? embeddingMemory(model, vectorStore, options)
    : embeddingMemory(model, vectorStore, options);
}

/**
 * The available memory stores, for `EnsembleOptions.memoryStore` and for direct use.
 * `docs/memory-stores.md` compares them.
 */
export const MemoryStore = Object.freeze({
  /**
   * Stores entries in memory, for the lifetime of the object. Returns the latest entries of a
   * scope, oldest first.
   */
  inMemory: (): SharedMemoryStore => inMemoryStore(),
  /**
   * Stores entries in one file of JSON lines, created at the first call. When `store` resolves, the
   * entry is on disk. Only one object at a time may use the file. `close()` releases the file. A
   * relative path is resolved against the current folder at the time of this call.
   *
   * @throws ValidationError for an invalid path or option.
   */
  file: (path: string, options?: FileStoreOptions): SharedMemoryStore => fileStore(path, options),
  /**
   * Searches by meaning and returns the best match first. For a blank query, returns the latest
   * entries, oldest first. Without a vector store, the entries have the lifetime of the object.
   * `minScore` excludes entries with a lower similarity to the query, from -1 to 1. See
   * docs/semantic-memory.md.
   *
   * @throws ValidationError for a value that is not a model or a vector store.
   */
  embeddings,
});

/** A memory for several runs. See the contract. */
export type LongTermMemory = LongTerm;

/** The available long-term memories, for `MemoryOptions.longTerm`. */
export const LongTermMemory = Object.freeze({
  /**
   * Uses one scope of a store, by default `long-term`. A semantic store searches by meaning. Other
   * stores return the latest entries. A blank query returns no entries.
   *
   * @throws ValidationError for a value that is not a store, and for a blank scope.
   */
  of: (store: MemoryStore, scope?: string): LongTermMemory => longTermMemory(store, scope),
  /**
   * Searches by meaning, in memory or in a given vector store. Equals
   * `LongTermMemory.of(MemoryStore.embeddings(...))`.
   */
  embeddings: (model: EmbeddingModel, vectorStore?: VectorStore): LongTermMemory =>
    longTermMemory(
      vectorStore === undefined ? embeddingMemory(model) : embeddingMemory(model, vectorStore),
    ),
});

/** Selects the entries of a scope that a store keeps. See the contract. */
export type EvictionPolicy = Eviction;

/** The available eviction policies, for `MemoryStore.evict`. `MemoryScope` has them as methods. */
export const EvictionPolicy = Object.freeze({
  /** Keeps the last `n` entries. @throws ValidationError unless `n` is an integer above 0. */
  keepLastEntries: (n: number): EvictionPolicy => keepLastEntries(n),
  /**
   * Keeps entries stored within the last `ms` milliseconds. A run passes the time of its clock.
   * Outside of a run, uses `clock`. Default of `clock`: the clock of the machine.
   * @throws ValidationError unless `ms` is a positive number.
   */
  keepEntriesWithin: (ms: number, clock: Pick<Clock, "now"> = systemClock): EvictionPolicy =>
    keepEntriesWithin(ms, clock),
});

/** Facts by name. See the contract. */
export type EntityMemory = Entities;

/** The available entity memories, for `MemoryOptions.entity`. */
export const EntityMemory = Object.freeze({
  /**
   * Stores facts in memory, for the lifetime of the object. Names are trimmed. A new fact replaces
   * the previous fact with the same name.
   */
  inMemory: (): InMemoryEntityMemory => inMemoryEntities(),
});

/** Asks a person to decide about a review. See the contract. */
export type ReviewHandler = Handler;

/**
 * The available handlers, for `EnsembleOptions.reviewHandler`. If people answer elsewhere, omit the
 * handler and answer from the review store: see `reviewInbox` of `agentensemble/review`.
 */
export const ReviewHandler = Object.freeze({
  /**
   * Asks in the terminal, one question at a time.
   * @throws ValidationError for a value that is not a stream.
   */
  console: (options?: ConsoleReviewOptions): ReviewHandler => consoleHandler(options),
  /** Approves every request, for tests and unattended runs. */
  autoApprove: (): ReviewHandler => autoApprove(),
  /**
   * Approves every request after `delayMs` milliseconds.
   * @throws ValidationError for an invalid delay.
   */
  autoApproveWithDelay: (delayMs: number): ReviewHandler => autoApproveWithDelay(delayMs),
});
