import type { Dag, DagTask } from "../../../src/contracts/dag.js";
import type { SavedTrace } from "../../../src/plugins/dashboard/protocol/saved-trace.js";

/**
 * Returns the tasks of a trace, each with the tasks whose outputs it received. Only diagrams
 * contain phases, loops and states of graphs.
 */
export function planOfTrace({ tasks, workflow }: SavedTrace): Dag {
  const own = new Map(
    tasks
      .filter(({ parentTaskId }) => parentTaskId === undefined)
      .map((task) => [task.taskId, task]),
  );
  const levels = new Map<string, number>();
  // A task follows the tasks whose outputs it received. A depth above the number of tasks is a
  // cycle.
  const levelOf = (id: string, depth = 0): number => {
    const known = levels.get(id);
    if (known !== undefined || depth > own.size) return known ?? 0;
    const before = (own.get(id)?.dependsOn ?? []).filter((other) => own.has(other));
    const level = Math.max(-1, ...before.map((other) => levelOf(other, depth + 1))) + 1;
    levels.set(id, level);
    return level;
  };
  const nodes = [...own.values()].map(
    ({ taskId, taskDescription, expectedOutput, agentRole, dependsOn }): DagTask => ({
      id: taskId,
      description: taskDescription,
      expectedOutput,
      agentRole,
      dependsOn: dependsOn.filter((id) => own.has(id)),
      parallelGroup: levelOf(taskId),
      onCriticalPath: false,
    }),
  );
  const depth = Math.max(-1, ...nodes.map(({ parallelGroup }) => parallelGroup)) + 1;
  return {
    schemaVersion: "1.3",
    type: "dag",
    workflow,
    agents: [],
    tasks: nodes,
    edges: nodes.flatMap(({ id, dependsOn }) =>
      dependsOn.map((from) => ({ fromTaskId: from, toTaskId: id, kind: "context" as const })),
    ),
    parallelGroups: Array.from({ length: depth }, (_, level) =>
      nodes.filter(({ parallelGroup }) => parallelGroup === level).map(({ id }) => id),
    ),
    criticalPath: [],
  };
}
