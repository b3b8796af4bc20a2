import type { MapReduceNode } from "./map-reduce.js";
import type { PlanEdge, PlanStep } from "./plan-description.js";

/** An agent, as shown in a trace. */
export interface AgentSummary {
  readonly role: string;
  readonly goal: string;
  readonly background: string | undefined;
  readonly toolNames: readonly string[];
  readonly allowDelegation: boolean;
}

/** A task, or a loop, in a {@link Dag}. */
export interface DagTask {
  /** The task's id. `$loop:{name}` for a loop, `{graph}/{state}` for a state of a graph. */
  readonly id: string;
  /** The description. In `run_planned` the template variables are filled, otherwise not. */
  readonly description: string;
  readonly expectedOutput: string;
  /**
   * The role of the agent. `(deterministic)`: the task has a handler. `(synthesized)`: the agent is
   * created during the run. `(assigned)`: a manager chooses the agent. `(loop)`: a loop. `(end)`:
   * the end of a graph.
   */
  readonly agentRole: string;
  /** Ids of the tasks in its `context`. */
  readonly dependsOn: readonly string[];
  /** Index in `parallelGroups`. */
  readonly parallelGroup: number;
  readonly onCriticalPath: boolean;
  /**
   * `graph-end`: the end of a graph, with the id `__END__`. `manager`: the manager that assigns the
   * tasks of HIERARCHICAL. `delegated`: a task that a delegation created during the run.
   */
  readonly nodeType?:
    | MapReduceNode["nodeType"]
    | NonNullable<PlanStep["nodeType"]>
    | "graph-end"
    | "manager"
    | "delegated";
  readonly mapReduceLevel?: number;
  readonly loopMaxIterations?: number;
  /** The tasks that a loop repeats. */
  readonly loopBody?: readonly DagTask[];
  /** The phase of the task. An extension of the schema. */
  readonly phase?: string;
}

/** A connection between two tasks. */
export interface DagLink {
  readonly fromTaskId: string;
  readonly toTaskId: string;
  /**
   * `context`: the second task receives the output of the first. `order`: the second task starts
   * after the first. `repeat`: connects the last task of a loop to its first. `delegation`: the
   * first task delegates the second to its agent.
   */
  readonly kind: "context" | "order" | "repeat" | "delegation";
}

/** A transition of a graph. `fired` is always false in a plan. */
export interface DagEdge extends PlanEdge {
  readonly fired: boolean;
}

/**
 * The plan of an ensemble as plain data: the format `.dag.json`, schema 1.3. `ensemble.toDag()`
 * creates the plan without running anything. The plan contains no time. The same ensemble therefore
 * always yields the same document. Add `generatedAt` when you save the document.
 */
export interface Dag {
  readonly schemaVersion: "1.3";
  readonly type: "dag";
  readonly workflow: string;
  readonly agents: readonly AgentSummary[];
  readonly tasks: readonly DagTask[];
  /**
   * Connections between tasks, and within loops. Empty for a graph: see `graphEdges`. An extension
   * of the schema.
   */
  readonly edges: readonly DagLink[];
  /** Ids of tasks that may run at the same time, in the order of the groups. */
  readonly parallelGroups: readonly (readonly string[])[];
  /** Ids of the longest chain of tasks in which each task waits for the previous one. */
  readonly criticalPath: readonly string[];
  /** `ADAPTIVE` occurs only after a run, because the tree is unknown before the run. */
  readonly mapReduceMode?: "STATIC" | "ADAPTIVE";
  readonly mode?: "graph";
  readonly graphEdges?: readonly DagEdge[];
  readonly graphStartStateId?: string;
}

/**
 * The diagram of an ensemble after a run, with the time of the run. For a graph, includes its
 * transitions.
 */
export type RunDag = Dag & {
  readonly generatedAt: Date;
  readonly graphTerminationReason?: string | null;
  readonly graphStepsRun?: number;
};
