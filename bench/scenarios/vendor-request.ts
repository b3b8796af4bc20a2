import type {
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";
import type { ChatModel } from "agentensemble";
import { Agent, Ensemble, Task, openai, tool } from "agentensemble";
import OpenAI from "openai";
import type { Scenario, SideName, Work } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuOf, repeat, WARM_UP_RUNS } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { agentTask } from "../work/team.js";
import { vendorAddress } from "../work/vendor-server.js";

const MODEL = "gpt-4o-mini";
const QUESTION = "How many islands has Stockholm?";
const ANSWER = "Stockholm has fourteen islands.";
const STREAMED = Array.from({ length: 200 }, (_, i) => `t${i} `).join("");
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/**
 * Number of warm-up runs of each line. The first line compiles most of the code of the other lines.
 */
const WARM_UPS = [WARM_UP_RUNS, 1_000, 500, 10, 10];
/**
 * Number of slices of a round. Slices of the raw client and of the side alternate: a disturbance of
 * the machine affects both.
 */
const SLICES = 6;
const SLICE = 60;

const count = tool({
  name: "count",
  description: "Counts the islands of a city",
  input: PARAMETERS,
  execute: () => "14",
});

function conversation(): ChatCompletionMessageParam[] {
  return [
    { role: "system", content: "You are Calculator.\nYour personal goal is: Say the right number" },
    { role: "user", content: QUESTION },
  ];
}

function textByHand(client: OpenAI, around: Around): Work {
  return () =>
    around.unit("text", async () => {
      const { choices } = await client.chat.completions.create({
        model: MODEL,
        messages: conversation(),
      });
      expectResult(choices[0]?.message.content, ANSWER);
    });
}

const TOOLS: ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: count.name,
      description: count.description,
      parameters: PARAMETERS,
      strict: true,
    },
  },
];

function toolsByHand(client: OpenAI, around: Around): Work {
  return async () => {
    const messages = conversation();
    for (;;) {
      const { choices } = await client.chat.completions.create({
        model: MODEL,
        messages,
        tools: TOOLS,
      });
      const message = choices[0]?.message;
      if (message?.tool_calls === undefined) return expectResult(message?.content, ANSWER);
      messages.push(message);
      for (const call of message.tool_calls)
        messages.push({
          role: "tool",
          tool_call_id: call.id,
          content: await around.unit("count", async () => "14"),
        });
    }
  };
}

function streamByHand(client: OpenAI, around: Around): Work {
  return () =>
    around.unit("stream", async () => {
      let received = "";
      const stream = await client.chat.completions.create({
        model: MODEL,
        messages: conversation(),
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const { choices } of stream) {
        const token = choices[0]?.delta.content ?? "";
        if (token === "") continue;
        around.token(token);
        received += token;
      }
      expectResult(received, STREAMED);
    });
}

function answered(ensemble: Ensemble): Work {
  return async () => expectResult((await ensemble.run()).raw, ANSWER);
}

function streamed(ensemble: Ensemble): Work {
  return async () => {
    const handle = ensemble.stream();
    let received = "";
    for await (const event of handle.events) if (event.type === "token") received += event.token;
    expectResult(received, STREAMED);
    expectResult((await handle.output).raw, STREAMED);
  };
}

/** One line of the table: a side's work and the raw client's. */
interface Pair {
  readonly work: Work;
  readonly raw: Work;
  /** Number of repetitions in one slice. */
  readonly slice: number;
}

const AT_ONCE = 50;

/** Returns work that executes the given work concurrently. */
function manyOf(work: Work): Work {
  return () => Promise.all(Array.from({ length: AT_ONCE }, work));
}

function manyAtOnce({ work, raw }: Pair): Pair {
  return { work: manyOf(work), raw: manyOf(raw), slice: 1 };
}

function pairOf(side: SideName, byHand: (around: Around) => Work, framework: Work): Pair {
  const workOf = compare(byHand, () => framework);
  return { work: workOf(side), raw: workOf("promises"), slice: SLICE };
}

interface Clients {
  readonly client: OpenAI;
  readonly model: ChatModel;
}

function clientsOf(baseURL: string): Clients {
  return {
    client: new OpenAI({ apiKey: "bench", baseURL, maxRetries: 0 }),
    model: openai(MODEL, { baseURL, apiKey: "bench" }),
  };
}

/** Returns one request with a text as its answer. */
export function textRequest(side: SideName, baseURL: string): Pair {
  const { client, model } = clientsOf(baseURL);
  const ensemble = new Ensemble({ model, tasks: [agentTask(QUESTION)] });
  return pairOf(side, (around) => textByHand(client, around), answered(ensemble));
}

function pairs(side: SideName, baseURL: string): readonly Pair[] {
  const { client, model } = clientsOf(baseURL);
  const counter = new Agent({ role: "Calculator", goal: "Say the right number", tools: [count] });
  const plain = new Ensemble({ model, tasks: [agentTask(QUESTION)] });
  const counting = new Ensemble({
    model,
    tasks: [new Task({ description: QUESTION, agent: counter })],
  });
  const text = textRequest(side, baseURL);
  const tools = pairOf(side, (around) => toolsByHand(client, around), answered(counting));
  const stream = pairOf(side, (around) => streamByHand(client, around), streamed(plain));
  return [text, tools, stream, manyAtOnce(text), manyAtOnce(tools)];
}

/** Returns the CPU time of the side's work relative to the raw client's work. */
async function ratio({ work, raw, slice: times }: Pair): Promise<number> {
  let [own, floor] = [0, 0];
  for (let slice = 0; slice < SLICES; slice++) {
    floor += await cpuOf(times, raw);
    own += await cpuOf(times, work);
  }
  return own / floor;
}

const line = { unit: "x raw client", goal: 1.1 } as const;
const alone = { ...line, goal: 1.25 } as const;

/** Requests to a vendor over HTTP: the CPU time that a run adds to the vendor's client. */
export const vendorRequestScenario: Scenario = {
  id: "S10",
  lines: [
    { title: "OpenAI request, text", ...alone },
    { title: "OpenAI requests with a tool call", ...alone },
    { title: "OpenAI request, stream of 200 pieces", ...line },
    { title: "50 requests at once, text", ...line },
    { title: "50 at once, with a tool call each", ...line },
  ],
  rounds: 9,
  async prepare(side) {
    const measured = pairs(side, await vendorAddress());
    for (const [index, { work, raw }] of measured.entries())
      for (const warm of [work, raw]) await repeat(WARM_UPS[index] ?? 10, warm);
    return async () => {
      const ratios: number[] = [];
      for (const pair of measured) ratios.push(await ratio(pair));
      return ratios;
    };
  },
};
