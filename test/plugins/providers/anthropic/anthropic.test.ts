import { expect } from "chai";
import { inspect } from "node:util";
import type {
  ChatModel,
  ChatModelProvider,
  ChatRequest,
  ChatResponse,
} from "../../../../src/contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import {
  anthropic,
  anthropicProvider,
  type AnthropicOptions,
} from "../../../../src/plugins/providers/anthropic/index.js";
import { AnthropicServer } from "../../../support/anthropic-server.js";
import { messageEnd, messageStart, textEvents } from "../../../support/anthropic-wire.js";
import type { RecordedRequest } from "../../../support/model-server.js";
import { rejectionOf } from "../../../support/rejection.js";
import { chunksOf } from "../../../support/collect.js";
import { setEnvironment } from "../../../support/environment.js";

const KEY = "sk-ant-test-0123456789";
const MODEL = "claude-sonnet-4-5";
const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const VARIABLES = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"] as const;

async function streamed(model: ChatModel): Promise<ChatResponse> {
  const last = (await chunksOf(model, REQUEST)).at(-1);
  if (last?.type !== "finish") throw new Error("the stream did not finish");
  return last.response;
}

describe("anthropic()", () => {
  let server: AnthropicServer;
  let model: ChatModel;

  beforeEach(async () => {
    setEnvironment(Object.fromEntries(VARIABLES.map((name) => [name, undefined])));
    server = await AnthropicServer.start();
    model = anthropic(MODEL, { apiKey: KEY, baseURL: server.url });
  });
  afterEach(() => server.close());

  async function sent(
    request: Partial<ChatRequest>,
    options: AnthropicOptions = {},
    modelId = MODEL,
  ): Promise<RecordedRequest["body"]> {
    await anthropic(modelId, { apiKey: KEY, baseURL: server.url, ...options }).chat({
      ...REQUEST,
      ...request,
    });
    return server.requests.at(-1)?.body ?? {};
  }

  describe("options", () => {
    const refused: readonly (readonly [string, () => unknown])[] = [
      ["a blank model", () => anthropic(" ")],
      ["an unknown option", () => anthropic("m", { apikey: "x" } as AnthropicOptions)],
      ["a blank key", () => anthropic("m", { apiKey: "  " })],
      [
        "a URL with credentials",
        () => anthropic("m", { baseURL: "http://user:hunter2@localhost" }),
      ],
      ["an idle limit of 0", () => anthropic("m", { idleTimeoutMs: 0 })],
      ["a size limit of 0", () => anthropic("m", { maxResponseBytes: 0 })],
      ["an output limit of 0", () => anthropic("m", { maxOutputTokens: 0 })],
      [
        "an invalid value of caching",
        () => anthropic("m", { promptCaching: "yes" as unknown as boolean }),
      ],
      [
        "an invalid value of structuredOutput",
        () => anthropic("m", { structuredOutput: 1 as unknown as boolean }),
      ],
      [
        "an unknown option of the plugin",
        () => anthropicProvider({ model: "x" } as AnthropicOptions),
      ],
    ];
    for (const [what, make] of refused) {
      it(`refuses ${what} without showing secrets`, () => {
        expect(make)
          .to.throw(ValidationError)
          .with.property("message")
          .that.does.not.contain("hunter2");
      });
    }

    it("sends key, headers and model in their places", async () => {
      const body = await sent({}, { apiKey: ` ${KEY}\n`, headers: { "x-team": "blue" } });
      expect(server.requests[0]?.path).to.equal("/v1/messages");
      expect(server.requests[0]?.headers).to.include({
        authorization: `Bearer ${KEY}`,
        "x-team": "blue",
      });
      expect(server.requests[0]?.headers).to.have.property("anthropic-version");
      expect(body).to.deep.equal({
        model: MODEL,
        max_tokens: 8192,
        messages: [{ role: "user", content: "Hi" }],
        stream: false,
      });
    });

    it("sends no placeholder next to a key in a header", async () => {
      await anthropic(MODEL, { baseURL: server.url, headers: { "X-Api-Key": KEY } }).chat(REQUEST);
      expect(server.requests[0]?.headers)
        .to.include({ "x-api-key": KEY })
        .and.not.have.property("authorization");
    });

    it("declares three attempts for failed calls, and structured output by the model's name", () => {
      const offers = (modelId: string, options?: AnthropicOptions): unknown =>
        anthropic(modelId, options).capabilities?.structuredOutput;
      expect(model.capabilities?.retry).to.deep.equal({ maxAttempts: 3 });
      for (const name of [
        MODEL,
        "claude-opus-4-1-20250805",
        "claude-haiku-4-5",
        "anthropic/claude-opus-4-6",
      ])
        expect(offers(name), name).to.equal(true);
      for (const name of [
        "claude-3-5-haiku-latest",
        "claude-3-opus-20240229",
        "claude-sonnet-4-20250514",
        "claude-opus-4-0",
        "claude-2.1",
        "kimi-k2",
      ]) {
        expect(offers(name), name).to.equal(false);
      }
      expect(offers("kimi-k2", { structuredOutput: true })).to.equal(true);
    });

    it("prints nothing, also about deprecated models", async () => {
      const printed: unknown[] = [];
      const { warn, error, log } = console;
      for (const name of ["warn", "error", "log"] as const)
        console[name] = (...args: unknown[]) => void printed.push(args);
      try {
        await sent({}, {}, "claude-3-opus-20240229");
        await sent(
          { providerOptions: { thinking: { type: "enabled", budget_tokens: 1024 } } },
          {},
          "claude-opus-4-6",
        );
      } finally {
        Object.assign(console, { warn, error, log });
      }
      expect(printed).to.deep.equal([]);
    });
  });

  describe("environment", () => {
    it("provides key and URL at the first call", async () => {
      const late = anthropic(MODEL);
      setEnvironment({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url });
      await late.chat(REQUEST);
      expect(server.requests[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    });

    it("fails without any key, naming the variable", async () => {
      const e = await rejectionOf(ModelCallError, anthropic(MODEL).chat(REQUEST));
      expect([e.code, e.retryable, e.provider]).to.deep.equal([
        "AE_MODEL_AUTH",
        false,
        "anthropic",
      ]);
      expect(e.message).to.contain("ANTHROPIC_API_KEY");
    });
  });

  describe("answers", () => {
    it("contain usage, id and model; cached tokens count as input", async () => {
      const usage = {
        input_tokens: 4,
        cache_read_input_tokens: 16,
        cache_creation_input_tokens: 100,
        output_tokens: 9,
      };
      server.reply({ kind: "answer", text: "Hello", usage });
      for (const response of [await model.chat(REQUEST), await streamed(model)]) {
        expect(response).to.deep.equal({
          message: { role: "assistant", content: "Hello" },
          finishReason: "stop",
          usage: {
            inputTokens: 120,
            outputTokens: 9,
            cacheWriteInputTokens: 100,
            cachedInputTokens: 16,
          },
          responseId: "msg_loopback",
          modelId: "loopback-model-2026",
        });
      }
    });

    it("map the reasons for stopping", async () => {
      for (const [wire, ours] of [
        ["end_turn", "stop"],
        ["stop_sequence", "stop"],
        ["max_tokens", "length"],
        ["model_context_window_exceeded", "length"],
        ["refusal", "content_filter"],
        ["pause_turn", "other"],
      ] as const) {
        server.reply({ kind: "answer", text: "x", finishReason: wire });
        expect((await model.chat(REQUEST)).finishReason, wire).to.equal(ours);
        expect((await streamed(model)).finishReason, wire).to.equal(ours);
      }
    });

    it("omit parts that are neither text nor a call", async () => {
      const content = [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
      ];
      server.reply({ kind: "raw", body: JSON.stringify({ content, stop_reason: "end_turn" }) });
      expect((await model.chat(REQUEST)).message).to.deep.include({
        role: "assistant",
        content: "Hello",
      });
    });

    for (const [what, content] of [
      ["an invalid block", [7]],
      ["text of the wrong type", [{ type: "text", text: 7 }]],
      ["a call without a name", [{ type: "tool_use", id: "a" }]],
    ] as const) {
      it(`are refused with ${what}`, async () => {
        server.reply({ kind: "raw", body: JSON.stringify({ content }) });
        expect((await rejectionOf(ModelCallError, model.chat(REQUEST))).code).to.equal(
          "AE_MODEL_BAD_RESPONSE",
        );
      });
    }
  });

  describe("streams", () => {
    it("return text and pieces of tool calls as they arrive", async () => {
      server.reply({
        kind: "answer",
        text: "Hello",
        toolCalls: [{ id: "c1", name: "add", arguments: '{"a":1}' }],
      });
      expect((await chunksOf(model, REQUEST)).slice(0, -1)).to.deep.equal([
        { type: "text", text: "Hell" },
        { type: "text", text: "o" },
        { type: "tool_call", index: 0, id: "c1", name: "add" },
        { type: "tool_call", index: 0, argumentsDelta: '{"a"' },
        { type: "tool_call", index: 0, argumentsDelta: ":1}" },
      ]);
    });

    it("may contain the arguments of a call in one piece, or none", async () => {
      const call = (index: number, input: unknown): readonly unknown[] => [
        {
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id: `c${index}`, name: "add", input },
        },
        { type: "content_block_stop", index },
      ];
      server.reply({
        kind: "events",
        events: [
          messageStart(),
          ...call(0, { a: 1 }),
          ...call(1, undefined),
          ...messageEnd("tool_use"),
        ],
        end: "done",
      });
      expect(
        (await streamed(model)).message.toolCalls?.map((each) => each.arguments),
      ).to.deep.equal(['{"a":1}', "{}"]);
    });

    it("ignore thinking, tools that the vendor executes, and unknown events", async () => {
      const events = [
        messageStart(),
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "thinking", thinking: "" },
        },
        {
          type: "content_block_delta",
          index: 0,
          delta: { type: "thinking_delta", thinking: "hm" },
        },
        {
          type: "content_block_start",
          index: 1,
          content_block: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        },
        {
          type: "content_block_delta",
          index: 1,
          delta: { type: "input_json_delta", partial_json: "{}" },
        },
        { type: "content_block_stop", index: 1 },
        { type: "new_event" },
        ...textEvents(2, ["Hello"]),
        ...messageEnd("end_turn"),
      ];
      server.reply({ kind: "events", events, end: "done" });
      expect((await streamed(model)).message).to.deep.include({
        role: "assistant",
        content: "Hello",
      });
    });

    it("reuse connections", async () => {
      for (let i = 0; i < 5; i++) await chunksOf(model, REQUEST);
      expect(server.connections).to.be.lessThan(3);
    });
  });

  it("allows a retry if the server allows it, with any status", async () => {
    for (const [status, header, expected] of [
      [500, "false", false],
      [529, "false", false],
      [429, "false", false],
      [400, "true", true],
      [401, "true", true],
      [500, "maybe", true],
      [400, "maybe", false],
    ] as const) {
      const body = { type: "error", error: { type: "api_error", message: "no" } };
      server.reply({ kind: "status", status, body, headers: { "x-should-retry": header } });
      const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
      expect(e.retryable, `${status} ${header}`).to.equal(expected);
    }
  });

  it("shows the key neither in errors nor when inspected", async () => {
    server.reply({
      kind: "status",
      status: 401,
      body: {
        type: "error",
        error: { type: "authentication_error", message: `invalid key ${KEY}` },
      },
    });
    const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
    const shown = [e, model, anthropicProvider({ apiKey: KEY })]
      .map((value) => inspect(value, { depth: 20, showHidden: true }))
      .join(" ");
    expect(shown).to.contain("[redacted]").and.not.contain(KEY);
    expect(e.hint).to.contain("ANTHROPIC_API_KEY");
  });
});

describe("anthropicProvider()", () => {
  it("contributes a provider that creates models by name, with the plugin's options", async () => {
    const server = await AnthropicServer.start();
    const bound: { token: unknown; value: unknown }[] = [];
    const plugin = anthropicProvider({ apiKey: KEY, baseURL: server.url });
    const many = (token: unknown): unknown => ({
      toConstantValue: (value: unknown) => void bound.push({ token, value }),
    });
    plugin.bind?.({ many } as Parameters<NonNullable<typeof plugin.bind>>[0]); // only `many` is expected to be used
    expect(plugin.name).to.equal("provider-anthropic");
    expect(bound[0]?.token).to.equal(Tokens.ChatModelProvider);
    const provider = bound[0]?.value as ChatModelProvider; // what that token holds
    expect(provider.name).to.equal("anthropic");
    expect((await provider.create(MODEL).chat(REQUEST)).message.content).to.equal("Hello");
    expect(() => provider.create("")).to.throw(ValidationError);
    await server.close();
  });
});
