import type { MapReduceNode } from "./map-reduce.js";
import type { PlanEdge, PlanStep } from "./plan-description.js";

/** An agent as a trace names it. */
export interface AgentSummary {
  readonly role: string;
  readonly goal: string;
  readonly background: string | undefined;
  readonly toolNames: readonly string[];
  readonly allowDelegation: boolean;
}

/** A task, or a loop, in a {@link Dag}. */
export interface DagTask {
  /** The task's id; `$loop:{name}` for a loop, `{graph}/{state}` for a state of a graph. */
  readonly id: string;
  /** As it was written, template variables not filled; in `run_planned` they are filled. */
  readonly description: string;
  readonly expectedOutput: string;
  /**
   * `(deterministic)` for a handler, `(synthesized)` where the agent is not known before the run, `(assigned)` where a manager chooses it,
   * `(loop)` for a loop, `(end)` for the end of a graph.
   */
  readonly agentRole: string;
  /** Ids of the tasks in its `context`. */
  readonly dependsOn: readonly string[];
  /** Index in `parallelGroups`. */
  readonly parallelGroup: number;
  readonly onCriticalPath: boolean;
  /** `graph-end`: where a graph ends, id `__END__`. `manager`: who assigns the tasks of HIERARCHICAL. `delegated`: made by a delegation during the run. */
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
  /** The phase the task belongs to. Ours; not in the schema. */
  readonly phase?: string;
}

/** How two tasks are connected. */
export interface DagLink {
  readonly fromTaskId: string;
  readonly toTaskId: string;
  /**
   * `context`: the second gets the output of the first. `order`: it only begins after it. `repeat`: from the last task of a loop to its first.
   * `delegation`: the first hands the second to its agent.
   */
  readonly kind: "context" | "order" | "repeat" | "delegation";
}

/** A transition of a graph. `fired` is false in a plan: nothing has been run. */
export interface DagEdge extends PlanEdge {
  readonly fired: boolean;
}

/**
 * What an ensemble is going to do, as plain data: the format `.dag.json`, schema 1.3. Made by `ensemble.toDag()` without running anything.
 * It has no time of its own, so that the same ensemble gives the same document; who saves it may add `generatedAt`.
 */
export interface Dag {
  readonly schemaVersion: "1.3";
  readonly type: "dag";
  readonly workflow: string;
  readonly agents: readonly AgentSummary[];
  readonly tasks: readonly DagTask[];
  /** Between tasks and parts of loops; empty for a graph, see `graphEdges`. Ours; not in the schema. */
  readonly edges: readonly DagLink[];
  /** Ids of tasks that may run at the same time, in the order of the groups. */
  readonly parallelGroups: readonly (readonly string[])[];
  /** Ids of the longest chain of tasks that wait for each other. */
  readonly criticalPath: readonly string[];
  /** `ADAPTIVE` only for what ran: its tree is not known before. */
  readonly mapReduceMode?: "STATIC" | "ADAPTIVE";
  readonly mode?: "graph";
  readonly graphEdges?: readonly DagEdge[];
  readonly graphStartStateId?: string;
}

/** The diagram of an ensemble after a run: with the time of the run, and of a graph the transitions that were made. */
export type RunDag = Dag & {
  readonly generatedAt: Date;
  readonly graphTerminationReason?: string | null;
  readonly graphStepsRun?: number;
};
