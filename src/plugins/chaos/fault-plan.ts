import type { HookRun } from "../../contracts/run.js";
import type { ChaosFault, ChaosFaultKind, ChaosOptions } from "./chaos-options.js";
import { fraction } from "./fraction.js";

/** A fault that was injected. */
export interface InjectedFault {
  readonly kind: ChaosFaultKind;
  readonly runId: string;
  /**
   * The step: task, attempt and number of the call. Repetitions with the same seed have the same
   * steps.
   */
  readonly step: string;
}

/** Selects the steps that have a fault, by the seed. */
export class FaultPlan {
  readonly injected: InjectedFault[] = [];
  /** Faults of each entry, by run id, so that a resumed run continues to count. */
  readonly #counts = new Map<string, number>();

  constructor(readonly options: ChaosOptions) {}

  /** Returns the fault of this kind at a step, and counts it. */
  draw(kind: ChaosFaultKind, run: Pick<HookRun, "id">, step: string): ChaosFault | undefined {
    const { faults, seed = 1 } = this.options;
    for (const [index, fault] of faults.entries()) {
      const { chance = 0.1, limit = Infinity } = fault;
      const key = `${run.id} ${index}`;
      const count = this.#counts.get(key) ?? 0;
      if (fault.kind !== kind || count >= limit) continue;
      if (fraction(`${seed} ${index} ${step}`) >= chance) continue;
      this.#counts.set(key, count + 1);
      this.injected.push({ kind, runId: run.id, step });
      return fault;
    }
    return undefined;
  }
}
