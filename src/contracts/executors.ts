import type { Dag } from "./dag.js";
import type { EnsembleOptions } from "./ensemble-options.js";
import type { TaskCall } from "./hooks.js";
import type { WorkflowResult } from "./output.js";
import type { Plan, PlannedTask } from "./plan.js";
import type { PlanDescription } from "./plan-description.js";
import type { Run, TaskScope } from "./run.js";
import type { Agent } from "./agent.js";
import type { AnyTask } from "./task.js";
import type { ChatModel, ToolSpec } from "./chat-model.js";
import type { AnyTool } from "./tool.js";
import type { Awaitable } from "./types.js";

/**
 * Determines the order of the tasks. Contributed to `Tokens.WorkflowExecutor`, and chosen by its
 * name in the option `workflow`. Check an implementation with `workflowContract` from
 * `agentensemble/testing`.
 */
export interface WorkflowExecutor {
  /** The name for the option `workflow`. Upper case by convention, for instance `DEBATE`. */
  readonly name: string;
  /**
   * The workflow-specific ensemble options that this workflow reads. A run warns about a
   * workflow-specific option that its workflow does not read. Default: the workflow may read all
   * options.
   */
  readonly reads?: readonly (keyof EnsembleOptions)[] | undefined;
  /** Throws a ValidationError to refuse a plan before any spending. */
  validate?(plan: Plan): void;
  execute(plan: Plan, run: Run): Promise<WorkflowResult>;
  /**
   * Returns the tasks that the workflow would add to the plan, for `explain()`. Only tasks that are
   * known before the run. Must not run anything. Default: none.
   */
  preview?(plan: Plan, run: Run): readonly AnyTask[];
  /**
   * Describes how the workflow would run the plan, for `explain()` and diagrams. Default: each task
   * after the tasks in its context. `toDag()` and `toMermaid()` call this method for built-in
   * workflows only.
   *
   * @throws ValidationError for tasks without a valid order.
   */
  describe?(plan: Plan): PlanDescription;
}

/**
 * Draws the plan of a run. Bound to `Tokens.PlanDiagram`. Called only if an observer listens to
 * `run_planned`.
 */
export interface PlanDiagram {
  /**
   * @param plan the plan with its templates filled.
   * @throws the reason why the plan can't be drawn. The run then warns and continues.
   */
  dagOf(plan: Plan, workflow: WorkflowExecutor): Dag;
}

/**
 * The result of an executor. Without `parsed`, the task's value is the text, or the text parsed by
 * the task's schema.
 */
export interface ExecutorResult {
  readonly raw: string;
  readonly parsed?: unknown;
  /**
   * Number of requested tool calls. Ignored: the engine counts its calls, including calls of
   * pipelines.
   */
  readonly toolCallCount?: number | undefined;
}

/**
 * Executes tasks of one kind. Contributed to `Tokens.TaskExecutor`. If several executors handle a
 * task, the last registered one executes it.
 */
export interface TaskExecutor {
  readonly name: string;
  handles(task: PlannedTask): boolean;
  execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult>;
  /**
   * Returns the first model call for `explain()`, without calling the model. Absent if tasks of
   * this kind call no model.
   */
  preview?(
    call: TaskCall,
    scope: Pick<TaskScope, "get" | "all" | "model" | "workers">,
  ): Awaitable<PromptPreview>;
}

/** A first model call, not sent. */
export interface PromptPreview {
  readonly systemPrompt: string;
  readonly userPrompt: string;
  readonly tools: readonly ToolSpec[];
}

/**
 * Provides tools that depend on the agent. Called at the start of an agent's task, and by
 * `explain()`. These tools precede the agent's own tools. Contributed to `Tokens.AgentToolSource`.
 */
export interface AgentToolSource {
  toolsFor(
    call: TaskCall,
    scope: Pick<TaskScope, "workers" | "get" | "all">,
  ): Awaitable<readonly AnyTool[]>;
}

/** Creates the agent for a task without an agent. Called once per task and run. */
export interface AgentSynthesizer {
  /**
   * Whether creating the agent requires a model call. The agent is then unknown before the run.
   * Default false.
   */
  readonly usesModel?: boolean | undefined;
  synthesize(
    task: AnyTask,
    ctx: { readonly model: ChatModel; readonly run: Run },
  ): Awaitable<Agent>;
}
