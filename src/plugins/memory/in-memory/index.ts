export { inMemoryEntities } from "./in-memory-entities.js";
export type { InMemoryEntityMemory } from "./in-memory-entities.js";
export { inMemoryStore } from "./in-memory-store.js";
