import type { RunStore } from "../../../contracts/run-store.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { RunStoreError } from "../../../contracts/state-errors.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";

/** Time in milliseconds that a store has to answer one call. */
const ANSWER_MS = 20_000;

/**
 * A store as the requests of people use it. Its failures are RunStoreErrors, and so is an answer
 * that takes more than 20 seconds. Other errors of the framework pass.
 */
export function askedStore(store: RunStore, ms = ANSWER_MS): RunStore {
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    const late = (): never => {
      throw new RunStoreError(`The store of runs did not answer within ${ms} ms`);
    };
    try {
      return await withTimeout(work, { ms, late });
    } catch (cause) {
      if (AgentEnsembleError.isInstance(cause)) throw cause;
      throw new RunStoreError(`The store of runs failed: ${messageOf(cause)}`, { cause });
    }
  };
  return {
    append: (runId, entries) => ask(async () => store.append(runId, entries)),
    put: (summary) => ask(async () => store.put(summary)),
    list: (query) => ask(async () => store.list(query)),
    get: (runId) => ask(async () => store.get(runId)),
    read: (runId, after, limit) => ask(async () => store.read(runId, after, limit)),
    remove: (runId) => ask(async () => store.remove(runId)),
  };
}
