import type { Phase } from "../../../contracts/phase.js";
import type { Plan } from "../../../contracts/plan.js";
import type { PlanDescription, PlanStep } from "../../../contracts/plan-description.js";
import { inSequence } from "../shared/describe-tasks.js";
import { PhasePlan } from "./phase-plan.js";

/**
 * Describes tasks and reviews. Every task of a phase follows all tasks of the preceding phases. The
 * review follows the phase's own tasks.
 */
export function describePhases(plan: Plan): PlanDescription {
  const view = new PhasePlan(plan);
  return {
    steps: view.phases.flatMap((phase) => stepsOf(phase, view)),
    phases: view.phases.map(({ name, after }) => ({
      name,
      after: after.map((before) => before.name),
    })),
  };
}

function stepsOf(phase: Phase, view: PhasePlan): readonly PlanStep[] {
  const review = view.reviewOf(phase);
  const own = view.tasksOf(phase);
  const before = phase.after.flatMap((other) =>
    [...view.tasksOf(other), view.reviewOf(other)].flatMap((task) => task?.id ?? []),
  );
  const maxRuns = attemptsOf(phase, view.phases);
  const feedbackFrom = reviewersOf(phase, view.phases).flatMap(
    (other) => view.reviewOf(other)?.id ?? [],
  );
  const steps = own.map(({ id, contextIds }): PlanStep => ({
    id,
    after: [...contextIds, ...before],
    phase: phase.name,
    maxRuns,
    feedbackFrom,
  }));
  const ordered = view.workflowOf(phase) === "SEQUENTIAL" ? inSequence(steps) : steps;
  if (review === undefined) return ordered;
  const ids = own.map(({ id }) => id);
  return [
    ...ordered,
    {
      id: review.id,
      after: ids,
      dependsOn: ids,
      nodeType: "review",
      phase: phase.name,
      maxRuns,
    },
  ];
}

/** Returns the phases whose review may request a repetition of this one. */
function askersOf(phase: Phase, phases: readonly Phase[]): readonly Phase[] {
  return phases.filter(
    ({ after, review }) => after.includes(phase) && (review?.maxPredecessorRetries ?? 0) > 0,
  );
}

/**
 * Returns the phases whose reviews may give feedback to this phase: itself and the phases that may
 * request its repetition.
 */
function reviewersOf(phase: Phase, phases: readonly Phase[]): readonly Phase[] {
  const retries = phase.review?.maxRetries ?? 0;
  return [...(retries > 0 ? [phase] : []), ...askersOf(phase, phases)];
}

/**
 * Returns the maximum number of attempts of a phase. It starts once, and again for each request by
 * a successor. Its own retries restart from zero after each predecessor that it repeats.
 */
function attemptsOf(phase: Phase, phases: readonly Phase[]): number {
  const begun = askersOf(phase, phases).reduce(
    (sum, { review }) => sum + (review?.maxPredecessorRetries ?? 0),
    1,
  );
  const { maxRetries = 0, maxPredecessorRetries = 0 } = phase.review ?? {};
  return (begun + phase.after.length * maxPredecessorRetries) * (1 + maxRetries);
}
