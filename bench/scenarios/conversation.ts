import type { ChatMessage, ChatModel, StoredTurn, Thread } from "agentensemble";
import { Agent, Conversation, ConversationStore, openai, WindowPolicy } from "agentensemble";
import OpenAI from "openai";
import type { Round, Scenario, SideName, Work } from "../harness/scenario.js";
import { expectResult } from "../harness/expect.js";
import { collectGarbage, cpuOf, repeat, repetitions, WARM_UP_RUNS } from "../harness/measure.js";
import { vendorAddress } from "../work/vendor-server.js";
import { chain } from "./chain.js";

const WINDOW = 20;
const LONG = 1_000;
const TURNS = 200;
const TASKS = 100;
const MODEL = "gpt-4o-mini";
const QUESTION = "How much have you read?";
/** The answer of the server that simulates the vendor. */
const ANSWER = "Stockholm has fourteen islands.";
/**
 * Number of slices. The client's and the framework's slices alternate: a disturbance of the machine
 * affects both.
 */
const SLICES = 6;
const SLICE = 60;
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

function threadOf(turns: number): { role: "user" | "assistant"; content: string }[] {
  return Array.from({ length: 2 * turns }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `Message ${i}`,
  }));
}

/** Sends the same messages directly to the model. */
function byHand(turns: number): Work {
  const thread: ChatMessage[] = threadOf(turns);
  return async () => {
    const question = { role: "user", content: QUESTION } as const;
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

/** Returns a thread of `turns` turns with a model. */
async function threadWith(chosen: ChatModel, turns: number): Promise<Thread> {
  const store = ConversationStore.inMemory();
  await store.append("t", {
    expectedVersion: 0,
    turns: Array.from({ length: turns }, (_, n) => storedTurn(n)),
  });
  const chat = new Conversation({
    agent: new Agent({ role: "Assistant", goal: "Answers in one sentence" }),
    model: chosen,
    store,
    window: WindowPolicy.lastTurns(WINDOW),
  });
  return chat.thread("t");
}

async function byConversation(turns: number): Promise<Work> {
  const thread = await threadWith(model, turns);
  return async () => {
    const { text } = await thread.send(QUESTION);
    expectResult(text, EXPECTED);
  };
}

/** Turns through OpenAI's client over HTTP, without the framework and as a conversation. */
interface Requests {
  readonly raw: Work;
  readonly turn: Work;
}

async function requestsOf(side: SideName): Promise<Requests> {
  const baseURL = await vendorAddress();
  const client = new OpenAI({ apiKey: "bench", baseURL, maxRetries: 0 });
  const sent = [
    { role: "system" as const, content: INSTRUCTIONS },
    ...threadOf(WINDOW),
    { role: "user" as const, content: QUESTION },
  ];
  const raw = async (): Promise<void> => {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages: sent });
    expectResult(choices[0]?.message.content, ANSWER);
  };
  if (side !== "framework") return { raw, turn: raw };
  const thread = await threadWith(openai(MODEL, { apiKey: "bench", baseURL }), WINDOW);
  return { raw, turn: async () => expectResult((await thread.send(QUESTION)).text, ANSWER) };
}

/**
 * Returns the CPU time of a turn relative to the client and one task of S1. The measurements
 * alternate.
 */
async function requestRatio({ raw, turn }: Requests, task: Work): Promise<number> {
  let [own, floor] = [0, 0];
  for (let slice = 0; slice < SLICES; slice++) {
    floor += (await cpuOf(SLICE, raw)) + (await cpuOf(1, task)) * (SLICE / TASKS);
    own += await cpuOf(SLICE, turn);
  }
  return own / floor;
}

async function prepare(side: SideName): Promise<Round> {
  const workOf = (turns: number): Work | Promise<Work> =>
    side === "framework" ? byConversation(turns) : byHand(turns);
  const [short, long] = [await workOf(WINDOW), await workOf(LONG)];
  const requests = await requestsOf(side);
  const tasks = chain(TASKS)("framework");
  collectGarbage();
  for (const warm of [requests.raw, requests.turn]) await repeat(WARM_UP_RUNS, warm);
  for (const warm of [tasks, long]) await repeat(2 * TURNS, warm);
  const times = await repetitions(short);
  return async () => {
    const inShort = await cpuOf(times, short);
    const inLong = await cpuOf(times, long);
    return [inShort / times, inLong / inShort, await requestRatio(requests, tasks)];
  };
}

/**
 * A turn of a conversation: in a short thread, in a long thread with the same window, and over
 * HTTP.
 */
export const conversationScenario: Scenario = {
  id: "S11",
  lines: [
    { title: "turn of a conversation, window of 20", unit: "us CPU/turn" },
    { title: "the same in a thread of 1,000 turns", unit: "x a thread of 20", goal: 1.1 },
    { title: "the same over HTTP", unit: "x raw client + S1", goal: 1.3 },
  ],
  rounds: 9,
  prepare,
};
