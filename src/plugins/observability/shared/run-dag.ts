import type { Dag, DagEdge, DagTask, RunDag } from "../../../contracts/dag.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { ExecutionTrace, GraphTrace } from "../../../contracts/trace.js";
import { tasksOf } from "../../shared/trace-dag.js";
import { Graph } from "../../../contracts/graph.js";

function edgesAfter(
  edges: readonly DagEdge[],
  { graphName, steps }: GraphTrace,
): readonly DagEdge[] {
  const idOf = (state: string): string => (state === Graph.END ? state : `${graphName}/${state}`);
  const made = new Set(
    steps.map(({ stateName, nextState }) => JSON.stringify([idOf(stateName), idOf(nextState)])),
  );
  return edges.map((edge) => ({
    ...edge,
    fired: made.has(JSON.stringify([edge.fromStateId, edge.toStateId])),
  }));
}

/**
 * Returns the nodes with the texts and roles that their tasks had in the run. Readers use them to
 * join both files.
 */
function tasksAfter(tasks: readonly DagTask[], trace: ExecutionTrace): readonly DagTask[] {
  const ran = tasksOf(trace.taskTraces);
  const after = (node: DagTask): DagTask => {
    const task = ran.get(node.id);
    return {
      ...node,
      ...(task !== undefined && {
        description: task.taskDescription,
        expectedOutput: task.expectedOutput,
        agentRole: task.agentRole,
      }),
      ...(node.loopBody !== undefined && { loopBody: node.loopBody.map(after) }),
    };
  };
  return tasks.map(after);
}

/**
 * Adds the results of the run to the diagram. If two edges connect the same states, both are marked
 * as fired.
 */
export function dagOfRun(plan: Dag, trace: ExecutionTrace): RunDag {
  const { completedAt, graphTrace } = trace;
  const dag = { ...plan, tasks: tasksAfter(plan.tasks, trace) };
  if (graphTrace === undefined || dag.graphEdges === undefined)
    return { ...dag, generatedAt: completedAt };
  return {
    ...dag,
    generatedAt: completedAt,
    graphEdges: edgesAfter(dag.graphEdges, graphTrace),
    graphTerminationReason: graphTrace.terminationReason ?? null,
    graphStepsRun: graphTrace.stepsRun,
  };
}

/**
 * Returns the diagram without the secrets in its texts, for files. Names and ids are kept, because
 * they connect its parts with each other and with the trace.
 */
export function redactedDag(dag: RunDag, redactor: Redactor): RunDag {
  const text = (value: string): string => redactor.redactText(value);
  const taskOf = (task: DagTask): DagTask => ({
    ...task,
    description: text(task.description),
    expectedOutput: text(task.expectedOutput),
    ...(task.loopBody !== undefined && { loopBody: task.loopBody.map(taskOf) }),
  });
  return {
    ...dag,
    agents: dag.agents.map((agent) => ({
      ...agent,
      goal: text(agent.goal),
      background: agent.background === undefined ? undefined : text(agent.background),
    })),
    tasks: dag.tasks.map(taskOf),
    ...(dag.graphEdges !== undefined && {
      graphEdges: dag.graphEdges.map((edge) => ({
        ...edge,
        conditionDescription: text(edge.conditionDescription),
      })),
    }),
  };
}
