import type { ConversationStore, StoredTurn } from "../../contracts/conversation.js";

const AT = "2026-01-01T00:00:00.000Z";

/** A turn with a question and an answer. */
export function storedTurn(n: number, text = `turn ${n}`): StoredTurn {
  const turnId = `run-${n}-${text.slice(0, 20)}`;
  return {
    v: 1,
    n,
    turnId,
    at: AT,
    status: "completed",
    agentRole: "Clerk",
    messages: [
      { id: `${turnId}-0`, turnId, at: AT, role: "user", content: text },
      { id: `${turnId}-1`, turnId, at: AT, role: "assistant", content: "ok", agentRole: "Clerk" },
    ],
    inputTokens: 3,
    outputTokens: 1,
  };
}

/** Adds this many turns to a new thread, one change each. */
export async function fill(store: ConversationStore, id: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await store.append(id, { expectedVersion: n, turns: [storedTurn(n)] });
}

/** Returns the questions of a thread. */
export async function textsIn(store: ConversationStore, id: string): Promise<readonly unknown[]> {
  const turns = await store.read(id, { limit: 10_000 });
  return turns.map(({ messages }) => messages[0]?.content);
}

/** Returns the error of a call, which must reject. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("the call was not refused");
}
