import type { DagLink, DagTask } from "../contracts/dag.js";
import type { PlanStep } from "../contracts/plan-description.js";

/**
 * Returns the connections between tasks by context, order, repetition of loops, and delegation of
 * the manager.
 */
export function linksOf(steps: readonly PlanStep[], tasks: readonly DagTask[]): readonly DagLink[] {
  const nodes = new Map(tasks.map((task) => [task.id, task]));
  const manager = tasks.find(({ nodeType }) => nodeType === "manager")?.id;
  const before = new Map(steps.map(({ id, after }) => [id, new Set(after)]));
  return steps.flatMap((step) => {
    const { dependsOn = [], loopBody = [] } = nodes.get(step.id) ?? {};
    const handed = manager === undefined || step.id === manager ? [] : [manager];
    const known = [...dependsOn, ...handed];
    return [
      ...handed.map((from) => link(from, step.id, "delegation")),
      ...dependsOn.map((from) => link(from, step.id, "context")),
      ...orderBefore(step, known, before).map((from) => link(from, step.id, "order")),
      ...bodyLinks(loopBody),
    ];
  });
}

function link(fromTaskId: string, toTaskId: string, kind: DagLink["kind"]): DagLink {
  return { fromTaskId, toTaskId, kind };
}

/**
 * Returns the predecessors whose output a step does not receive. Omits predecessors of its other
 * predecessors.
 */
function orderBefore(
  { after }: PlanStep,
  known: readonly string[],
  before: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  if (after.length === 0) return [];
  const implied = new Set(after.flatMap((id) => [...(before.get(id) ?? [])]));
  return [...new Set(after)].filter(
    (id) => before.has(id) && !implied.has(id) && !known.includes(id),
  );
}

/** The tasks of a loop run in sequence. The last task is connected to the first. */
function bodyLinks(body: readonly DagTask[]): readonly DagLink[] {
  const [first, last] = [body[0], body.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [
    ...body.flatMap(({ id, dependsOn }, i) => {
      const previous = body[i - 1]?.id;
      return [
        ...dependsOn.map((from) => link(from, id, "context")),
        ...(previous === undefined || dependsOn.includes(previous)
          ? []
          : [link(previous, id, "order")]),
      ];
    }),
    link(last.id, first.id, "repeat"),
  ];
}
