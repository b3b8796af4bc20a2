import type { Dag, DagLink, DagTask } from "../../../contracts/dag.js";
import type { RunData, BoardTask } from "./run-data.js";
import { addTask, shortened, isUnderWay, newTaskRecord } from "./run-data.js";

/** Adds the tasks of a plan to the state. Known tasks keep their progress. */
export function takePlan(d: RunData, dag: Dag): void {
  for (const node of dag.tasks) addNode(d, node, undefined);
  for (const { fromTaskId, toTaskId, kind } of dag.edges) {
    const to = d.tasks.get(toTaskId);
    if (to === undefined || !to.planned) continue;
    if (kind === "order" && !to.after.includes(fromTaskId)) to.after = [...to.after, fromTaskId];
    if (kind === "delegation" && to.parent === undefined && to.state === "idle")
      to.parent = fromTaskId;
  }
  d.planVersion++;
  d.plan = {
    agents: dag.agents.map((agent) => ({
      ...agent,
      goal: d.text(agent.goal),
      background: agent.background === undefined ? undefined : d.text(agent.background),
    })),
    criticalPath: dag.criticalPath,
    groups: dag.parallelGroups.length,
    graphEdges: dag.graphEdges?.map((edge) => ({
      ...edge,
      conditionDescription: d.text(edge.conditionDescription),
    })),
    graphStartStateId: dag.graphStartStateId,
    mapReduceMode: dag.mapReduceMode,
  };
}

function addNode(d: RunData, node: DagTask, loop: string | undefined): void {
  const known = d.tasks.get(node.id);
  const t = known ?? newTaskRecord(node.id, node.nodeType ?? "task", node.agentRole);
  t.planned = true;
  t.description = d.text(node.description);
  t.deps = node.dependsOn;
  t.after = [];
  t.level = node.parallelGroup;
  t.phase = node.phase;
  t.critical = node.onCriticalPath;
  t.loopMax = node.loopMaxIterations;
  t.mapLevel = node.mapReduceLevel;
  if (loop !== undefined && !isUnderWay(t)) t.parent = loop;
  if (known === undefined) addTask(d, t);
  for (const part of node.loopBody ?? []) addNode(d, part, node.id);
}

/**
 * Returns the plan as a diagram with the progress of the run. Returns `undefined` while the plan is
 * unknown.
 */
export function dagOfState(d: RunData): Dag | undefined {
  const { plan } = d;
  if (plan === undefined) return undefined;
  const bodies = new Map<string, BoardTask[]>();
  const nodes: BoardTask[] = [];
  for (const t of d.tasks.values()) {
    if (!t.planned) continue;
    const loop = loopOf(d, t);
    if (loop === undefined) nodes.push(t);
    else bodies.set(loop, [...(bodies.get(loop) ?? []), t]);
  }
  const critical = new Set(plan.criticalPath);
  const nodeOf = (t: BoardTask): DagTask => diagramNode(t, critical, bodies.get(t.id)?.map(nodeOf));
  const groups: string[][] = Array.from({ length: plan.groups }, () => []);
  for (const { id, level } of nodes) groups[level]?.push(id);
  return {
    schemaVersion: "1.3",
    type: "dag",
    workflow: d.head.workflow,
    agents: plan.agents,
    tasks: nodes.map(nodeOf),
    edges:
      plan.graphEdges === undefined
        ? nodes.flatMap((t) => [...linksTo(d, t), ...repeatLinks(d, bodies.get(t.id) ?? [])])
        : [],
    parallelGroups: groups,
    criticalPath: plan.criticalPath,
    ...(plan.mapReduceMode !== undefined && { mapReduceMode: plan.mapReduceMode }),
    ...(plan.graphEdges !== undefined && { mode: "graph" as const, graphEdges: plan.graphEdges }),
    ...(plan.graphStartStateId !== undefined && { graphStartStateId: plan.graphStartStateId }),
  };
}

/** Returns the loop that repeats a task. */
export function loopOf(d: RunData, { parent }: BoardTask): string | undefined {
  return parent !== undefined && d.tasks.get(parent)?.type === "loop" ? parent : undefined;
}

function diagramNode(
  t: BoardTask,
  critical: ReadonlySet<string>,
  loopBody: readonly DagTask[] | undefined,
): DagTask {
  return {
    id: t.id,
    description: shortened(t.description),
    expectedOutput: "",
    agentRole: t.role,
    dependsOn: t.deps,
    parallelGroup: t.level,
    onCriticalPath: critical.has(t.id),
    // The type is that of a diagram node. "task" means none.
    ...(t.type !== "task" && { nodeType: t.type as NonNullable<DagTask["nodeType"]> }),
    ...(t.mapLevel !== undefined && { mapReduceLevel: t.mapLevel }),
    ...(t.loopMax !== undefined && { loopMaxIterations: t.loopMax }),
    ...(loopBody !== undefined && { loopBody }),
    ...(t.phase !== undefined && { phase: t.phase }),
  };
}

function linksTo(d: RunData, t: BoardTask): readonly DagLink[] {
  const link = (fromTaskId: string, kind: DagLink["kind"]): DagLink => ({
    fromTaskId,
    toTaskId: t.id,
    kind,
  });
  const handed = t.parent !== undefined && loopOf(d, t) === undefined ? [t.parent] : [];
  return [
    ...handed.map((id) => link(id, "delegation")),
    ...t.deps.map((id) => link(id, "context")),
    ...t.after.map((id) => link(id, "order")),
  ];
}

function repeatLinks(d: RunData, body: readonly BoardTask[]): readonly DagLink[] {
  const [first, last] = [body[0], body.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [
    ...body.flatMap((t) => linksTo(d, t)),
    { fromTaskId: last.id, toTaskId: first.id, kind: "repeat" },
  ];
}
