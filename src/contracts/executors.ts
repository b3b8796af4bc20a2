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
 * Decides the order in which tasks run. Contribute one to `Tokens.WorkflowExecutor` and name it in `workflow`.
 * Check it with `workflowContract` from `agentensemble/testing`.
 */
export interface WorkflowExecutor {
  /** Upper case by custom: `DEBATE`. */
  readonly name: string;
  /** Options of an ensemble that only some workflows read, among them this one. A run warns of those that its workflow does not read. Default: it may read any. */
  readonly reads?: readonly (keyof EnsembleOptions)[] | undefined;
  /** Refuses a plan before anything is spent, by throwing a ValidationError. */
  validate?(plan: Plan): void;
  execute(plan: Plan, run: Run): Promise<WorkflowResult>;
  /** The tasks that it would add to the plan, as far as they are known before the run, for `explain()`. Runs nothing; default: none. */
  preview?(plan: Plan, run: Run): readonly AnyTask[];
  /**
   * How it would run the plan, for `explain()` and diagrams. Default: every task after its context. `toDag()` and `toMermaid()` ask built-in workflows only.
   * @throws ValidationError for tasks that can't be put into an order.
   */
  describe?(plan: Plan): PlanDescription;
}

/** Draws the plan of a run. Bound to `Tokens.PlanDiagram`; called only where an observer listens to `run_planned`. */
export interface PlanDiagram {
  /** @param plan with its templates filled. @throws what keeps the plan from being drawn: the run then warns and goes on. */
  dagOf(plan: Plan, workflow: WorkflowExecutor): Dag;
}

/** What an executor hands back. Without `parsed` the text itself is the value, or its parse by the task's schema. */
export interface ExecutorResult {
  readonly raw: string;
  readonly parsed?: unknown;
  /** The tool calls it asked for. Not read: the engine counts the calls that went through its gateway, those of pipelines included. */
  readonly toolCallCount?: number | undefined;
}

/** Does tasks of one kind. Contributed to `Tokens.TaskExecutor`; the last registered that handles a task wins. */
export interface TaskExecutor {
  readonly name: string;
  handles(task: PlannedTask): boolean;
  execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult>;
  /** What the first model call would send, for `explain()`; absent where no model is called. Calls nothing. */
  preview?(
    call: TaskCall,
    scope: Pick<TaskScope, "get" | "all" | "model" | "workers">,
  ): Awaitable<PromptPreview>;
}

/** A first model call that is not made. */
export interface PromptPreview {
  readonly systemPrompt: string;
  readonly userPrompt: string;
  readonly tools: readonly ToolSpec[];
}

/**
 * Brings tools that depend on who works: asked when an agent's task starts, and by `explain()`. Its tools come before the agent's own.
 * Contributed to `Tokens.AgentToolSource`.
 */
export interface AgentToolSource {
  toolsFor(
    call: TaskCall,
    scope: Pick<TaskScope, "workers" | "get" | "all">,
  ): Awaitable<readonly AnyTool[]>;
}

/** Makes an agent for a task that has none. Asked once per task and run. */
export interface AgentSynthesizer {
  /** Whether it asks a model, so that the agent is not known before the run. Default false. */
  readonly usesModel?: boolean | undefined;
  synthesize(
    task: AnyTask,
    ctx: { readonly model: ChatModel; readonly run: Run },
  ): Awaitable<Agent>;
}
