import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { Phase } from "../contracts/phase.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { AnyTask } from "../contracts/task.js";
import type { PlanEntry } from "../engine/plan/plan.js";
import { Graph } from "../contracts/graph.js";
import { withSuccessors } from "../contracts/handoff.js";
import { Loop } from "../contracts/loop.js";
import { PhaseReview } from "../contracts/phase.js";
import { taskNotesOf } from "./task-notes.js";

const idIn = (prefix: string, task: AnyTask, index: number): string =>
  `${prefix}/${task.name ?? `task-${index + 1}`}`;

/**
 * Returns all tasks of an ensemble: the list, then the tasks of phases (with their reviews), loops
 * and the graph.
 */
export function taskEntries(options: EnsembleOptions): readonly PlanEntry[] {
  const { tasks = [], phases = [], loops = [], graph } = options;
  const notes = taskNotesOf(options);
  return [
    ...tasks.map(
      (task, i): PlanEntry => notes?.get(task) ?? { task, id: task.name ?? `task-${i + 1}` },
    ),
    ...phases.flatMap(phaseEntries),
    ...loops.flatMap((loop) =>
      loop.tasks.map((task, i): PlanEntry => ({
        task,
        id: idIn(loop.name, task, i),
        group: loop,
      })),
    ),
    ...(graph === undefined
      ? []
      : Object.entries<AnyTask>(graph.states).map(([state, task]): PlanEntry => ({
          task,
          id: `${graph.name}/${state}`,
          group: graph,
        }))),
  ];
}

/**
 * Checks the handoffs of the agents of tasks and of the option `agents`, and of all agents that they
 * reach. Calls handoffs that are functions. @throws ValidationError
 */
export function checkHandoffs(
  { agents = [] }: EnsembleOptions,
  entries: readonly PlanEntry[],
): void {
  withSuccessors([...entries.flatMap(({ task }) => task.agent ?? []), ...agents]);
}

function phaseEntries(phase: Phase): readonly PlanEntry[] {
  const { name, review } = phase;
  const entries = phase.tasks.map((task, i): PlanEntry => ({
    task,
    id: idIn(name, task, i),
    group: phase,
  }));
  if (review === undefined) return entries;
  const { task } = review;
  return [
    ...entries,
    { task, id: `${name}/review`, group: review, purpose: "review", internal: true },
  ];
}

/** Returns the error message for a task without a model. */
export function withoutModel({ task, group, id }: PlannedTask): string {
  const advice =
    "Set `model` on the ensemble, the task or its agent, or give the task a `handler`.";
  if (group instanceof Loop)
    return `Loop '${group.name}' body task '${task.name ?? task.description}' has no LLM source. ${advice}`;
  if (group instanceof Graph)
    return `Graph '${group.name}' state '${id.slice(group.name.length + 1)}' Task has no LLM source. ${advice}`;
  const place =
    group === undefined || group instanceof PhaseReview ? "" : ` in phase '${group.name}'`;
  return `Task '${task.description}'${place} has no LLM available. Set \`model\` on the ensemble, the task or its agent, or give the task a \`handler\`.`;
}
