import type { ChatMessage } from "../contracts/chat-model.js";
import type { StoredTurn, ThreadMessage, TurnStatus } from "../contracts/conversation.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { TurnContent } from "./turn-input.js";

/** The id of the task of a turn. */
export const TURN_TASK = "turn";

/** What a turn stored is made of. */
export interface TurnFacts {
  readonly n: number;
  readonly turnId: string;
  readonly at: Date;
  readonly status: TurnStatus;
  readonly agentRole: string;
  readonly messageId: string | undefined;
  readonly content: TurnContent;
  /** What came after the user's message. */
  readonly added: readonly ChatMessage[];
  readonly output: EnsembleOutput;
}

/** Makes the turn as it is stored. */
export function storedTurnOf(facts: TurnFacts): StoredTurn {
  const { n, turnId, status, agentRole, output } = facts;
  const { inputTokens, outputTokens, costEstimate } = output.metrics;
  return Object.freeze({
    v: 1,
    n,
    turnId,
    at: facts.at.toISOString(),
    status,
    agentRole,
    messages: messagesOfFacts(facts),
    ...(inputTokens >= 0 && { inputTokens }),
    ...(outputTokens >= 0 && { outputTokens }),
    ...(costEstimate !== undefined && { cost: costEstimate.totalCost }),
  });
}

function messagesOfFacts(facts: TurnFacts): readonly ThreadMessage[] {
  const { turnId, messageId = `${turnId}-0`, agentRole, content, added } = facts;
  const at = facts.at.toISOString();
  const user: ThreadMessage = { id: messageId, turnId, at, role: "user", content };
  const others = added.map((message, i): ThreadMessage => {
    if (message.role === "system") throw new Error("A turn adds no system message");
    return { ...message, id: `${turnId}-${i + 1}`, turnId, at, agentRole };
  });
  return Object.freeze([user, ...others]);
}

/** The messages of an answer with its accepted text. */
export function acceptedMessages(
  added: readonly ChatMessage[],
  text: string,
): readonly ChatMessage[] {
  const last = added.at(-1);
  if (last?.role !== "assistant") return [...added, { role: "assistant", content: text }];
  return last.content === text ? added : [...added.slice(0, -1), { ...last, content: text }];
}

/**
 * The messages of an answer that was cut off: calls without a result are left out, and the text
 * that had arrived is added.
 */
export function partialMessages(
  added: readonly ChatMessage[],
  text: string,
): readonly ChatMessage[] {
  const answered = new Set(
    added.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])),
  );
  const kept = added.flatMap((message): readonly ChatMessage[] => {
    if (message.role !== "assistant" || message.toolCalls === undefined) return [message];
    const { toolCalls, ...rest } = message;
    const calls = toolCalls.filter(({ id }) => answered.has(id));
    if (calls.length > 0) return [{ ...rest, toolCalls: calls }];
    return rest.content === "" ? [] : [rest];
  });
  const last = kept.at(-1);
  const isThere = last?.role === "assistant" && last.content === text;
  return text === "" || isThere ? kept : [...kept, { role: "assistant", content: text }];
}
