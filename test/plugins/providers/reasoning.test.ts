import type { ChatModel, ChatRequest, ChatResponse } from "agentensemble";
import { Agent, Ensemble, Task } from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
import { expect } from "chai";
import { join } from "node:path";
import { z } from "zod";
import { aiSdk, type AiSdkLanguageModel } from "../../../src/plugins/providers/ai-sdk/index.js";
import { anthropic } from "../../../src/plugins/providers/anthropic/index.js";
import { openai } from "../../../src/plugins/providers/openai/index.js";
import { AnthropicServer } from "../../support/anthropic-server.js";
import { messageEnd, messageStart, textEvents } from "../../support/anthropic-wire.js";
import { chunksOf } from "../../support/collect.js";
import { runToEnd } from "../../support/kernel-fixtures.js";
import type { ModelServer } from "../../support/model-server.js";
import { OpenAIServer } from "../../support/openai-server.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const THOUGHT = "First this.\n\nThen that.";
const THOUGHTS = ["First this.", "Then that."];

/** Returns the streamed response; `blocks` are those that its chunks must join to. */
async function streamed(
  model: ChatModel,
  blocks: readonly string[] = THOUGHTS,
): Promise<ChatResponse> {
  const chunks = await chunksOf(model, REQUEST);
  const joined: string[] = [];
  for (const chunk of chunks)
    if (chunk.type === "reasoning") joined[chunk.index] = (joined[chunk.index] ?? "") + chunk.text;
  expect(joined, "chunks of reasoning").to.deep.equal(blocks);
  const last = chunks.at(-1);
  if (last?.type !== "finish") throw new Error("the stream did not finish");
  const text = chunks.flatMap((chunk) => (chunk.type === "text" ? [chunk.text] : [])).join("");
  expect(text, "tokens").to.equal("Yes");
  return last.response;
}

function expectThought({ message, reasoning }: ChatResponse): void {
  expect(message).to.include({ role: "assistant", content: "Yes" });
  expect(message.reasoning?.map(({ text }) => text).join("\n\n")).to.equal(THOUGHT);
  expect(reasoning).to.equal(THOUGHT);
}

const chatDocument = {
  choices: [
    {
      message: { role: "assistant", content: "Yes", reasoning_content: THOUGHT },
      finish_reason: "stop",
    },
  ],
};
const responseDocument = {
  id: "r1",
  status: "completed",
  output: [
    { type: "reasoning", summary: THOUGHTS.map((text) => ({ type: "summary_text", text })) },
    { type: "message", content: [{ type: "output_text", text: "Yes" }] },
  ],
};
const summaryDelta = (part: number, delta: string) => ({
  type: "response.reasoning_summary_text.delta",
  output_index: 0,
  summary_index: part,
  delta,
});
const thinking = THOUGHTS.flatMap((thought, index) => [
  { type: "content_block_start", index, content_block: { type: "thinking", thinking: "" } },
  { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking: thought } },
  { type: "content_block_stop", index },
]);

/** The answer of each vendor, complete and as a stream. */
const VENDORS = {
  anthropic: {
    start: () => AnthropicServer.start(),
    model: (baseURL: string) => anthropic("claude-sonnet-4-5", { apiKey: "sk-ant-x", baseURL }),
    whole: {
      content: [
        ...THOUGHTS.map((thought) => ({ type: "thinking", thinking: thought, signature: "s" })),
        { type: "text", text: "Yes" },
      ],
      stop_reason: "end_turn",
    },
    blocks: THOUGHTS,
    events: [messageStart(), ...thinking, ...textEvents(2, ["Yes"]), ...messageEnd("end_turn")],
  },
  "openai chat": {
    start: () => OpenAIServer.start(),
    model: (baseURL: string) => openai("local", { apiKey: "sk-x", baseURL }),
    whole: chatDocument,
    blocks: [THOUGHT],
    events: [
      { choices: [{ index: 0, delta: { reasoning_content: "First this." } }] },
      { choices: [{ index: 0, delta: { reasoning_content: "\n\nThen that." } }] },
      { choices: [{ index: 0, delta: { content: "Yes" }, finish_reason: "stop" }] },
    ],
  },
  "openai responses": {
    start: () => OpenAIServer.startResponses(),
    model: (baseURL: string) => openai("gpt-5", { apiKey: "sk-x", baseURL, api: "responses" }),
    whole: responseDocument,
    blocks: [THOUGHT],
    events: [
      { type: "response.output_item.added", output_index: 0, item: { type: "reasoning" } },
      ...["First ", "this."].map((delta) => summaryDelta(0, delta)),
      ...["Then ", "that."].map((delta) => summaryDelta(1, delta)),
      { type: "response.output_item.done", output_index: 0, item: responseDocument.output[0] },
      { type: "response.output_text.delta", output_index: 1, delta: "Yes" },
      { type: "response.completed", response: responseDocument },
    ],
  },
} as const;

describe("the reasoning of a model before its answer", () => {
  for (const [vendor, { start, model, whole, blocks, events }] of Object.entries(VENDORS))
    it(`is reasoning of the response, complete and streamed: ${vendor}`, async () => {
      const server: ModelServer = await start();
      try {
        server.reply({ kind: "raw", body: JSON.stringify(whole) });
        expectThought(await model(server.url).chat(REQUEST));
        server.reply({ kind: "events", events, end: "done" });
        expectThought(await streamed(model(server.url), blocks));
        server.reply({ kind: "raw", body: JSON.stringify(whole) });
        expectThought(await streamed(model(server.url), blocks)); // a server that does not stream
      } finally {
        await server.close();
      }
    });

  it("is streamed if the Responses API sends only complete items", async () => {
    const server = await OpenAIServer.startResponses();
    try {
      const [thought, message] = responseDocument.output;
      const end = { type: "response.completed", response: responseDocument };
      const model = VENDORS["openai responses"].model(server.url);
      const items = [thought, message].map((item, output_index) => ({
        type: "response.output_item.done",
        output_index,
        item,
      }));
      server.reply({ kind: "events", events: [...items, end], end: "done" });
      expectThought(await streamed(model, [THOUGHT]));
      server.reply({ kind: "events", events: [end], end: "done" });
      expectThought(await streamed(model, [THOUGHT]));
      const contents = ["First ", "this.\n\nThen that."].map((delta) => ({
        type: "response.reasoning_text.delta",
        output_index: 0,
        content_index: 0,
        delta,
      }));
      server.reply({ kind: "events", events: [...contents, end], end: "done" });
      expect((await chunksOf(model, REQUEST)).slice(0, 2)).to.deep.equal([
        { type: "reasoning", index: 0, text: "First " },
        { type: "reasoning", index: 0, text: "this.\n\nThen that." },
      ]);
    } finally {
      await server.close();
    }
  });

  it("is reasoning of the response, complete and streamed: ai-sdk", async () => {
    const end = {
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    };
    const parts = [
      ...THOUGHTS.flatMap((delta, id) => [
        { type: "reasoning-start", id: String(id) },
        { type: "reasoning-delta", id: String(id), delta },
      ]),
      { type: "text-delta", id: "t", delta: "Yes" },
      { type: "finish", ...end },
    ];
    const sdk = {
      specificationVersion: "v2",
      provider: "hand.made",
      modelId: "m1",
      doGenerate: () =>
        Promise.resolve({
          content: [
            ...THOUGHTS.map((text) => ({ type: "reasoning", text })),
            { type: "text", text: "Yes" },
          ],
          ...end,
        }),
      doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
    } as unknown as AiSdkLanguageModel; // as far as it is called here
    expectThought(await aiSdk(sdk).chat(REQUEST));
    expectThought(await streamed(aiSdk(sdk)));
  });

  it("becomes an event, is recorded and replayed, and is neither output nor sent back", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const requests: ChatRequest[] = [];
    const model: ChatModel = {
      provider: "p",
      modelId: "m",
      chat(request) {
        requests.push(structuredClone(request));
        return Promise.resolve({
          message: { role: "assistant", content: requests.length === 1 ? "no JSON" : '{"a":1}' },
          finishReason: "stop",
          reasoning: `secret thought ${requests.length}`,
        });
      },
    };
    const make = () => ({
      model,
      tasks: [
        new Task({
          description: "Think",
          agent: new Agent({ role: "r", goal: "g" }),
          outputType: z.object({ a: z.number() }),
        }),
      ],
    });
    const recorded = await runToEnd({ ...make(), plugins: [recordTo(file)] });
    const replayed = await runToEnd({ ...make(), plugins: [replayFrom(file)] });
    for (const { events, output } of [recorded, replayed]) {
      const received = events.filter((event) => event.type === "reasoning_received");
      expect(received.map(({ iteration, reasoning }) => [iteration, reasoning])).to.deep.equal([
        [0, "secret thought 1"],
        [1, "secret thought 2"],
      ]);
      expect(output.raw).to.equal('{"a":1}');
    }
    expect(requests).to.have.length(2);
    expect(JSON.stringify(requests)).not.to.include("secret thought");
  });

  it("causes no event if the text is empty", async () => {
    const types: string[] = [];
    const ensemble = new Ensemble({
      model: {
        provider: "p",
        modelId: "m",
        chat: () =>
          Promise.resolve({
            message: { role: "assistant", content: "x" },
            finishReason: "stop",
            reasoning: "",
          }),
      },
      tasks: [Task.of("Think")],
      on: ({ type }) => void types.push(type),
    });
    await ensemble.run();
    await ensemble.dispose();
    expect(types).to.include("llm_iteration_completed").and.not.include("reasoning_received");
  });
});
