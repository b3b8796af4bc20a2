import type { Ev } from "../../../contracts/events.js";
import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";
import type { Transfers } from "./transfers.js";

/** The parts of the conversation of one task. `request.messages` is `messages`. */
export interface ToolLoopParts {
  readonly call: TaskCall;
  readonly agent: Agent;
  readonly scope: TaskScope;
  readonly texts: PromptTexts<AgentTemplateName>;
  readonly tools: readonly AnyTool[];
  readonly messages: ChatMessage[];
  readonly request: ChatRequest;
  /** The tools that transfer the task. Absent for an agent without handoffs. */
  readonly transfers?: Transfers | undefined;
  /** Prepares the values of the next agent. */
  readonly prepare?: ((next: Agent, history: "all" | "text") => Promise<NextAgent>) | undefined;
}

/** The values of the next agent that the loop uses. */
export interface NextAgent {
  readonly tools: readonly AnyTool[];
  /** The messages before the exchange: instructions, the thread, the task. */
  readonly head: readonly ChatMessage[];
  requestFor(messages: readonly ChatMessage[]): ChatRequest;
}

/** The fields common to all events of the task. */
export function taskFieldsOf({
  taskId,
  parentTaskId,
  agentRole,
}: TaskScope): Pick<Ev<"task_started">, "taskId" | "parentTaskId" | "agentRole"> {
  return parentTaskId === undefined ? { taskId, agentRole } : { taskId, parentTaskId, agentRole };
}
