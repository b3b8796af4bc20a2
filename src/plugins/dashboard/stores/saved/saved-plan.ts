import type { Dag, DagTask } from "../../../../contracts/dag.js";
import { dagOf, type DrawnTask } from "../../../shared/trace-dag.js";
import type { JsonObject } from "../../protocol/json-object.js";
import type { SavedTask, SavedTrace } from "../../protocol/saved-trace.js";

/**
 * Returns the diagram of the executed tasks of a run. Returns `undefined` if its tasks wait for
 * each other in a cycle.
 */
export function planOfTrace(trace: SavedTrace): Dag | undefined {
  const { workflow, agents } = trace;
  try {
    const drawn = dagOf({
      workflow,
      agents,
      completedAt: new Date(trace.endMs),
      taskTraces: trace.tasks.map(drawnTask),
      phases: trace.phases.map((phase) => ({
        name: phase.text("name"),
        after: phase.texts("after"),
        taskIds: phase.texts("taskIds"),
      })),
      loopTraces: trace.loops.map((loop) => ({ taskIds: bodiesOf(loop) })),
      mapReduceLevels: trace.mapReduceLevels,
      graphTrace: trace.graph && drawnGraph(trace.graph),
    });
    return trace.loops.reduce<Dag>(withLoop, drawn);
  } catch {
    return undefined; // the run is shown without edges
  }
}

function drawnTask(task: SavedTask): DrawnTask {
  return {
    ...task,
    // The writer of the trace stored this type.
    nodeType: task.nodeType as DrawnTask["nodeType"],
    delegations: task.delegations.map(({ workerTaskId, workerTrace }) => ({
      workerTaskId,
      workerTrace: workerTrace && drawnTask(workerTrace),
    })),
  };
}

function drawnGraph(graph: JsonObject): NonNullable<Parameters<typeof dagOf>[0]["graphTrace"]> {
  return {
    graphName: graph.text("graphName"),
    startState: graph.text("startState"),
    terminationReason: undefined,
    stepsRun: graph.number("stepsRun", 0),
    steps: graph.list("steps").map((step) => ({
      stateName: step.text("stateName"),
      stepNumber: step.number("stepNumber", 0),
      nextState: step.text("nextState"),
    })),
  };
}

/** Returns the ids of the tasks of each iteration. */
function bodiesOf(loop: JsonObject): readonly (readonly string[])[] {
  return loop
    .values("taskIds")
    .map((ids) => (Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : []));
}

/** Puts the tasks of a loop into a separate node, as in plans. */
function withLoop(dag: Dag, loop: JsonObject): Dag {
  const id = `$loop:${loop.text("loopName")}`;
  const ids = new Set(bodiesOf(loop).flat());
  const body = dag.tasks.filter((task) => ids.has(task.id));
  const [first] = body;
  if (first === undefined) return dag;
  const node: DagTask = {
    id,
    description: loop.text("loopName"),
    expectedOutput: "",
    agentRole: "(loop)",
    dependsOn: [],
    parallelGroup: first.parallelGroup,
    onCriticalPath: first.onCriticalPath,
    nodeType: "loop",
    loopMaxIterations: loop.number("maxIterations", 1),
    loopBody: body.map((task, parallelGroup) => ({
      ...task,
      parallelGroup,
      onCriticalPath: false,
    })),
  };
  const ofLoop = (other: string): string => (ids.has(other) ? id : other);
  return {
    ...dag,
    tasks: dag.tasks.flatMap((task) => (task === first ? [node] : ids.has(task.id) ? [] : [task])),
    parallelGroups: dag.parallelGroups.map((group) => [...new Set(group.map(ofLoop))]),
    criticalPath: [...new Set(dag.criticalPath.map(ofLoop))],
  };
}
