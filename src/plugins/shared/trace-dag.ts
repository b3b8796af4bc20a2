import type { Dag, DagLink, DagTask, RunDag } from "../../contracts/dag.js";
import type { ExecutionTrace, GraphTrace, TaskTrace } from "../../contracts/trace.js";
import { Graph } from "../../contracts/graph.js";
import { GRAPH_END } from "./graph-end.js";
import { criticalPathOf, levelsOf } from "./levels.js";

/** The part of a task's trace that a diagram shows. */
export interface DrawnTask extends Pick<
  TaskTrace,
  "taskId" | "parentTaskId" | "taskDescription" | "expectedOutput" | "agentRole" | "dependsOn"
> {
  readonly delegations: readonly {
    readonly workerTaskId: string | undefined;
    readonly workerTrace: DrawnTask | undefined;
  }[];
  readonly nodeType?: TaskTrace["nodeType"] | undefined;
  readonly mapReduceLevel?: number | undefined;
}

/** The part of a trace that a diagram shows. */
export interface DrawnTrace extends Pick<
  ExecutionTrace,
  "workflow" | "completedAt" | "agents" | "phases"
> {
  readonly taskTraces: readonly DrawnTask[];
  readonly loopTraces: readonly Pick<ExecutionTrace["loopTraces"][number], "taskIds">[];
  readonly graphTrace?:
    | Pick<GraphTrace, "graphName" | "startState" | "terminationReason" | "stepsRun" | "steps">
    | undefined;
  readonly mapReduceLevels?: readonly unknown[] | undefined;
}

/** Returns the last attempt of each task of a trace, including tasks inside delegations. */
export function tasksOf(traces: readonly DrawnTask[]): ReadonlyMap<string, DrawnTask> {
  const byId = new Map<string, DrawnTask>();
  const waiting = [...traces].reverse();
  for (let task = waiting.pop(); task !== undefined; task = waiting.pop()) {
    byId.set(task.taskId, task);
    for (const { workerTrace } of task.delegations.toReversed())
      if (workerTrace !== undefined) waiting.push(workerTrace);
  }
  return byId;
}

/**
 * Returns the pairs of tasks whose order does not come from an output: tasks of SEQUENTIAL, and
 * phases.
 */
function orderOf(
  { workflow, phases }: DrawnTrace,
  tasks: readonly DrawnTask[],
): readonly (readonly [string, string])[] {
  const listed = tasks.filter(({ parentTaskId }) => parentTaskId === undefined);
  const inLine =
    workflow === "SEQUENTIAL"
      ? listed.slice(1).map(({ taskId }, i) => [listed[i]?.taskId ?? "", taskId] as const)
      : [];
  const byName = new Map(phases.map((phase) => [phase.name, phase]));
  const byPhase = phases.flatMap(({ after, taskIds }) =>
    after.flatMap((name) =>
      (byName.get(name)?.taskIds ?? []).flatMap((from) => taskIds.map((to) => [from, to] as const)),
    ),
  );
  return [...inLine, ...byPhase];
}

function edgesOf(trace: DrawnTrace, tasks: ReadonlyMap<string, DrawnTask>): readonly DagLink[] {
  const edges = new Map<string, DagLink>();
  const add = (fromTaskId: string | undefined, toTaskId: string, kind: DagLink["kind"]): void => {
    if (fromTaskId === undefined || !tasks.has(fromTaskId) || !tasks.has(toTaskId)) return;
    const key = JSON.stringify([fromTaskId, toTaskId]);
    if (!edges.has(key)) edges.set(key, { fromTaskId, toTaskId, kind });
  };
  for (const { taskId, dependsOn, parentTaskId } of tasks.values()) {
    for (const from of dependsOn) add(from, taskId, "context");
    add(parentTaskId, taskId, "delegation");
  }
  for (const [from, to] of orderOf(trace, [...tasks.values()])) add(from, to, "order");
  for (const [first, second] of trace.loopTraces.flatMap(({ taskIds }) => [taskIds])) {
    const body = first ?? [];
    body.slice(1).forEach((id, i) => add(body[i], id, "order"));
    if (second?.[0] !== undefined) add(body.at(-1), second[0], "repeat");
  }
  return [...edges.values()];
}

/** Returns the states and transitions of the run, if it had a graph. */
function walkOf({ graphTrace }: DrawnTrace): Partial<RunDag> {
  if (graphTrace === undefined) return {};
  const idOf = (state: string): string =>
    state === Graph.END ? state : `${graphTrace.graphName}/${state}`;
  const made = new Map(
    graphTrace.steps.map(({ stateName, nextState }) => [
      JSON.stringify([stateName, nextState]),
      {
        fromStateId: idOf(stateName),
        toStateId: idOf(nextState),
        conditionDescription: "",
        unconditional: false,
        fired: true,
      },
    ]),
  );
  return {
    mode: "graph",
    graphEdges: [...made.values()],
    graphStartStateId: idOf(graphTrace.startState),
    graphTerminationReason: graphTrace.terminationReason ?? null,
    graphStepsRun: graphTrace.stepsRun,
  };
}

type Node = Omit<DagTask, "parallelGroup" | "onCriticalPath">;

/**
 * Returns the kind of a task in this run. Examples: a part of a tree, a state, a delegated task.
 */
function kindOf(task: DrawnTask, isState: boolean): DagTask["nodeType"] {
  const { taskId, parentTaskId, delegations } = task;
  if (task.nodeType !== undefined) return task.nodeType;
  if (parentTaskId !== undefined && taskId.startsWith(`${parentTaskId}.`)) return "delegated";
  if (delegations.some((d) => d.workerTaskId !== undefined && d.workerTrace === undefined))
    return "manager";
  return isState ? "graph-state" : undefined;
}

function nodeOf(task: DrawnTask, isState: boolean): Node {
  const { taskId, taskDescription, expectedOutput, agentRole, dependsOn, mapReduceLevel } = task;
  const nodeType = kindOf(task, isState);
  return {
    id: taskId,
    description: taskDescription,
    expectedOutput,
    agentRole,
    dependsOn,
    ...(nodeType !== undefined && { nodeType }),
    ...(mapReduceLevel !== undefined && { mapReduceLevel }),
  };
}

/**
 * Returns nodes with their positions. Tasks follow their dependencies. The states of a graph are in
 * the order of execution.
 */
function arranged(
  nodes: readonly Node[],
  edges: readonly DagLink[],
  isGraph: boolean,
): Pick<Dag, "tasks" | "parallelGroups" | "criticalPath"> {
  const after = new Map(nodes.map(({ id }): [string, string[]] => [id, []]));
  for (const { fromTaskId, toTaskId, kind } of edges)
    if (kind !== "repeat") after.get(toTaskId)?.push(fromTaskId);
  const steps = nodes.map(({ id }, i) => {
    const before = nodes[i - 1];
    return {
      id,
      after: !isGraph ? (after.get(id) ?? []) : before === undefined ? [] : [before.id],
    };
  });
  const levels = levelsOf(steps);
  const criticalPath = isGraph ? [] : criticalPathOf(steps, levels);
  const critical = new Set(criticalPath);
  const parallelGroups: string[][] = [];
  const tasks = nodes.map((node): DagTask => {
    const parallelGroup = levels.get(node.id) ?? 0;
    (parallelGroups[parallelGroup] ??= []).push(node.id);
    return { ...node, parallelGroup, onCriticalPath: critical.has(node.id) };
  });
  return { tasks, parallelGroups, criticalPath };
}

/**
 * Creates the diagram of an executed run from its trace. It shows the started tasks with their
 * texts from the trace. This includes tasks outside the plan: delegated tasks, and the tree of an
 * adaptive map-reduce.
 * @throws ValidationError for a trace whose tasks wait for each other in a cycle.
 */
export function dagOf(trace: DrawnTrace): RunDag {
  const traces = tasksOf(trace.taskTraces);
  const walk = walkOf(trace);
  const isGraph = walk.graphEdges !== undefined;
  const ended = walk.graphEdges?.some(({ toStateId }) => toStateId === Graph.END) === true;
  const nodes = [...traces.values()].map((task) => nodeOf(task, isGraph));
  const edges = isGraph ? [] : edgesOf(trace, traces);
  const isMapReduce = (trace.mapReduceLevels ?? []).length > 0;
  const mapReduceMode = trace.workflow === "MAP_REDUCE_ADAPTIVE" ? "ADAPTIVE" : "STATIC";
  return {
    schemaVersion: "1.3",
    type: "dag",
    workflow: trace.workflow,
    generatedAt: trace.completedAt,
    agents: trace.agents,
    ...arranged(ended ? [...nodes, GRAPH_END] : nodes, edges, isGraph),
    edges,
    ...(isMapReduce && { mapReduceMode }),
    ...walk,
  };
}
