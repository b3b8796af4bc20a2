import type { Agent } from "../contracts/agent.js";
import type { ChatModel, ModelOptions } from "../contracts/chat-model.js";
import type { ExplainedTask } from "../contracts/ensemble-options.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { PlanStep } from "../contracts/plan-description.js";

/** An explained task, with the data for a bound of its cost. */
export interface TaskDetails {
  readonly planned: PlannedTask;
  /** Its place in the description of the workflow. */
  readonly step: PlanStep;
  readonly agent: Agent | undefined;
  readonly model: ChatModel | undefined;
  readonly modelOptions: ModelOptions;
  /** Whether it has tools that are known only when it starts. */
  readonly dynamicTools: boolean;
  readonly explained: ExplainedTask;
}

/** A hierarchical team, with the values that determine its cost. */
export interface TeamDetails {
  readonly manager: TaskDetails;
  /**
   * The possible delegations: to each worker every listed task, and one that the manager creates.
   */
  readonly assignments: readonly TaskDetails[];
  /** The maximum number of delegations. */
  readonly delegations: number;
}
