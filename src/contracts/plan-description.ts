/** Describes how a workflow would run a plan, for `explain()` and diagrams. */
export interface PlanDescription {
  /** The steps, in the order of the diagram. */
  readonly steps: readonly PlanStep[];
  /** Whether the steps run in order, one at a time. Default false. */
  readonly sequential?: boolean | undefined;
  /** Named groups of steps, each with the names of the groups that end before it begins. */
  readonly phases?:
    readonly { readonly name: string; readonly after: readonly string[] }[] | undefined;
  /**
   * The transitions of a state machine. The order of `steps` is then only the order of declaration.
   */
  readonly graph?: { readonly start: string; readonly edges: readonly PlanEdge[] } | undefined;
  /**
   * Whether the first task of `preview()` belongs to a manager. A manager is an agent that assigns
   * the tasks of the plan to workers. Default false.
   */
  readonly managed?: boolean | undefined;
}

/** A task of the plan or a loop, with the steps that precede it. */
export interface PlanStep {
  /** The task's id. `$loop:{name}` for a loop. */
  readonly id: string;
  /** Ids of the steps that must end before this step begins. */
  readonly after: readonly string[];
  /**
   * Ids of the tasks whose outputs this step receives. Default: the tasks in the context of the
   * task.
   */
  readonly dependsOn?: readonly string[] | undefined;
  readonly nodeType?: "loop" | "graph-state" | "review" | undefined;
  /** The name of the step's group in `phases`. */
  readonly phase?: string | undefined;
  /** Limit of executions. Default 1. */
  readonly maxRuns?: number | undefined;
  /**
   * Ids of tasks whose outputs this step may receive as feedback, in addition to the outputs in its
   * context.
   */
  readonly feedbackFrom?: readonly string[] | undefined;
  /** The tasks of a loop, each run once per iteration. */
  readonly body?: readonly PlanStep[] | undefined;
  /** The name of a loop. Absent for a task. */
  readonly title?: string | undefined;
}

/** A transition of a state machine. */
export interface PlanEdge {
  readonly fromStateId: string;
  /** A state's id, or `__END__`. */
  readonly toStateId: string;
  /** The edge's label, else the kind of edge. */
  readonly conditionDescription: string;
  readonly unconditional: boolean;
}
