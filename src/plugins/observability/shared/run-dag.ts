import type { Dag, DagEdge, DagTask } from "../../../contracts/dag.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { ExecutionTrace, GraphTrace } from "../../../contracts/trace.js";
import { Graph } from "../../../contracts/graph.js";

/** The diagram of an ensemble after a run: with the time of the run, and of a graph the transitions that were made. */
export type RunDag = Dag & {
  readonly generatedAt: Date;
  readonly graphTerminationReason?: string | null;
  readonly graphStepsRun?: number;
};

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

/** What the run adds to the diagram. Of two edges between the same states both count as fired. */
export function dagOfRun(dag: Dag, { completedAt, graphTrace }: ExecutionTrace): RunDag {
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

/** The diagram without the secrets in its texts, for files. Names and ids stay: they connect its parts with each other and with the trace. */
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
