/** Describes how a workflow runs a plan, without running it. For `explain()` and diagrams. */
export interface PlanDescription {
  /** The steps, in the order of the diagram. */
  readonly steps: readonly PlanStep[];
  /** Whether the steps run one after the other, in order. Default false. */
  readonly sequential?: boolean | undefined;
  /** Named groups of steps, each with the names of the groups that end before it begins. */
  readonly phases?:
    readonly { readonly name: string; readonly after: readonly string[] }[] | undefined;
  /** The transitions of a state machine. Its steps have only the order of their declaration. */
  readonly graph?: { readonly start: string; readonly edges: readonly PlanEdge[] } | undefined;
  /**
   * Whether the first task of `preview()` belongs to an agent that assigns the tasks of the plan to
   * workers. Default false.
   */
  readonly managed?: boolean | undefined;
}

/** A task of the plan, or a loop, and the steps before it. */
export interface PlanStep {
  /** The task's id; `$loop:{name}` for a loop. */
  readonly id: string;
  /** Ids of the steps that end before it begins. */
  readonly after: readonly string[];
  /** Ids of tasks whose outputs it receives. Default: the context of the task. */
  readonly dependsOn?: readonly string[] | undefined;
  readonly nodeType?: "loop" | "graph-state" | "review" | undefined;
  /** The name of its group in `phases`. */
  readonly phase?: string | undefined;
  /** Limit of executions. Default 1. */
  readonly maxRuns?: number | undefined;
  /** Ids of tasks whose outputs it may receive as feedback, in addition to those of its context. */
  readonly feedbackFrom?: readonly string[] | undefined;
  /** The tasks that a loop repeats. They run as often as the loop. */
  readonly body?: readonly PlanStep[] | undefined;
  /** The name of a loop. */
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
