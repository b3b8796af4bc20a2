/** Durable runs: finished steps are stored, and not repeated after the end of the process. */
export { Journal } from "./plugins/durability/shared/journals.js";
export { connectRuns } from "./plugins/durability/shared/connect-runs.js";
export type { InMemoryJournalOptions } from "./plugins/durability/shared/in-memory/in-memory-journal.js";
export type { JournalKeys } from "./plugins/durability/shared/journal-keys.js";
export type { ResumeOptions } from "./plugins/durability/shared/resume-run.js";
export type { SqlJournalOptions } from "./plugins/durability/shared/sql/sql-journal.js";
export { durable, once } from "./plugins/durability/durable/index.js";
export type { KeptRunFilter } from "./contracts/journal.js";
export type {
  DurableOptions,
  DurablePlugin,
  ResumeAllOptions,
  ResumedRun,
  Runs,
} from "./plugins/durability/durable/index.js";
