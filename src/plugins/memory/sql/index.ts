export type { SqlMemoryOptions } from "./sql-options.js";
export { sqlMemoryStore } from "./sql-memory-store.js";
