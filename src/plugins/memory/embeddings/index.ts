export { embeddingMemory } from "./embedding-memory.js";
export type { EmbeddingMemoryOptions } from "./embedding-memory.js";
export { hashedBagOfWords } from "./hashed-bag-of-words.js";
export type { HashedBagOfWordsOptions } from "./hashed-bag-of-words.js";
export { longTermMemory } from "./long-term-memory.js";
export { universalSentenceEncoder } from "./universal-sentence-encoder.js";
export type { SentenceEncoder } from "./universal-sentence-encoder.js";
