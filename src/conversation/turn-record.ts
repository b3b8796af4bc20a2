import type { ChatMessage } from "../contracts/chat-model.js";
import type { StoredTurn, ThreadMessage, TurnStatus } from "../contracts/conversation.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { AgentPart } from "../plugins/agents/chat/index.js";
import type { ToolCallViews } from "./tool-call-views.js";
import type { TurnContent } from "./turn-input.js";

/** The id of the task of a turn. */
export const TURN_TASK = "turn";

/** A message that an agent added. */
export interface AddedMessage {
  readonly agentRole: string;
  readonly message: ChatMessage;
}

/** The data of a stored turn. */
export interface TurnFacts {
  readonly n: number;
  readonly turnId: string;
  /** ISO 8601. */
  readonly at: string;
  readonly status: TurnStatus;
  readonly agentRole: string;
  readonly nextAgentRole: string | undefined;
  readonly messageId: string | undefined;
  readonly content: TurnContent;
  /** The messages after the user's message. */
  readonly added: readonly AddedMessage[];
  readonly output: EnsembleOutput;
  readonly views: ToolCallViews;
  /** The source of external text that the run has read. */
  readonly untrusted: string | undefined;
}

/** Returns the stored form of a turn. */
export function storedTurnOf(facts: TurnFacts): StoredTurn {
  const { n, turnId, at, status, agentRole, nextAgentRole, output, untrusted } = facts;
  const { inputTokens, outputTokens, costEstimate } = output.metrics;
  return Object.freeze({
    v: 1,
    n,
    turnId,
    at,
    status,
    agentRole,
    ...(nextAgentRole !== undefined && { nextAgentRole }),
    messages: messagesOfFacts(facts),
    ...(inputTokens >= 0 && { inputTokens }),
    ...(outputTokens >= 0 && { outputTokens }),
    ...(costEstimate !== undefined && { cost: costEstimate.totalCost }),
    ...(untrusted !== undefined && { untrusted }),
  });
}

/** Returns the role of the agent that answers after a turn. */
export function roleAfter(turn: StoredTurn | undefined): string | undefined {
  return turn?.nextAgentRole ?? turn?.agentRole;
}

function messagesOfFacts(facts: TurnFacts): readonly ThreadMessage[] {
  const { turnId, at, messageId = `${turnId}-0`, content, added, views } = facts;
  const user: ThreadMessage = { id: messageId, turnId, at, role: "user", content };
  const others = added.map(({ message, agentRole }, i): ThreadMessage => {
    if (message.role === "system") throw new Error("A turn adds no system message");
    const view = message.role === "tool" ? views.take(message) : undefined;
    const place = { id: `${turnId}-${i + 1}`, turnId, at, agentRole };
    return { ...message, ...place, ...(view !== undefined && { view }) };
  });
  return Object.freeze([user, ...others]);
}

/** Returns the messages that the agents of a turn added, in order. */
export function addedBy(parts: readonly AgentPart[]): readonly AddedMessage[] {
  return parts.flatMap(({ agentRole, messages }) =>
    messages.map((message) => ({ agentRole, message })),
  );
}

/**
 * Returns the messages of an answer with its accepted text. The reasoning is removed if the text
 * was changed.
 */
export function acceptedMessages(
  added: readonly AddedMessage[],
  text: string,
  agentRole: string,
): readonly AddedMessage[] {
  const last = added.at(-1);
  if (last?.message.role !== "assistant")
    return [...added, { agentRole, message: { role: "assistant", content: text } }];
  if (last.message.content === text) return added;
  const { reasoning, ...answer } = last.message;
  const bare = reasoning?.map(({ data: _data, ...thought }) => thought);
  const message = { ...answer, content: text, ...(bare !== undefined && { reasoning: bare }) };
  return [...added.slice(0, -1), { ...last, message }];
}

/** Returns the messages without a complete answer at their end, which was refused or not judged. */
export function withoutAnswer(added: readonly AddedMessage[]): readonly AddedMessage[] {
  const last = added.at(-1)?.message;
  const isAnswer = last?.role === "assistant" && (last.toolCalls ?? []).length === 0;
  return isAnswer ? added.slice(0, -1) : added;
}

/**
 * Returns the messages of an incomplete answer. Omits calls without a result, and adds the received
 * text.
 */
export function partialMessages(
  added: readonly AddedMessage[],
  text: string,
  agentRole: string,
): readonly AddedMessage[] {
  const kept = added.flatMap((one, index): readonly AddedMessage[] => {
    const { message } = one;
    if (message.role !== "assistant" || message.toolCalls === undefined) return [one];
    const { toolCalls, ...rest } = message;
    const answered = answeredAfter(added, index);
    const calls = toolCalls.filter(({ id }) => answered.includes(id));
    if (calls.length > 0) return [{ ...one, message: { ...rest, toolCalls: calls } }];
    return rest.content === "" ? [] : [{ ...one, message: rest }];
  });
  const last = kept.at(-1)?.message;
  const isThere = last?.role === "assistant" && last.content === text;
  return text === "" || isThere
    ? kept
    : [...kept, { agentRole, message: { role: "assistant", content: text } }];
}

/**
 * Returns the ids of the calls that the results directly after a message answer. A model may repeat
 * an id in a later answer.
 */
function answeredAfter(added: readonly AddedMessage[], index: number): readonly string[] {
  const ids: string[] = [];
  for (const { message } of added.slice(index + 1)) {
    if (message.role !== "tool") break;
    ids.push(message.toolCallId);
  }
  return ids;
}
