import type { HookRun } from "../../contracts/run.js";
import { createToken } from "../../contracts/token.js";

/** The trial to which a run belongs. One object for all runs of a trial. */
export interface TrialScope {
  readonly trial: number;
}

/** A value of all runs of a trial, and of runs that join them. */
export const TRIAL_SCOPE = createToken<TrialScope>("EvaluationTrial");

const NO_TRIALS = new WeakMap<HookRun, TrialScope>();

/**
 * Returns the trial of a run. For a run outside of evaluations, returns the run that it joined
 * first, as trial 1.
 */
export function trialScopeOf(run: HookRun): TrialScope {
  const scope = run.find(TRIAL_SCOPE);
  if (scope !== undefined) return scope;
  let outermost = run;
  while (outermost.parent !== undefined) outermost = outermost.parent;
  const known = NO_TRIALS.get(outermost) ?? { trial: 1 };
  NO_TRIALS.set(outermost, known);
  return known;
}
