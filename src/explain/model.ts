import type { Agent } from "../contracts/agent.js";
import type { ChatModel, ModelOptions } from "../contracts/chat-model.js";
import type { ExplainedTask } from "../contracts/ensemble-options.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { PlanStep } from "../contracts/plan-description.js";

/** An explained task, with what a bound of its cost is reckoned from. */
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

/** A hierarchical team, as far as its cost depends on what its manager decides. */
export interface TeamDetails {
  readonly manager: TaskDetails;
  /** What can be assigned: to each worker every listed task, and one that the manager makes up. */
  readonly assignments: readonly TaskDetails[];
  /** How often something is assigned at most. */
  readonly delegations: number;
}
