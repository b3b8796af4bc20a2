import type { Ev } from "../../../contracts/events.js";
import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";
import type { Transfers } from "./transfers.js";

/** What one task's conversation consists of. `request.messages` is `messages`. */
export interface ToolLoopParts {
  readonly call: TaskCall;
  readonly agent: Agent;
  readonly scope: TaskScope;
  readonly texts: PromptTexts<AgentTemplateName>;
  readonly tools: readonly AnyTool[];
  readonly messages: ChatMessage[];
  readonly request: ChatRequest;
  /** The tools with which the agent transfers the task; absent for a task whose agent has no handoffs. */
  readonly transfers?: Transfers | undefined;
  /** Prepares what the agent that takes over needs. */
  readonly prepare?: ((next: Agent, history: "all" | "text") => Promise<NextAgent>) | undefined;
}

/** What the loop needs of the agent that takes over. */
export interface NextAgent {
  readonly tools: readonly AnyTool[];
  /** The messages before the exchange: instructions, the thread, the task. */
  readonly head: readonly ChatMessage[];
  requestFor(messages: readonly ChatMessage[]): ChatRequest;
}

/** The fields that every event of the task has. */
export function taskFieldsOf({
  taskId,
  parentTaskId,
  agentRole,
}: TaskScope): Pick<Ev<"task_started">, "taskId" | "parentTaskId" | "agentRole"> {
  return parentTaskId === undefined ? { taskId, agentRole } : { taskId, parentTaskId, agentRole };
}
