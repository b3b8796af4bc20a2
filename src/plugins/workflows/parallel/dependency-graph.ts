import type { TaskOutput } from "../../../contracts/output.js";
import type { Plan } from "../../../contracts/plan.js";
import { ValidationError } from "../../../contracts/errors.js";
import { loopId } from "../shared/describe-tasks.js";
import { bodyIds, checkLoops, listTasks } from "../shared/loop-plan.js";

const NONE: readonly DependencyNode[] = Object.freeze([]);

/** A task of the list or a whole loop, with the number of open dependencies and its dependants. */
export interface DependencyNode {
  /** The task's id, or `$loop:{name}` for a loop. */
  readonly id: string;
  /** The ids of the loop's tasks. `undefined` for a task. */
  readonly body: readonly string[] | undefined;
  open: number;
  dependents: readonly DependencyNode[];
  skipped: boolean;
  /** Whether it is done, skipped, or counts as done. */
  isThrough: boolean;
  /** The output of the task, or the outputs of the loop. */
  output: TaskOutput | readonly TaskOutput[] | undefined;
}

const newNode = (id: string, body?: readonly string[]): DependencyNode => ({
  id,
  body,
  open: 0,
  dependents: NONE,
  skipped: false,
  isThrough: false,
  output: undefined,
});

/**
 * Adds a dependant. Nodes with the same only dependant share one list, `alone`. A map-reduce of
 * many items has one such list for each reduce.
 */
function addDependent(
  node: DependencyNode,
  dependent: DependencyNode,
  alone: readonly DependencyNode[],
): void {
  const { dependents } = node;
  if (dependents.length === 0) node.dependents = alone;
  else if (dependents.length === 1) node.dependents = [...dependents, dependent];
  else (dependents as DependencyNode[]).push(dependent); // made by the line above
}

function connect(
  node: DependencyNode,
  contextIds: Iterable<string | undefined>,
  owners: ReadonlyMap<string, DependencyNode>,
): void {
  const dependencies = new Set<DependencyNode>();
  for (const id of contextIds) {
    const dependency = id === undefined ? undefined : owners.get(id);
    // outside this part of the plan: satisfied
    if (dependency !== undefined) dependencies.add(dependency);
  }
  const alone = [node];
  for (const dependency of dependencies) addDependent(dependency, node, alone);
  node.open = dependencies.size;
}

/** Returns the tasks of the list in order, then the loops in order. */
export function buildGraph(plan: Plan): readonly DependencyNode[] {
  const tasks = listTasks(plan);
  const owners = new Map(tasks.map(({ id }): [string, DependencyNode] => [id, newNode(id)]));
  const nodes = [...owners.values()];
  for (const loop of plan.loops) {
    const node = newNode(loopId(loop), bodyIds(plan, loop));
    nodes.push(node);
    for (const id of node.body ?? []) owners.set(id, node);
  }
  tasks.forEach(({ contextIds }, i) => {
    const node = nodes[i];
    if (node !== undefined && contextIds.length > 0) connect(node, contextIds, owners);
  });
  plan.loops.forEach((loop, i) => {
    const node = nodes[tasks.length + i];
    if (node !== undefined)
      connect(
        node,
        loop.context.map((task) => plan.idOf(task)),
        owners,
      );
  });
  return nodes;
}

/** @throws ValidationError for a cycle of tasks or loops, or a task that depends on a loop */
export function checkGraph(plan: Plan): void {
  checkLoops(plan);
  const nodes = buildGraph(plan);
  const ready = nodes.filter((n) => n.open === 0);
  let seen = 0;
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    seen++;
    for (const dependent of node.dependents) if (--dependent.open === 0) ready.push(dependent);
  }
  if (seen === nodes.length) return;
  const stuck = nodes.find((n) => n.open > 0);
  const task = plan.tasks.find((t) => t.id === stuck?.id);
  throw new ValidationError(
    task === undefined
      ? `Circular context dependency detected involving loop: '${stuck?.id.slice("$loop:".length) ?? ""}'`
      : `Circular context dependency detected involving task: '${task.task.description}'`,
  );
}
