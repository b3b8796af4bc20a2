import type { Journal } from "../../../contracts/journal.js";

/** What to do where the program differs from an entry. */
export type OnChange = "fail" | "keep" | "redo";

/** The options of `durable()`, complete. */
export interface DurableSettings {
  readonly keep: "calls" | "tasks";
  readonly onChange: OnChange;
  readonly inDoubt: "ask" | "fail" | "again";
  readonly leaseMs: number;
  readonly suspendAfterMs: number | undefined;
  readonly maxEntryBytes: number;
  readonly resumeOnStart: boolean;
  /** Entries are sealed, so that nothing has to be taken out of them. */
  readonly sealed: boolean;
}

/** Where a run is kept, and how. */
export interface RunKeeping {
  readonly journal: Journal;
  readonly settings: DurableSettings;
}
