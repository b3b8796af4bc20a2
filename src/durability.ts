/** Runs that survive the end of their process: what they have done is kept, and not done again. */
export { InMemoryJournal } from "./plugins/durability/shared/in-memory/in-memory-journal.js";
export type { InMemoryJournalOptions } from "./plugins/durability/shared/in-memory/in-memory-journal.js";
export { durable, once } from "./plugins/durability/durable/index.js";
export type { DurableOptions } from "./plugins/durability/durable/index.js";
