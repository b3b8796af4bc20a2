import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "../shared/agent-prompts.js";

/** What one task's conversation consists of. `request.messages` is `messages`. */
export interface ConversationParts {
  readonly call: TaskCall;
  readonly agent: Agent;
  readonly scope: TaskScope;
  readonly texts: PromptTexts<AgentTemplateName>;
  readonly tools: readonly AnyTool[];
  readonly messages: ChatMessage[];
  readonly request: ChatRequest;
}
