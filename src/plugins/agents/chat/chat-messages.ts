import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { StoredTurn, ThreadMessage } from "../../../contracts/conversation.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "../shared/agent-prompts.js";
import type { Reader } from "../shared/exchange.js";
import type { ThreadWindow } from "./chat-turn.js";
import { readBy, textOnly } from "../shared/exchange.js";

type Texts = PromptTexts<AgentTemplateName>;

/**
 * Returns the thread as messages for a model. If `withTools` is false, tool calls and their results
 * are omitted. `agentRole` names the agent whose reasoning is kept.
 */
export function messagesOf(
  { turns, summary }: ThreadWindow,
  texts: Texts,
  reader: Reader,
): ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (summary !== undefined)
    messages.push({
      role: "user",
      content: texts.render("conversation.summary", { summary: escapedText(summary) }),
    });
  for (const turn of turns)
    for (const message of readTurn(turn, texts, reader.agentRole)) {
      if (!reader.withTools) messages.push(...textOnly(message));
      else if (!isEmptyAnswer(message)) messages.push(message);
    }
  return messages;
}

/** Returns the turn as messages for a model, without the reasoning of other agents. */
function readTurn(turn: StoredTurn, texts: Texts, agentRole: string): readonly ChatMessage[] {
  const plain = plainMessages(turn);
  const read = plain.some(hasReasoning)
    ? plain.map((message, i) => readBy(message, turn.messages[i]?.agentRole, agentRole))
    : plain;
  return turn.status === "completed" ? read : interrupted(read, texts);
}

/**
 * The plain messages by the messages of a stored turn. Turns in memory are read once per later
 * turn.
 */
const plainOf = new WeakMap<readonly ThreadMessage[], readonly ChatMessage[]>();

/** Returns the messages without the fields of the thread. */
function plainMessages({ messages }: StoredTurn): readonly ChatMessage[] {
  let plain = plainOf.get(messages);
  if (plain === undefined) {
    plain = messages.map(
      ({ id: _id, turnId: _turnId, at: _at, view: _view, agentRole: _role, ...rest }) =>
        Object.freeze(rest),
    );
    plainOf.set(messages, plain);
  }
  return plain;
}

function hasReasoning(message: ChatMessage): boolean {
  return message.role === "assistant" && message.reasoning !== undefined;
}

/** Returns whether the message is an empty answer, which vendors refuse. */
function isEmptyAnswer(message: ChatMessage): boolean {
  return (
    message.role === "assistant" && message.content === "" && (message.toolCalls ?? []).length === 0
  );
}

/** Marks an answer that was cut off, so that the model does not take it as finished. */
function interrupted(messages: readonly ChatMessage[], texts: Texts): readonly ChatMessage[] {
  const mark = texts.render("conversation.interrupted", {});
  const last = messages.at(-1);
  return last?.role === "assistant" && last.toolCalls === undefined && last.content !== ""
    ? [...messages.slice(0, -1), { ...last, content: `${last.content} ${mark}` }]
    : [...messages, { role: "assistant", content: mark }];
}

/** Escapes a text so that it can't end the element that contains it. */
export function escapedText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
