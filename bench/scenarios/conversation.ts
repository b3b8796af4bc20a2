import type { ChatMessage, ChatModel, StoredTurn } from "agentensemble";
import { Agent, Conversation, ConversationStore, WindowPolicy } from "agentensemble";
import type { Round, Scenario, SideName, Work } from "../harness/scenario.js";
import { expectResult } from "../harness/expect.js";
import { collectGarbage, cpuOf, repeat } from "../harness/measure.js";

const WINDOW = 20;
const LONG = 1_000;
const TURNS = 200;
const INSTRUCTIONS = "You are Assistant.\n\nYour goal: Answers in one sentence";
const AT = "2026-01-01T00:00:00.000Z";

const model: ChatModel = {
  provider: "bench",
  modelId: "counting",
  chat: ({ messages }) =>
    Promise.resolve({
      message: { role: "assistant", content: `I have read ${messages.length} messages` },
      finishReason: "stop",
      usage: { inputTokens: 10, outputTokens: 5 },
    }),
};
const EXPECTED = `I have read ${2 * WINDOW + 2} messages`;

/** The same messages, sent to the model alone. */
function byHand(turns: number): Work {
  const thread: ChatMessage[] = Array.from({ length: 2 * turns }, (_, i): ChatMessage => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `Message ${i}`,
  }));
  return async () => {
    const question = { role: "user", content: "How much have you read?" } as const;
    const system = { role: "system", content: INSTRUCTIONS } as const;
    const messages = [system, ...thread.slice(-2 * WINDOW), question];
    const { message } = await model.chat({ messages });
    thread.push(question, message);
    expectResult(message.content, EXPECTED);
  };
}

function storedTurn(n: number): StoredTurn {
  const turnId = `run-${n}`;
  return {
    v: 1,
    n,
    turnId,
    at: AT,
    status: "completed",
    agentRole: "Assistant",
    messages: [
      { id: `${turnId}-0`, turnId, at: AT, role: "user", content: `Message ${2 * n}` },
      { id: `${turnId}-1`, turnId, at: AT, role: "assistant", content: `Message ${2 * n + 1}` },
    ],
  };
}

async function byConversation(turns: number): Promise<Work> {
  const store = ConversationStore.inMemory();
  await store.append("t", {
    expectedVersion: 0,
    turns: Array.from({ length: turns }, (_, n) => storedTurn(n)),
  });
  const chat = new Conversation({
    agent: new Agent({ role: "Assistant", goal: "Answers in one sentence" }),
    model,
    store,
    window: WindowPolicy.lastTurns(WINDOW),
  });
  const thread = chat.thread("t");
  return async () => {
    const { text } = await thread.send("How much have you read?");
    expectResult(text, EXPECTED);
  };
}

async function prepare(side: SideName): Promise<Round> {
  const workOf = (turns: number): Work | Promise<Work> =>
    side === "framework" ? byConversation(turns) : byHand(turns);
  await repeat(2 * TURNS, await workOf(WINDOW));
  return async () => {
    const [short, long] = [await workOf(WINDOW), await workOf(LONG)];
    collectGarbage();
    await repeat(TURNS, short);
    const inShort = await cpuOf(TURNS, short);
    await repeat(TURNS, long);
    const inLong = await cpuOf(TURNS, long);
    return [inShort / TURNS, inLong / inShort];
  };
}

/** A turn of a conversation, in a short thread and in a long one with the same window. */
export const conversationScenario: Scenario = {
  id: "S11",
  lines: [
    { title: "turn of a conversation, window of 20", unit: "us CPU/turn" },
    { title: "the same in a thread of 1,000 turns", unit: "x a thread of 20", goal: 1.1 },
  ],
  rounds: 7,
  prepare,
};
