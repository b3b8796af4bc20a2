import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { Agent, attachment, Conversation, Ensemble, openai, Task, tool } from "agentensemble";
import OpenAI from "openai";
import type { Scenario, SideName, Work } from "../harness/scenario.js";
import { expectResult } from "../harness/expect.js";
import { collectGarbage, cpuOf, repeat, WARM_UP_RUNS } from "../harness/measure.js";

const MODEL = "gpt-4o-mini";
const QUESTION = "What does it show?";
const ANSWER = "A chart.";
const CALLS = 10;
const TURNS = 20;
const ROUNDS = 7;
const MIB = 1024 * 1024;
/** Size of the image in the turns that only warm up. */
const SMALL = 1024;

/** An image of 1 MB without a pattern. */
const bytes = Buffer.alloc(MIB);
for (let i = 0, seed = 1; i < MIB; i++) bytes[i] = (seed = (seed * 48_271) % 2_147_483_647) & 255;
bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const USAGE = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 };

function answerOf(message: object, finish_reason: string): Response {
  const choices = [
    { index: 0, message: { role: "assistant", content: null, ...message }, finish_reason },
  ];
  const document = { id: "c", object: "chat.completion", model: MODEL, choices, usage: USAGE };
  return Response.json(document);
}

/**
 * Simulates the vendor. If there are tools, requests a tool until the required number of calls is
 * reached.
 */
const fetch = (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
  const body = String(init?.body);
  if (!body.includes(";base64,iVBORw0KGg")) throw new Error("the image was not sent");
  const results = body.split('"role":"tool"').length - 1;
  const asks = body.includes('"tools":') && results < CALLS;
  const call = { id: `c${results}`, type: "function", function: { name: "look", arguments: "{}" } };
  return Promise.resolve(
    asks ? answerOf({ tool_calls: [call] }, "tool_calls") : answerOf({ content: ANSWER }, "stop"),
  );
};

const image = (size: number): string => bytes.toString("base64", 0, size);
const asked = (data: string): ChatCompletionMessageParam[] => [
  { role: "system", content: "You are Assistant.\n\nYour goal: Answers in one sentence" },
  {
    role: "user",
    content: [
      { type: "text", text: QUESTION },
      { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
    ],
  },
];

/** Returns the used heap in megabytes. */
function heap(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
}

function turnByHand(client: OpenAI, size = MIB): Work {
  return async () => {
    const { choices } = await client.chat.completions.create({
      model: MODEL,
      messages: asked(image(size)),
    });
    expectResult(choices[0]?.message.content, ANSWER);
  };
}

function turnOfFramework(size = MIB): Work {
  const agent = new Agent({ role: "Assistant", goal: "Answers in one sentence" });
  const chat = new Conversation({ agent, model: openai(MODEL, { apiKey: "bench", fetch }) });
  let n = 0;
  return async () => {
    const thread = chat.thread(`t${n++}`);
    const { text } = await thread.send([
      { type: "text", text: QUESTION },
      attachment.fromBytes(bytes.subarray(0, size)),
    ]);
    expectResult(text, ANSWER);
    await thread.delete();
  };
}

/** Returns the growth of the heap from the first to the last call in a tool loop with an image. */
async function growthByHand(client: OpenAI): Promise<number> {
  const messages = asked(image(MIB));
  const heaps: number[] = [];
  const tools = [
    { type: "function" as const, function: { name: "look", parameters: { type: "object" } } },
  ];
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages, tools });
    const message = choices[0]?.message;
    if (message?.tool_calls === undefined) break;
    messages.push(message);
    for (const { id } of message.tool_calls) {
      heaps.push(heap());
      messages.push({ role: "tool", tool_call_id: id, content: "more" });
    }
  }
  return (heaps.at(-1) ?? 0) - (heaps[0] ?? 0);
}

async function growthOfFramework(): Promise<number> {
  const heaps: number[] = [];
  const look = tool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    execute: () => {
      heaps.push(heap());
      return "more";
    },
  });
  const agent = new Agent({ role: "Assistant", goal: "Answers in one sentence", tools: [look] });
  const task = new Task({
    description: QUESTION,
    agent,
    attachments: [attachment.fromBytes(bytes)],
  });
  const model = openai(MODEL, { apiKey: "bench", fetch });
  const output = await new Ensemble({ model, tasks: [task] }).run();
  expectResult(output.raw, ANSWER);
  if (heaps.length !== CALLS)
    throw new Error("the tool was not called as often as the model asked");
  return (heaps.at(-1) ?? 0) - (heaps[0] ?? 0);
}

/**
 * A message with an image of 1 MB. Measures the cost of a turn relative to the vendor's client.
 * Also measures the memory that a tool loop keeps for each request.
 */
export const filesScenario: Scenario = {
  id: "files",
  lines: [
    { title: "turn with an image of 1 MB", unit: "x raw client", goal: 1.3 },
    { title: "loop of 10 calls with the image", unit: "MB of heap kept", goal: 1 },
  ],
  rounds: ROUNDS,
  async prepare(side: SideName) {
    const client = new OpenAI({
      apiKey: "bench",
      maxRetries: 0,
      fetch: fetch,
    });
    const raw = turnByHand(client);
    const work = side === "framework" ? turnOfFramework() : raw;
    // Before the warm-up, because this measurement collects garbage. V8 compiles the code again
    // after a collection.
    const kept: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      kept.push(side === "framework" ? await growthOfFramework() : await growthByHand(client));
    for (const warm of [turnByHand(client, SMALL), turnOfFramework(SMALL)])
      await repeat(WARM_UP_RUNS, warm);
    for (const warm of [raw, work]) await repeat(TURNS, warm);
    return async () => {
      const floor = await cpuOf(TURNS, raw);
      const own = await cpuOf(TURNS, work);
      return [own / floor, kept.pop() ?? Number.NaN];
    };
  },
};
