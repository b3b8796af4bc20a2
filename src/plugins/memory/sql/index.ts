export type { SqlMemoryOptions } from "./options.js";
export { sqlMemoryStore } from "./sql-memory-store.js";
