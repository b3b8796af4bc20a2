import type { Ev } from "../../../contracts/events.js";
import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";

/** What one task's conversation consists of. `request.messages` is `messages`. */
export interface ToolLoopParts {
  readonly call: TaskCall;
  readonly agent: Agent;
  readonly scope: TaskScope;
  readonly texts: PromptTexts<AgentTemplateName>;
  readonly tools: readonly AnyTool[];
  readonly messages: ChatMessage[];
  readonly request: ChatRequest;
}

/** The fields that every event of the task has. */
export function taskFieldsOf({
  taskId,
  parentTaskId,
  agentRole,
}: TaskScope): Pick<Ev<"task_started">, "taskId" | "parentTaskId" | "agentRole"> {
  return parentTaskId === undefined ? { taskId, agentRole } : { taskId, parentTaskId, agentRole };
}
