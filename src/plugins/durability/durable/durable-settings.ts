import type { Journal } from "../../../contracts/journal.js";

/** The reaction to a difference between the program and an entry. */
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
  /** Whether entries are encrypted, so that secrets need not be removed. */
  readonly sealed: boolean;
}

/** The storage of a run and its settings. */
export interface RunKeeping {
  readonly journal: Journal;
  readonly settings: DurableSettings;
}
