import type { RunStore } from "../../../contracts/run-store.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { RunStoreError } from "../../../contracts/state-errors.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";

/** Time limit of one call of a store, in milliseconds. */
const ANSWER_MS = 20_000;

/**
 * Calls a store. Other errors of the framework are unchanged.
 * @throws RunStoreError for a failure, and for an answer that takes more than 20 seconds
 */
export async function askStore<T>(work: () => Promise<T>): Promise<T> {
  const late = (): never => {
    throw new RunStoreError(`The store of runs did not answer within ${ANSWER_MS} ms`);
  };
  try {
    return await withTimeout(work, { ms: ANSWER_MS, late });
  } catch (cause) {
    if (AgentEnsembleError.isInstance(cause)) throw cause;
    throw new RunStoreError(`The store of runs failed: ${messageOf(cause)}`, { cause });
  }
}

/** Returns a store for requests of users. Each call uses `askStore`. */
export function askedStore(store: RunStore): RunStore {
  return {
    append: (runId, entries) => askStore(async () => store.append(runId, entries)),
    put: (summary) => askStore(async () => store.put(summary)),
    list: (query) => askStore(async () => store.list(query)),
    get: (runId) => askStore(async () => store.get(runId)),
    read: (runId, after, limit) => askStore(async () => store.read(runId, after, limit)),
    remove: (runId) => askStore(async () => store.remove(runId)),
    putTrace: (runId, trace) => askStore(async () => store.putTrace?.(runId, trace)),
    trace: (runId) => askStore(async () => store.trace?.(runId)),
  };
}
