import { resolve } from "node:path";
import type { RunStore } from "../../../../contracts/run-store.js";
import { RunStoreError } from "../../../../contracts/state-errors.js";
import { pageOfRuns } from "../run-query.js";
import { SavedFiles } from "./saved-files.js";

/** Returns the runs of trace files and diagrams, read-only. Every write throws a RunStoreError. */
export function savedRuns(paths: readonly string[]): RunStore {
  const files = SavedFiles.of(paths.map((path) => resolve(path)));
  return {
    append: refuseWrite,
    put: refuseWrite,
    remove: refuseWrite,
    list: async (query) => structuredClone(pageOfRuns((await files.summaries()).values(), query)),
    get: async (runId) => structuredClone((await files.summaries()).get(runId)),
    read: (runId, after, limit) => files.read(runId, after, limit),
    trace: (runId) => files.trace(runId),
  };
}

function refuseWrite(): Promise<never> {
  return Promise.reject(
    new RunStoreError("Runs of trace files are read-only", {
      isReadOnly: true,
      hint: "Write to a separate folder by RunStore.file. Delete the files of a run to remove it.",
    }),
  );
}
