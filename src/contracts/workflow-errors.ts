import type { TaskOutput } from "./output.js";
import { AgentEnsembleError } from "./errors.js";

/** A hierarchical run ended although its constraints were not satisfied. */
export class ConstraintViolationError extends AgentEnsembleError {
  readonly violations: readonly string[];
  readonly completedTaskOutputs: readonly TaskOutput[];
  constructor(violations: readonly string[], completedTaskOutputs: readonly TaskOutput[]) {
    const [first = ""] = violations;
    super(
      "AE_CONSTRAINT_VIOLATION",
      violations.length === 1
        ? `Hierarchical constraint violated: ${first}`
        : `Hierarchical constraints violated (${violations.length}): ${violations.join("; ")}`,
    );
    this.violations = Object.freeze([...violations]);
    this.completedTaskOutputs = Object.freeze([...completedTaskOutputs]);
  }
}

/** A loop with `onMaxIterations: "THROW"` reached its limit of iterations. */
export class MaxLoopIterationsExceededError extends AgentEnsembleError {
  readonly loopName: string;
  readonly maxIterations: number;
  constructor(loopName: string, maxIterations: number) {
    super(
      "AE_MAX_LOOP_ITERATIONS",
      `Loop '${loopName}' did not converge after ${maxIterations} iterations`,
    );
    this.loopName = loopName;
    this.maxIterations = maxIterations;
  }
}

/** A graph with `onMaxSteps: "THROW"` reached its limit of steps. */
export class MaxGraphStepsExceededError extends AgentEnsembleError {
  readonly graphName: string;
  readonly maxSteps: number;
  readonly lastState: string;
  constructor(graphName: string, maxSteps: number, lastState: string) {
    super(
      "AE_MAX_GRAPH_STEPS",
      `Graph '${graphName}' did not reach a terminal state after ${maxSteps} step(s). Last state: '${lastState}'.`,
    );
    this.graphName = graphName;
    this.maxSteps = maxSteps;
    this.lastState = lastState;
  }
}

/** No edge matched after a state of a graph. */
export class GraphNoEdgeMatchedError extends AgentEnsembleError {
  readonly graphName: string;
  readonly currentState: string;
  readonly outputPreview: string;
  constructor(
    graphName: string,
    currentState: string,
    candidates: readonly string[],
    output: string,
  ) {
    const outputPreview = output.length > 200 ? `${output.slice(0, 200)}\u2026` : output;
    super(
      "AE_GRAPH_NO_EDGE",
      `Graph '${graphName}': no edge of state '${currentState}' matched. Candidates: ${candidates.join(", ")}. Output: ${outputPreview}`,
      {
        hint: "Add an edge without `when` as the last one.",
      },
    );
    this.graphName = graphName;
    this.currentState = currentState;
    this.outputPreview = outputPreview;
  }
}

/** Some tasks of a parallel run with CONTINUE_ON_ERROR failed. The other tasks have finished. */
export class ParallelExecutionError extends AgentEnsembleError {
  readonly completedTaskOutputs: readonly TaskOutput[];
  /** The causes by task id. A skipped task is neither here nor in `completedTaskOutputs`. */
  readonly failedTaskCauses: ReadonlyMap<string, Error>;
  readonly failedCount: number;
  readonly completedCount: number;
  constructor(
    total: number,
    completedTaskOutputs: readonly TaskOutput[],
    failedTaskCauses: ReadonlyMap<string, Error>,
  ) {
    super("AE_PARALLEL_EXECUTION", `${failedTaskCauses.size} of ${total} tasks failed`, {
      cause: failedTaskCauses.values().next().value,
    });
    this.completedTaskOutputs = Object.freeze([...completedTaskOutputs]);
    this.failedTaskCauses = failedTaskCauses;
    this.failedCount = failedTaskCauses.size;
    this.completedCount = completedTaskOutputs.length;
  }
}
