import type { EnsembleOutput } from "../../contracts/output.js";
import type { RunOptions } from "../../contracts/run.js";
import type { NamedCase } from "../evaluation-case.js";
import type { EvaluationSpending, TrialWay } from "../trial-way.js";
import { AgentEnsembleError } from "../../contracts/errors.js";
import { addSpending, NO_SPENDING, spendingOf, wayOfRuns } from "../way-of-runs.js";

/** One trial of a case for a target. */
export interface TrialRequest {
  readonly case: NamedCase;
  readonly trial: number;
  /** The id of the run. The ids of further runs begin with it. */
  readonly id: string;
  readonly signal: AbortSignal;
  /** For every run of the trial. */
  readonly options: RunOptions;
  /** Asks the model of simulated users. */
  ask(instructions: string, conversation: readonly string[]): Promise<string>;
}

/** Executes trials of one kind of target. */
export interface TargetRunner {
  /** Returns the output, and reports its runs to `runs`. */
  perform(request: TrialRequest, runs: TrialRuns): Promise<unknown>;
  /** Returns a text that changes with the target. Absent if there is no such text. */
  fingerprint?(input: unknown): Promise<string>;
}

/** The runs of a trial, including failed runs. */
export class TrialRuns {
  readonly #runs: EnsembleOutput[] = [];
  #spending: EvaluationSpending = NO_SPENDING;
  #earlier: TrialWay | undefined;

  /**
   * Waits for a run, and records its steps. `isPart`: the run has joined another run that counts
   * its usage.
   */
  async of<O extends EnsembleOutput>(run: Promise<O>, isPart = false): Promise<O> {
    try {
      const output = await run;
      this.#add(output, isPart);
      return output;
    } catch (error) {
      const output = AgentEnsembleError.find(error)?.output;
      if (output !== undefined) this.#add(output, isPart);
      throw error;
    }
  }

  /** Counts the usage of a run that does not belong to the agents of the target. */
  count(output: EnsembleOutput): void {
    this.#spending = addSpending(this.#spending, spendingOf(output.metrics.ledger));
  }

  /** Sets the steps of an earlier run. */
  use(way: TrialWay): void {
    this.#earlier = way;
    this.#spending = way.spending;
  }

  way(durationMs: number): TrialWay {
    return this.#earlier ?? wayOfRuns(this.#runs, this.#spending, durationMs);
  }

  get outputs(): readonly EnsembleOutput[] {
    return this.#runs;
  }

  #add(output: EnsembleOutput, isPart: boolean): void {
    this.#runs.push(output);
    if (!isPart) this.count(output);
  }
}
