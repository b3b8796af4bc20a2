import type { Loop } from "../../../contracts/loop.js";
import type { Plan } from "../../../contracts/plan.js";
import type { PlanDescription, PlanStep } from "../../../contracts/plan-description.js";
import { bodyIds, listTasks } from "./loop-plan.js";

/** The id of a loop among tasks. */
export const loopId = (loop: Loop): string => `$loop:${loop.name}`;

/**
 * Describes the tasks of the list and the loops, each after the steps whose outputs it uses. For
 * workflows without their own description.
 */
export function describeTasks(plan: Plan): PlanDescription {
  const owners = new Map(plan.tasks.map(({ id }) => [id, id]));
  for (const loop of plan.loops) for (const id of bodyIds(plan, loop)) owners.set(id, loopId(loop));
  const steps = [
    ...listTasks(plan).map(({ id, contextIds }): PlanStep => ({
      id,
      after: contextIds.map((other) => owners.get(other) ?? other),
    })),
    ...plan.loops.map((loop) => loopStep(plan, loop, owners)),
  ];
  return { steps };
}

function loopStep(plan: Plan, loop: Loop, owners: ReadonlyMap<string, string>): PlanStep {
  const after = [
    ...new Set(loop.context.flatMap((task) => owners.get(plan.idOf(task) ?? "") ?? [])),
  ];
  const body = plan.tasks.filter(({ group }) => group === loop);
  const last = body.at(-1)?.id;
  return {
    id: loopId(loop),
    after,
    dependsOn: after,
    nodeType: "loop",
    title: loop.name,
    maxRuns: loop.maxIterations,
    body: body.map(({ id }, index): PlanStep => ({
      id,
      after: [],
      feedbackFrom: index === 0 && loop.injectFeedback && last !== undefined ? [last] : [],
    })),
  };
}

/** Returns the same steps, each also after the previous one. */
export function inSequence(steps: readonly PlanStep[]): readonly PlanStep[] {
  return steps.map((step, i) => ({
    ...step,
    after: [...step.after, ...steps.slice(Math.max(0, i - 1), i).map(({ id }) => id)],
  }));
}
