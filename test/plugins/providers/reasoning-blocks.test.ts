import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ReasoningPart,
} from "agentensemble";
import { Agent, Conversation } from "agentensemble";
import { expect } from "chai";
import type { ServerResponse } from "node:http";
import { aiSdk } from "../../../src/plugins/providers/ai-sdk/index.js";
import { anthropic } from "../../../src/plugins/providers/anthropic/index.js";
import { openai } from "../../../src/plugins/providers/openai/index.js";
import { AnthropicServer } from "../../support/anthropic-server.js";
import { messageEnd, messageStart } from "../../support/anthropic-wire.js";
import { chunksOf } from "../../support/collect.js";
import { eventText, type ModelServer, type Reply } from "../../support/model-server.js";
import { OpenAIServer } from "../../support/openai-server.js";

const QUESTION: ChatMessage = { role: "user", content: "What is 2 + 2?" };
const TOOLS = [{ name: "add", description: "Adds", parameters: { type: "object" } }] as const;
const REQUEST: ChatRequest = {
  messages: [QUESTION],
  tools: TOOLS,
  reasoning: { effort: "high" },
};

/** Sends a body in pieces of three bytes, each in a separate turn of the event loop. */
function inPieces(body: string, contentType: string): Reply {
  return {
    kind: "custom",
    run(response: ServerResponse): void {
      const bytes = Buffer.from(body);
      response.writeHead(200, { "content-type": contentType });
      const write = (start: number): void => {
        if (start >= bytes.length) return void response.end();
        response.write(bytes.subarray(start, start + 3));
        setImmediate(write, start + 3);
      };
      setImmediate(write, 0);
    },
  };
}

async function streamed(model: ChatModel, request: ChatRequest): Promise<ChatResponse> {
  const last = (await chunksOf(model, request)).at(-1);
  if (last?.type !== "finish") throw new Error("the stream did not finish");
  return last.response;
}

const thinking = { type: "thinking", thinking: "Add them.", signature: "c2lnbmVk" };
const redacted = { type: "redacted_thinking", data: "aGlkZGVu" };
const toolUse = { type: "tool_use", id: "c1", name: "add", input: { a: 2 } };
const message = {
  id: "m1",
  model: "claude-x",
  content: [thinking, { type: "text", text: "Let me see." }, redacted, toolUse],
  stop_reason: "tool_use",
};
const messageEvents = [
  messageStart(),
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Add " } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "them." } },
  {
    type: "content_block_delta",
    index: 0,
    delta: { type: "signature_delta", signature: "c2lnbmVk" },
  },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "Let me see." } },
  { type: "content_block_stop", index: 1 },
  { type: "content_block_start", index: 2, content_block: redacted },
  { type: "content_block_stop", index: 2 },
  { type: "content_block_start", index: 3, content_block: toolUse },
  { type: "content_block_stop", index: 3 },
  ...messageEnd("tool_use"),
];
const items = [
  {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "Add them." }],
    encrypted_content: "ZW5j",
  },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me see." }] },
  { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "ZW5jMg" },
  { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":2}' },
] as const;
const responseDocument = { id: "r1", status: "completed", model: "gpt-x", output: items };

/** Each vendor: its complete answer, its stream, and the turn that is sent back. */
const VENDORS = {
  anthropic: {
    start: () => AnthropicServer.start(),
    model: (baseURL: string) => anthropic("claude-x", { apiKey: "k", baseURL }),
    whole: JSON.stringify(message),
    stream: messageEvents.map(eventText).join(""),
    sentBack: (body: Record<string, unknown>) =>
      (body["messages"] as readonly { readonly content: unknown }[])[1]?.content,
    expected: message.content,
  },
  "openai responses": {
    start: () => OpenAIServer.startResponses(),
    model: (baseURL: string) => openai("gpt-x", { apiKey: "k", baseURL, api: "responses" }),
    whole: JSON.stringify(responseDocument),
    stream: [
      { type: "response.created", response: { id: "r1" } },
      ...items.map((item, output_index) => ({
        type: "response.output_item.done",
        output_index,
        item,
      })),
      { type: "response.completed", response: responseDocument },
    ]
      .map(eventText)
      .join(""),
    sentBack: (body: Record<string, unknown>) => (body["input"] as readonly unknown[]).slice(1, 5),
    expected: [items[0], { role: "assistant", content: "Let me see." }, items[2], items[3]],
  },
} as const;

describe("blocks of reasoning", () => {
  for (const [name, vendor] of Object.entries(VENDORS)) {
    let server: ModelServer;
    before(async () => (server = await vendor.start()));
    after(() => server.close());

    const answers: readonly (readonly [string, Reply, Reply])[] = [
      ["whole", { kind: "raw", body: vendor.whole }, inPieces(vendor.whole, "application/json")],
      [
        "streamed",
        { kind: "raw", body: vendor.stream, contentType: "text/event-stream" },
        inPieces(vendor.stream, "text/event-stream"),
      ],
    ];
    for (const [form, ...replies] of answers)
      for (const [index, reply] of replies.entries())
        it(`are sent back unchanged in their position: ${name}, ${form}, ${index === 0 ? "at once" : "in pieces"}`, async () => {
          const model = vendor.model(server.url);
          server.reply(reply, { kind: "answer", text: "4" });
          const first =
            form === "whole" ? await model.chat(REQUEST) : await streamed(model, REQUEST);
          expect(first.reasoning).to.equal("Add them.");
          expect(first.message.reasoning?.map(({ index: place }) => place)).to.deep.equal([0, 2]);
          const messages: readonly ChatMessage[] = [
            QUESTION,
            JSON.parse(JSON.stringify(first.message)) as ChatMessage,
            { role: "tool", toolCallId: "c1", toolName: "add", content: "4" },
          ];
          await model.chat({ ...REQUEST, messages });
          const { body } = server.requests.at(-1) ?? { body: {} };
          expect(vendor.sentBack(body)).to.deep.equal(vendor.expected);
        });

    it(`of another vendor are not sent: ${name}`, async () => {
      server.reply({ kind: "answer", text: "4" });
      const reasoning = [
        {
          type: "reasoning",
          text: "secret thought",
          provider: "other",
          modelId: "m",
          index: 0,
          data: { a: "secret data" },
        },
        {
          type: "reasoning",
          text: "secret thought",
          provider: name === "anthropic" ? "anthropic" : "openai",
          modelId: "m",
          index: 0,
        },
      ] as const;
      await vendor.model(server.url).chat({
        ...REQUEST,
        messages: [QUESTION, { role: "assistant", content: "Yes", reasoning }, QUESTION],
      });
      expect(JSON.stringify(server.requests.at(-1)?.body)).not.to.include("secret");
    });
  }

  it("contain the metadata of tool calls of the AI SDK's provider, which are sent back with their calls", async () => {
    const prompts: { readonly role: string; readonly content: unknown }[][] = [];
    const signature = { google: { thoughtSignature: "c2ln" } };
    const content = [
      { type: "reasoning", text: "Add them.", providerMetadata: { p: { signature: "s" } } },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: "{}", providerMetadata: signature }, // prettier-ignore
      { type: "tool-call", toolCallId: "c2", toolName: "add", input: "{}" },
    ];
    const end = { finishReason: "tool-calls", usage: {} };
    const parts = [
      { type: "reasoning-start", id: "0", providerMetadata: { p: { signature: "s" } } },
      { type: "reasoning-delta", id: "0", delta: "Add them." },
      ...content.slice(1),
      { type: "finish", ...end },
    ];
    const made = (provider: string): ChatModel =>
      aiSdk({
        ...{ specificationVersion: "v3", provider, modelId: "m1" },
        doGenerate: (options: { readonly prompt: never }) => {
          prompts.push(options.prompt);
          return Promise.resolve({ content, ...end });
        },
        doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
      }); // as far as it is called here
    const model = made("google");
    const request: ChatRequest = { messages: [QUESTION], tools: TOOLS };
    const sent = (): unknown => prompts.at(-1)?.find(({ role }) => role === "assistant")?.content;
    for (const first of [await model.chat(request), await streamed(model, request)]) {
      expect(first.reasoning).to.equal("Add them.");
      const message = JSON.parse(JSON.stringify(first.message)) as ChatMessage; // as a thread has it
      await model.chat({ messages: [QUESTION, message] });
      const call = { type: "tool-call", toolName: "add", input: {} };
      expect(sent()).to.deep.equal([
        { type: "reasoning", text: "Add them.", providerOptions: { p: { signature: "s" } } },
        { ...call, toolCallId: "c1", providerOptions: signature },
        { ...call, toolCallId: "c2" },
      ]);
      await made("other").chat({ messages: [QUESTION, message] });
      expect(JSON.stringify(sent())).not.to.include("c2ln");
    }
  });

  it("are sent back with the metadata of the AI SDK's provider, complete and streamed", async () => {
    const prompts: unknown[] = [];
    const content = [
      { type: "reasoning", text: "Add them.", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "Let me see." },
      { type: "reasoning", text: "unsigned" },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: "{}" },
    ];
    const end = { finishReason: "tool-calls", usage: {} };
    const parts = [
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "Add them." },
      { type: "reasoning-end", id: "0", providerMetadata: { p: { signature: "s" } } },
      { type: "text-delta", id: "1", delta: "Let me see." },
      { type: "reasoning-delta", id: "2", delta: "unsigned" },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: "{}" },
      { type: "finish", ...end },
    ];
    const model = aiSdk({
      specificationVersion: "v3",
      provider: "hand.made",
      modelId: "m1",
      doGenerate: (options: { readonly prompt: unknown }) => {
        prompts.push(options.prompt);
        return Promise.resolve({ content, ...end });
      },
      doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
    }); // as far as it is called here
    const request: ChatRequest = { messages: [QUESTION], tools: TOOLS };
    for (const first of [await model.chat(request), await streamed(model, request)]) {
      await model.chat({ messages: [QUESTION, first.message] });
      expect(prompts.at(-1)).to.deep.include({
        role: "assistant",
        content: [
          { type: "reasoning", text: "Add them.", providerOptions: { p: { signature: "s" } } },
          { type: "text", text: "Let me see." },
          { type: "tool-call", toolCallId: "c1", toolName: "add", input: {} },
        ],
      });
    }
  });
});

describe("settings of reasoning", () => {
  async function bodyOf(
    start: () => Promise<ModelServer>,
    model: (baseURL: string) => ChatModel,
    request: Partial<ChatRequest>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const server = await start();
    try {
      server.reply({ kind: "answer", text: "Yes" });
      await model(server.url).chat({ messages: [QUESTION], ...request });
      return server.requests[0]?.body ?? {};
    } finally {
      await server.close();
    }
  }
  const { anthropic: messages, "openai responses": responses } = VENDORS;
  const adaptive = { type: "adaptive", display: "summarized" };

  for (const [what, request, fields] of [
    ["no setting", {}, { thinking: undefined, output_config: undefined }],
    [
      "an effort",
      { reasoning: { effort: "high" } },
      { thinking: adaptive, output_config: { effort: "high" } },
    ],
    [
      "the least effort",
      { reasoning: { effort: "minimal" } },
      { output_config: { effort: "low" } },
    ],
    ["no effort", { reasoning: { effort: "none" } }, { thinking: { type: "disabled" } }],
    [
      "only a summary",
      { reasoning: { summary: "detailed" } },
      { thinking: adaptive, output_config: undefined },
    ],
    [
      "no summary",
      { reasoning: { summary: "off" } },
      { thinking: { type: "adaptive", display: "omitted" } },
    ],
    [
      "a limit, by which the output limit rises",
      { reasoning: { budgetTokens: 2048 }, maxOutputTokens: 100 },
      {
        thinking: { type: "enabled", budget_tokens: 2048, display: "summarized" },
        max_tokens: 2148,
      },
    ],
    [
      "a tool that must be called",
      { reasoning: { effort: "high" }, tools: TOOLS, toolChoice: "required" },
      { thinking: { type: "disabled" }, output_config: undefined },
    ],
    [
      "one tool that must be called",
      { reasoning: { budgetTokens: 2048 }, tools: TOOLS, toolChoice: { name: "add" } },
      { thinking: { type: "disabled" } },
    ],
    [
      "tools that may be called",
      { reasoning: { effort: "high" }, tools: TOOLS, toolChoice: "auto" },
      { thinking: adaptive },
    ],
  ] as const)
    it(`reach the Messages API: ${what}`, async () => {
      const body = await bodyOf(messages.start, messages.model, request);
      for (const [field, value] of Object.entries(fields))
        expect(body[field], field).to.deep.equal(value);
    });

  for (const isOwn of [true, false])
    it(`${isOwn ? "continue" : "pause"} in the Messages API after a tool call ${isOwn ? "with" : "without"} a thought of the agent`, async () => {
      const server = await AnthropicServer.start();
      try {
        const model = messages.model(server.url);
        const thought: ReasoningPart = {
          ...({ type: "reasoning", text: "Hm", provider: "anthropic", modelId: "m" } as const),
          index: 0,
          ...(isOwn && { data: thinking }),
        };
        const asked: ChatMessage[] = [
          QUESTION,
          {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "c1", name: "add", arguments: "{}" }],
            reasoning: [thought],
          },
          { role: "tool", toolCallId: "c1", toolName: "add", content: "4" },
        ];
        const enabled = { type: "enabled", budget_tokens: 2048, display: "summarized" };
        const reasoning = { budgetTokens: 2048 };
        for (const [sent, expected] of [
          [asked, isOwn ? enabled : { type: "disabled" }],
          [[...asked, { role: "assistant", content: "4" }, QUESTION], enabled],
        ] as const) {
          server.reply({ kind: "answer", text: "4" });
          await model.chat({ messages: sent, tools: TOOLS, reasoning });
          expect(server.requests.at(-1)?.body["thinking"]).to.deep.equal(expected);
        }
      } finally {
        await server.close();
      }
    });

  it("are suspended for an agent that takes over, until the next message of the user", async () => {
    const server = await AnthropicServer.start();
    try {
      const options = { modelOptions: { reasoning: { budgetTokens: 2048 } } };
      const back = () => [first];
      const second = new Agent({ role: "Second", goal: "g", handoffs: back, ...options });
      const first: Agent = new Agent({ role: "First", goal: "g", handoffs: [second], ...options });
      await using chat = new Conversation({ agent: first, model: messages.model(server.url) });
      const call = { type: "tool_use", id: "c1", name: "transfer_to_second", input: {} };
      const document = { content: [thinking, call], stop_reason: "tool_use" };
      server.reply(
        { kind: "raw", body: JSON.stringify(document) },
        { kind: "answer", text: "four" },
        { kind: "answer", text: "five" },
      );
      await chat.thread("t").send("What is 2 + 2?");
      await chat.thread("t").send("And one more?");
      const bodies = server.requests.map(({ body }) => body);
      expect(bodies.map((body) => (body["thinking"] as { type: string }).type)).to.deep.equal([
        "enabled",
        "disabled",
        "enabled",
      ]);
      expect(JSON.stringify(bodies.slice(1))).not.to.include(thinking.signature);
    } finally {
      await server.close();
    }
  });

  for (const [what, reasoning, sent] of [
    ["an effort", { effort: "max" }, { effort: "max", summary: "auto" }],
    ["no effort", { effort: "none" }, { effort: "none" }],
    ["no summary", { summary: "off" }, {}],
    ["a summary", { summary: "concise" }, { summary: "concise" }],
  ] as const)
    it(`reach the Responses API: ${what}`, async () => {
      const body = await bodyOf(responses.start, responses.model, { reasoning });
      expect(body["reasoning"]).to.deep.equal(sent);
      expect(body).to.deep.include({ include: ["reasoning.encrypted_content"], store: false });
    });

  it("reach Chat Completions", async () => {
    const chat = (baseURL: string): ChatModel => openai("gpt-x", { apiKey: "k", baseURL });
    const body = await bodyOf(() => OpenAIServer.start(), chat, {
      reasoning: { effort: "low", summary: "auto" },
    });
    expect(body).to.include({ reasoning_effort: "low" }).and.not.have.property("reasoning");
  });

  for (const api of ["chat", "responses"] as const)
    it(`refuse a limit of tokens that the vendor does not support: ${api}`, async () => {
      const server = await OpenAIServer.start();
      try {
        const error: unknown = await openai("gpt-x", { apiKey: "k", baseURL: server.url, api })
          .chat({ messages: [QUESTION], reasoning: { budgetTokens: 2048 } })
          .catch((e: unknown) => e);
        expect(error).to.include({ code: "AE_MODEL_UNSUPPORTED_INPUT", retryable: false });
        expect(server.requests).to.deep.equal([]);
      } finally {
        await server.close();
      }
    });

  for (const [provider, reasoning, own, sent] of [
    [
      "openai.chat",
      { effort: "high" },
      undefined,
      { openai: { reasoningEffort: "high", reasoningSummary: "auto" } },
    ],
    [
      "openai.responses",
      { summary: "off" },
      { openai: { store: false } },
      { openai: { store: false } },
    ],
    [
      "anthropic.messages",
      { budgetTokens: 2048 },
      undefined,
      { anthropic: { thinking: { type: "enabled", budgetTokens: 2048 } } },
    ],
    [
      "anthropic.messages",
      { effort: "minimal" },
      { p: { a: 1 } },
      { anthropic: { thinking: { type: "adaptive" }, effort: "low" }, p: { a: 1 } },
    ],
    [
      "anthropic.messages",
      { effort: "none" },
      undefined,
      { anthropic: { thinking: { type: "disabled" } } },
    ],
    [
      "anthropic.messages",
      { summary: "auto" },
      undefined,
      { anthropic: { thinking: { type: "adaptive" } } },
    ],
    ["mistral.chat", { effort: "high" }, undefined, "reasoning for 'mistral.chat'"],
    ["openai.chat", { budgetTokens: 2048 }, undefined, "reasoning.budgetTokens for 'openai.chat'"],
  ] as const)
    it(`become options of the AI SDK's ${provider}: ${JSON.stringify(reasoning)}`, async () => {
      let options: unknown;
      const model = aiSdk({
        specificationVersion: "v3",
        provider,
        modelId: "m1",
        doGenerate: (given: { readonly providerOptions: unknown }) => {
          options = given.providerOptions;
          return Promise.resolve({
            content: [{ type: "text", text: "Yes" }],
            finishReason: "stop",
          });
        },
        doStream: () => Promise.reject(new Error("not called")),
      }); // as far as it is called here
      const outcome: unknown = await model
        .chat({ messages: [QUESTION], reasoning, providerOptions: own })
        .catch((e: unknown) => e);
      if (typeof sent !== "string") return expect(options).to.deep.equal(sent);
      expect(outcome).to.include({ code: "AE_MODEL_UNSUPPORTED_INPUT" });
      return expect((outcome as Error).message).to.include(sent);
    });
});
