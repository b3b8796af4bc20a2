/** Memory of agents: stores of entries by scope, facts by name, and eviction policies. */
export { MEMORY_METADATA } from "./contracts/memory.js";
export { MemoryScope } from "./contracts/memory-scope.js";
export {
  FileFormatError,
  MemoryConflictError,
  MemoryStoreError,
} from "./contracts/state-errors.js";
export type { FileStoreOptions } from "./plugins/memory/file/index.js";
export type { InMemoryEntityMemory } from "./plugins/memory/in-memory/index.js";
export { memoryTool } from "./plugins/memory/memory-tool/index.js";
export type { MemoryTool, MemoryToolOptions } from "./plugins/memory/memory-tool/index.js";
export { EntityMemory, EvictionPolicy, LongTermMemory, MemoryStore } from "./ensemble/factories.js";
export type {
  EmbeddingModel,
  StoredVector,
  VectorMatch,
  VectorStore,
} from "./contracts/embedding.js";
export type { MemoryEntry, SharedMemoryStore, VersionedEntries } from "./contracts/memory.js";
export { hashedBagOfWords, universalSentenceEncoder } from "./plugins/memory/embeddings/index.js";
export type {
  EmbeddingMemoryOptions,
  HashedBagOfWordsOptions,
  SentenceEncoder,
} from "./plugins/memory/embeddings/index.js";
export { sqlMemoryStore } from "./plugins/memory/sql/index.js";
export type { SqlMemoryOptions } from "./plugins/memory/sql/index.js";
