import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { AnyTask } from "../contracts/task.js";
import { taskNotesOf } from "../contracts/map-reduce.js";

/** A task with the id it will have. */
export interface PlanEntry {
  readonly task: AnyTask;
  readonly id: string;
  readonly group: PlannedTask["group"];
}

const within = (prefix: string, task: AnyTask, index: number): string =>
  `${prefix}/${task.name ?? `task-${index + 1}`}`;

/** All tasks of an ensemble: the list, then those of phases (their reviews included), loops and the graph. */
export function planEntries(options: EnsembleOptions): readonly PlanEntry[] {
  const { tasks = [], phases = [], loops = [], graph } = options;
  const notes = taskNotesOf(options);
  return [
    ...tasks.map((task, i): PlanEntry => ({
      task,
      id: notes?.get(task)?.id ?? task.name ?? `task-${i + 1}`,
      group: undefined,
    })),
    ...phases.flatMap((phase) => [
      ...phase.tasks.map((task, i): PlanEntry => ({
        task,
        id: within(phase.name, task, i),
        group: phase,
      })),
      ...(phase.review === undefined
        ? []
        : [{ task: phase.review.task, id: `${phase.name}/review`, group: phase.review }]),
    ]),
    ...loops.flatMap((loop) =>
      loop.tasks.map((task, i): PlanEntry => ({
        task,
        id: within(loop.name, task, i),
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
