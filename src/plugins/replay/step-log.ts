import type { MemoryWrite } from "../../contracts/hooks.js";
import type { HookRun } from "../../contracts/run.js";
import type { StepTimes } from "./recording-format.js";
import type { StepName } from "./step-names.js";
import { rounded } from "../../util/objects.js";
import { StepNames } from "./step-names.js";

/** The order of starts and ends in a run and in the runs that joined it. */
interface RunOrder {
  readonly startedAtMs: number;
  next: number;
  /** Steps that have not ended. */
  readonly open: Map<string, StepTimes>;
}

/** A run in progress. */
interface LoggedRun {
  readonly names: StepNames;
  readonly order: RunOrder;
  readonly isRoot: boolean;
}

/** Tracks the common order of the starts and ends of the steps of runs. */
export class StepLog {
  readonly #runs = new Map<string, LoggedRun>();

  begin(run: HookRun): void {
    const outer = run.parent === undefined ? undefined : this.#runs.get(run.parent.id);
    const order = outer?.order ?? { startedAtMs: performance.now(), next: 0, open: new Map() };
    this.#runs.set(run.id, { names: new StepNames(run.id), order, isRoot: outer === undefined });
  }

  names(runId: string): StepNames | undefined {
    return this.#runs.get(runId)?.names;
  }

  started(runId: string, { key, owner }: StepName): void {
    const order = this.#runs.get(runId)?.order;
    if (order === undefined) return;
    order.open.set(key, {
      step: key,
      ...(owner !== undefined && { owner }),
      started: order.next++,
      startedMs: sinceStart(order),
    });
  }

  /**
   * Returns the data of a step that ends. Returns `undefined` for a step that has not started or
   * has already ended.
   */
  ended(runId: string, key: string | undefined): StepTimes | undefined {
    const order = this.#runs.get(runId)?.order;
    const begun = key === undefined ? undefined : order?.open.get(key);
    if (order === undefined || begun === undefined) return undefined;
    order.open.delete(begun.step);
    return { ...begun, ended: order.next++, endedMs: sinceStart(order) };
  }

  /** Returns the write in progress of a task. */
  openWrite(runId: string, call: MemoryWrite): string | undefined {
    const logged = this.#runs.get(runId);
    const first = logged?.names.firstWrite(call);
    for (const key of logged?.order.open.keys() ?? [])
      if (key === first || key.startsWith(`${first}~`)) return key;
    return undefined;
  }

  /**
   * Returns the steps of a run that did not end. Returns none for a run that joined another run,
   * because the other run may end them.
   */
  end(runId: string): readonly StepTimes[] {
    const logged = this.#runs.get(runId);
    this.#runs.delete(runId);
    return logged?.isRoot === true ? [...logged.order.open.values()] : [];
  }
}

function sinceStart({ startedAtMs }: RunOrder): number {
  return rounded(performance.now() - startedAtMs, 3);
}
