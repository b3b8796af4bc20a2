import type { Agent } from "../contracts/agent.js";
import type { ChatModel, ModelOptions } from "../contracts/chat-model.js";
import type { ExplainedTask } from "../contracts/ensemble-options.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { PlanStep } from "../contracts/plan-description.js";

/** An explained task, with the data for a bound of its cost. */
export interface TaskDetails {
  readonly planned: PlannedTask;
  /** The step of the task in the description of the workflow. */
  readonly step: PlanStep;
  readonly agent: Agent | undefined;
  readonly model: ChatModel | undefined;
  readonly modelOptions: ModelOptions;
  /** Whether the task has tools that are known only at its start. */
  readonly dynamicTools: boolean;
  readonly explained: ExplainedTask;
}

/** A hierarchical team, with the values that determine its cost. */
export interface TeamDetails {
  readonly manager: TaskDetails;
  /**
   * The possible delegations: for each worker every listed task, and a task that the manager
   * creates.
   */
  readonly assignments: readonly TaskDetails[];
  /** The maximum number of delegations. */
  readonly delegations: number;
}
