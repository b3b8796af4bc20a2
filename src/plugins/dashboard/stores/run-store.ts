import type { RunStore as RunStoreContract } from "../../../contracts/run-store.js";
import { inMemoryRuns, type RunMemoryOptions } from "./memory-runs.js";

export type { RunMemoryOptions } from "./memory-runs.js";

/** Where the logs and summaries of runs are kept. All texts it is given are redacted. */
export type RunStore = RunStoreContract;

/** The stores of runs there are, for the option `store` of the dashboard. */
export const RunStore = Object.freeze({
  /** Lasts as long as the object. @throws ValidationError for bounds below 1. */
  inMemory: (o?: RunMemoryOptions): RunStoreContract => inMemoryRuns(o),
});
