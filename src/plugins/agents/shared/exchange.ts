import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";

/** What one agent added to the messages of a task. */
export interface AgentPart {
  readonly agentRole: string;
  readonly messages: readonly ChatMessage[];
}

/** Who reads messages. */
export interface Reader {
  readonly agentRole: string;
  /** Whether the reader sees tool calls and their results. */
  readonly withTools: boolean;
}

/** The message for a reader: the reasoning of another agent is left out. */
export function readBy(
  message: ChatMessage,
  author: string | undefined,
  reader: string,
): ChatMessage {
  if (message.role !== "assistant" || message.reasoning === undefined || author === reader)
    return message;
  const { reasoning: _reasoning, ...said } = message;
  return said;
}

/** The message without tool calls; none for a result, and none for a message without text, which vendors refuse. */
export function textOnly(message: ChatMessage): readonly ChatMessage[] {
  if (message.role === "tool" || (message.role === "assistant" && message.content === ""))
    return [];
  if (message.role !== "assistant" || message.toolCalls === undefined) return [message];
  const { toolCalls: _toolCalls, ...text } = message;
  return [text];
}

/** What the agent that takes over sees of the exchange. It ends with a message that asks for an answer. */
export function exchangeFor(
  parts: readonly AgentPart[],
  { agentRole, withTools }: Reader,
  texts: PromptTexts<AgentTemplateName>,
): ChatMessage[] {
  const seen = parts.flatMap((part) =>
    part.messages.map((message) => readBy(message, part.agentRole, agentRole)),
  );
  if (withTools) return seen;
  const text = seen.flatMap(textOnly);
  return text.at(-1)?.role === "assistant"
    ? [...text, { role: "user", content: texts.render("handoff.next", { role: agentRole }) }]
    : text;
}
