import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "./agent-prompts.js";

/** The messages that one agent added to a task. */
export interface AgentPart {
  readonly agentRole: string;
  readonly messages: readonly ChatMessage[];
}

/** The reader of messages. */
export interface Reader {
  readonly agentRole: string;
  /** Whether tool calls and their results are included. */
  readonly withTools: boolean;
}

/** Returns the message for a reader, without the reasoning of other agents. */
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

/**
 * Returns the message without tool calls. Returns none for a tool result and for a message without
 * text. Vendors refuse an empty message.
 */
export function textOnly(message: ChatMessage): readonly ChatMessage[] {
  if (message.role === "tool" || (message.role === "assistant" && message.content === ""))
    return [];
  if (message.role !== "assistant" || message.toolCalls === undefined) return [message];
  const { toolCalls: _toolCalls, ...text } = message;
  return [text];
}

/**
 * Returns the part of the exchange that the next agent gets. It ends with a message that asks for
 * an answer.
 */
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
