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
 * Determines the order of the tasks. Contribute one to `Tokens.WorkflowExecutor` and name it in
 * `workflow`. Check it with `workflowContract` from `agentensemble/testing`.
 */
export interface WorkflowExecutor {
  /** Upper case by convention: `DEBATE`. */
  readonly name: string;
  /**
   * Ensemble options of particular workflows that this workflow reads. A run warns about such
   * options that its workflow does not read. Default: it may read any.
   */
  readonly reads?: readonly (keyof EnsembleOptions)[] | undefined;
  /** Refuses a plan before any spending, by throwing a ValidationError. */
  validate?(plan: Plan): void;
  execute(plan: Plan, run: Run): Promise<WorkflowResult>;
  /**
   * Returns the tasks that the workflow would add to the plan, as far as known before the run, for
   * `explain()`. Runs nothing. Default: none.
   */
  preview?(plan: Plan, run: Run): readonly AnyTask[];
  /**
   * Describes how the workflow would run the plan, for `explain()` and diagrams. Default: every
   * task after its context. `toDag()` and `toMermaid()` call built-in workflows only.
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
   * @param plan with its templates filled. @throws the reason why the plan can't be drawn. The run
   * then warns and continues.
   */
  dagOf(plan: Plan, workflow: WorkflowExecutor): Dag;
}

/**
 * The result of an executor. Without `parsed` the value is the text, or the text parsed by the
 * task's schema.
 */
export interface ExecutorResult {
  readonly raw: string;
  readonly parsed?: unknown;
  /**
   * Number of requested tool calls. Ignored: the engine counts the calls of its gateway, including
   * those of pipelines.
   */
  readonly toolCallCount?: number | undefined;
}

/**
 * Does tasks of one kind. Contributed to `Tokens.TaskExecutor`; the last registered executor that
 * handles a task does it.
 */
export interface TaskExecutor {
  readonly name: string;
  handles(task: PlannedTask): boolean;
  execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult>;
  /**
   * Returns the first model call for `explain()`; absent if the task calls no model. Calls nothing.
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
 * `explain()`. Its tools come before the agent's. Contributed to `Tokens.AgentToolSource`.
 */
export interface AgentToolSource {
  toolsFor(
    call: TaskCall,
    scope: Pick<TaskScope, "workers" | "get" | "all">,
  ): Awaitable<readonly AnyTool[]>;
}

/** Creates an agent for a task without one. Called once per task and run. */
export interface AgentSynthesizer {
  /** Whether it calls a model, so that the agent is not known before the run. Default false. */
  readonly usesModel?: boolean | undefined;
  synthesize(
    task: AnyTask,
    ctx: { readonly model: ChatModel; readonly run: Run },
  ): Awaitable<Agent>;
}
