import type { AnyGraph } from "../../../contracts/ensemble-options.js";
import type { GraphHistory } from "../../../contracts/graph.js";
import type { Loop, LoopHistory } from "../../../contracts/loop.js";
import type { WorkflowReport } from "../../../contracts/run.js";
import type { GraphTrace, LoopTrace, PhaseTrace } from "../../../contracts/trace.js";
import type { TraceKeeper } from "./keeper.js";

/** The reports of workflows, except the outputs of tasks. */
export interface HistoryTraces {
  readonly loopTraces: readonly LoopTrace[];
  readonly graphTrace: GraphTrace | undefined;
  readonly phases: readonly PhaseTrace[];
}

function loopTrace(
  loop: Loop,
  { iterations, terminationReason, stoppedByMaxIterations }: LoopHistory,
  keeper: TraceKeeper,
): LoopTrace {
  const names = loop.tasks.map((task) => task.name ?? keeper.text(task.description));
  return {
    loopName: loop.name,
    iterationsRun: iterations.length,
    maxIterations: loop.maxIterations,
    terminationReason:
      terminationReason === "maxIterations" && !stoppedByMaxIterations
        ? undefined
        : terminationReason,
    onMaxIterations: loop.onMaxIterations,
    outputMode: loop.outputMode,
    memoryMode: loop.memoryMode,
    iterations: iterations.map((outputs) => names.slice(0, outputs.length)),
    taskIds: iterations.map((outputs) => outputs.map(({ taskId }) => taskId)),
  };
}

function graphTrace(
  { name, start, maxSteps }: AnyGraph,
  { steps, terminationReason, stoppedByMaxSteps }: GraphHistory,
): GraphTrace {
  return {
    graphName: name,
    startState: String(start),
    terminationReason:
      terminationReason === "maxSteps" && !stoppedByMaxSteps ? undefined : terminationReason,
    stepsRun: steps.length,
    maxSteps,
    steps: steps.map(({ stateName, stepNumber, nextState }) => ({
      stateName,
      stepNumber,
      nextState,
    })),
  };
}

/**
 * Returns the histories among the reports of a run. If two have the same name, returns the later
 * one.
 */
export function historyTraces(
  reports: readonly WorkflowReport[],
  keeper: TraceKeeper,
): HistoryTraces {
  const loops = new Map<string, LoopTrace>();
  const phases = new Map<string, PhaseTrace>();
  let graph: GraphTrace | undefined;
  for (const report of reports) {
    if (report.kind === "loop")
      loops.set(report.loop.name, loopTrace(report.loop, report.history, keeper));
    else if (report.kind === "graph") graph = graphTrace(report.graph, report.history);
    else {
      const { name, after } = report.phase;
      phases.set(name, {
        name,
        after: after.map((phase) => phase.name),
        taskIds: report.outputs.map(({ taskId }) => taskId),
      });
    }
  }
  return {
    loopTraces: Object.freeze([...loops.values()]),
    graphTrace: graph,
    phases: Object.freeze([...phases.values()]),
  };
}
