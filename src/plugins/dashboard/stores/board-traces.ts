import type { RunStore } from "../../../contracts/run-store.js";
import type { ExecutionTrace } from "../../../contracts/trace.js";
import { messageOf } from "../../../util/errors.js";
import { asFields } from "../../../util/objects.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { askedStore } from "./asked-store.js";

/** The capture mode of traces from which runs can be replayed. */
const WHOLE = "FULL";

interface BoardTracesOptions {
  readonly store?: RunStore | undefined;
  readonly contents: boolean;
}

/**
 * The traces of runs. Traces of runs that ended in this process are in memory, other traces in the
 * store. The traces from which runs can be replayed are stored. Without contents, there are no
 * traces.
 */
export class BoardTraces {
  readonly #store: RunStore | undefined;
  readonly #contents: boolean;
  readonly #inMemory = new Map<string, ExecutionTrace>();
  #writes: Promise<void> = Promise.resolve();

  constructor({ store, contents }: BoardTracesOptions) {
    this.#store = store && askedStore(store);
    this.#contents = contents;
  }

  /** Stores the trace of a run that has ended. Runs do not wait for the store. */
  keep(runId: string, trace: ExecutionTrace): void {
    if (!this.#contents) return;
    this.#inMemory.set(runId, trace);
    const store = this.#store;
    if (store === undefined || trace.captureMode !== WHOLE) return;
    this.#writes = this.#writes
      .then(() => store.putTrace?.(runId, trace.toJson()))
      .catch((error: unknown) => {
        emitProcessWarning(
          `dashboard: the store did not take the trace of run '${runId}': ${messageOf(error)}`,
        );
      });
  }

  /** Resolves when the store has received all traces. */
  written(): Promise<void> {
    return this.#writes;
  }

  /** Called when the run is removed from memory. */
  forget(runId: string): void {
    this.#inMemory.delete(runId);
  }

  /** Returns the trace of a run as JSON. @throws RunStoreError */
  async textOf(runId: string): Promise<string | undefined> {
    if (!this.#contents) return undefined;
    return this.#inMemory.get(runId)?.toJson() ?? this.#store?.trace?.(runId);
  }

  /** Returns the trace of a run, if the run can be replayed from it. @throws RunStoreError */
  async replayable(runId: string): Promise<ExecutionTrace | undefined> {
    const known = this.#inMemory.get(runId) ?? parsedTrace(await this.textOf(runId));
    return known?.captureMode === WHOLE ? known : undefined;
  }
}

function parsedTrace(text: string | undefined): ExecutionTrace | undefined {
  if (text === undefined) return undefined;
  try {
    return asFields(JSON.parse(text)) as ExecutionTrace | undefined; // a replay checks the contents
  } catch {
    return undefined; // written by another program
  }
}
