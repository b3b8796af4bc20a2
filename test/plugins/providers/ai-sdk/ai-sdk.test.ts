import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV2, LanguageModelV3 } from "@ai-sdk/provider";
import { expect } from "chai";
import type { ChatModel, ChatRequest } from "../../../../src/contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import {
  aiSdk,
  type AiSdkLanguageModel,
  type AiSdkOptions,
} from "../../../../src/plugins/providers/ai-sdk/index.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { streamEvent } from "../../../support/openai-wire.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { chunksOf } from "../../../support/collect.js";

type Options = Readonly<Record<string, unknown>>;
type Behaviour = Partial<Pick<AiSdkLanguageModel, "doGenerate" | "doStream">>;

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const V2_USAGE = {
  inputTokens: 11,
  outputTokens: 7,
  totalTokens: 18,
  cachedInputTokens: 3,
  reasoningTokens: 2,
};
const V3_USAGE = {
  inputTokens: { total: 11, noCache: 8, cacheRead: 3, cacheWrite: undefined },
  outputTokens: { total: 7, text: 5, reasoning: 2 },
};
const VERSIONS = {
  v2: { usage: V2_USAGE, reason: (reason: string) => reason },
  v3: { usage: V3_USAGE, reason: (unified: string) => ({ unified, raw: unified }) },
  v4: { usage: V3_USAGE, reason: (unified: string) => ({ unified, raw: unified }) },
} as const;

function handMade(specificationVersion: string, behaviour: Behaviour): AiSdkLanguageModel {
  const unexpected = (): never => {
    throw new Error("not expected to be called");
  };
  return {
    specificationVersion,
    provider: "hand.made",
    modelId: "m1",
    doGenerate: unexpected,
    doStream: unexpected,
    ...behaviour,
  };
}

function streamOf(parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

describe("aiSdk()", () => {
  it("accepts the types of the AI SDK unchanged", () => {
    const check = (v2: LanguageModelV2, v3: LanguageModelV3): readonly ChatModel[] => [
      aiSdk(v2),
      aiSdk(v3),
    ];
    expect(check).to.be.a("function");
  });

  const fine = handMade("v3", {});
  const refused: readonly (readonly [string, () => unknown])[] = [
    ["a name", () => aiSdk("openai/gpt-5" as unknown as AiSdkLanguageModel)],
    ["nothing", () => aiSdk(undefined as unknown as AiSdkLanguageModel)],
    [
      "a model without doStream",
      () => aiSdk({ ...fine, doStream: undefined } as unknown as AiSdkLanguageModel),
    ],
    ["an older specification", () => aiSdk({ ...fine, specificationVersion: "v1" })],
    ["an unknown option", () => aiSdk(fine, { timeout: 5 } as AiSdkOptions)],
    ["a limit of 0", () => aiSdk(fine, { idleTimeoutMs: 0 })],
    [
      "an invalid value of structuredOutput",
      () => aiSdk(fine, { structuredOutput: "no" as unknown as boolean }),
    ],
  ];
  for (const [what, make] of refused) {
    it(`refuses ${what}`, () => {
      expect(make).to.throw(ValidationError, /^(aiSdk\(\)|Unknown option)/);
    });
  }

  it("has the names and capabilities of the model", () => {
    expect(aiSdk(fine)).to.include({ provider: "hand.made", modelId: "m1" });
    expect(aiSdk(fine).capabilities).to.deep.equal({
      structuredOutput: true,
      retry: { maxAttempts: 3 },
      parts: {
        user: ["image/*", "application/pdf", "text/*", "audio/*"],
        tool: ["image/*", "application/pdf", "text/*", "audio/*"],
      },
      reasoning: undefined,
    });
    expect(
      aiSdk({ ...fine, supportsStructuredOutputs: false } as AiSdkLanguageModel).capabilities
        ?.structuredOutput,
    ).to.equal(false);
    expect(aiSdk(fine, { structuredOutput: false }).capabilities?.structuredOutput).to.equal(false);
  });

  for (const version of ["v2", "v3", "v4"] as const) {
    const { usage, reason } = VERSIONS[version];
    const counts = { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 2 };

    describe(`with a model of specification ${version}`, () => {
      it("reads complete answers", async () => {
        const content = [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "Hel" },
          { type: "text", text: "lo" },
          {
            type: "tool-call",
            toolCallId: "s1",
            toolName: "web_search",
            input: "{}",
            providerExecuted: true,
          },
          { type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":1}' },
        ];
        const response = { id: "r1", modelId: "m1-2026" };
        const model = aiSdk(
          handMade(version, {
            doGenerate: async () => ({
              content,
              finishReason: reason("tool-calls"),
              usage,
              warnings: [],
              response,
            }),
          }),
        );
        expect(await model.chat(REQUEST)).to.deep.equal({
          message: {
            role: "assistant",
            content: "Hello",
            toolCalls: [{ id: "c1", name: "add", arguments: '{"a":1}' }],
            reasoning: [
              { type: "reasoning", provider: "hand.made", modelId: "m1", text: "hm", index: 0 },
            ],
          },
          finishReason: "tool_calls",
          usage: counts,
          reasoning: "hm",
          responseId: "r1",
          modelId: "m1-2026",
        });
      });

      it("reads streams", async () => {
        const parts = [
          { type: "stream-start", warnings: [] },
          { type: "response-metadata", id: "r1", modelId: "m1-2026" },
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: "Hel" },
          { type: "text-delta", id: "t", delta: "lo" },
          { type: "text-end", id: "t" },
          { type: "tool-input-start", id: "c1", toolName: "add" },
          { type: "tool-input-delta", id: "c1", delta: '{"a"' },
          { type: "tool-input-delta", id: "c1", delta: ":1}" },
          { type: "tool-input-end", id: "c1" },
          { type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":1}' },
          { type: "tool-call", toolCallId: "c2", toolName: "now", input: "{}" },
          { type: "finish", finishReason: reason("tool-calls"), usage },
        ];
        const chunks = await chunksOf(
          aiSdk(handMade(version, { doStream: async () => ({ stream: streamOf(parts) }) })),
          REQUEST,
        );
        expect(chunks.slice(0, -1)).to.deep.equal([
          { type: "text", text: "Hel" },
          { type: "text", text: "lo" },
          { type: "tool_call", index: 0, id: "c1", name: "add" },
          { type: "tool_call", index: 0, argumentsDelta: '{"a"' },
          { type: "tool_call", index: 0, argumentsDelta: ":1}" },
          { type: "tool_call", index: 1, id: "c2", name: "now" },
          { type: "tool_call", index: 1, argumentsDelta: "{}" },
        ]);
        expect(chunks.at(-1)).to.deep.include({
          response: {
            message: {
              role: "assistant",
              content: "Hello",
              toolCalls: [
                { id: "c1", name: "add", arguments: '{"a":1}' },
                { id: "c2", name: "now", arguments: "{}" },
              ],
            },
            finishReason: "tool_calls",
            usage: counts,
            responseId: "r1",
            modelId: "m1-2026",
          },
        });
      });

      it("writes requests", async () => {
        let given: Options = {};
        const doGenerate = async (options: Options): Promise<unknown> => {
          given = options;
          return { content: [{ type: "text", text: "ok" }], finishReason: reason("stop"), usage };
        };
        const schema = { type: "object", properties: {} };
        const model = aiSdk(handMade(version, { doGenerate }));
        await model.chat({
          messages: [
            { role: "system", content: "Be brief" },
            {
              role: "user",
              content: [
                { type: "text", text: "What?" },
                { type: "image", data: "R0lGODlh" },
                { type: "image", data: new URL("http://127.0.0.1/a.png") },
              ],
            },
            {
              role: "assistant",
              content: "Hm",
              toolCalls: [
                { id: "c1", name: "add", arguments: '{"a":1}' },
                { id: "c2", name: "add", arguments: '{"a"' },
              ],
            },
            { role: "tool", toolCallId: "c1", toolName: "add", content: "3" },
            { role: "tool", toolCallId: "c2", toolName: "add", content: "broken", isError: true },
            { role: "assistant", content: "" },
          ],
          tools: [{ name: "add", description: "Adds", parameters: schema }],
          toolChoice: { name: "add" },
          responseFormat: { name: "place", schema },
          temperature: 0,
          maxOutputTokens: 50,
          stopSequences: ["END"],
          providerOptions: { hand: { made: true } },
        });
        const data = (kind: string, value: unknown): unknown =>
          version === "v4" ? { type: kind, [kind]: value } : value;
        const { abortSignal, ...rest } = given;
        expect(abortSignal).to.be.instanceOf(AbortSignal);
        expect(rest).to.deep.equal({
          prompt: [
            { role: "system", content: "Be brief" },
            {
              role: "user",
              content: [
                { type: "text", text: "What?" },
                { type: "file", data: data("data", "R0lGODlh"), mediaType: "image/gif" },
                {
                  type: "file",
                  data: data("url", new URL("http://127.0.0.1/a.png")),
                  mediaType: "image/*",
                },
              ],
            },
            {
              role: "assistant",
              content: [
                { type: "text", text: "Hm" },
                { type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1 } },
                {
                  type: "tool-call",
                  toolCallId: "c2",
                  toolName: "add",
                  input: { arguments: '{"a"' },
                },
              ],
            },
            {
              role: "tool",
              content: [
                {
                  type: "tool-result",
                  toolCallId: "c1",
                  toolName: "add",
                  output: { type: "text", value: "3" },
                },
                {
                  type: "tool-result",
                  toolCallId: "c2",
                  toolName: "add",
                  output: { type: "error-text", value: "broken" },
                },
              ],
            },
          ],
          tools: [{ type: "function", name: "add", description: "Adds", inputSchema: schema }],
          toolChoice: { type: "tool", toolName: "add" },
          responseFormat: { type: "json", name: "place", schema },
          temperature: 0,
          maxOutputTokens: 50,
          stopSequences: ["END"],
          providerOptions: { hand: { made: true } },
        });
      });

      for (const [theirs, ours] of [
        ["stop", "stop"],
        ["length", "length"],
        ["content-filter", "content_filter"],
        ["error", "other"],
      ] as const) {
        it(`reports the reason ${theirs}`, async () => {
          const doGenerate = async (): Promise<unknown> => ({
            content: [{ type: "text", text: "x" }],
            finishReason: reason(theirs),
            usage: {},
          });
          const response = await aiSdk(handMade(version, { doGenerate })).chat(REQUEST);
          expect(response.finishReason).to.equal(ours);
          expect(response).to.not.have.property("usage");
        });
      }
    });
  }

  describe("failures", () => {
    const named = (name: string, message: string, more: object = {}): Error =>
      Object.assign(new Error(message), { name, ...more });
    const call = (more: object): Error =>
      named("AI_APICallError", "it failed", {
        url: "http://127.0.0.1/v1",
        requestBodyValues: {},
        ...more,
      });
    const table: readonly (readonly [string, unknown, string, boolean])[] = [
      [
        "a rate limit",
        call({ statusCode: 429, responseHeaders: { "retry-after": "3" } }),
        "AE_MODEL_RATE_LIMITED",
        true,
      ],
      [
        "a wrong key",
        call({ statusCode: 401, responseBody: '{"error":{"message":"who?"}}' }),
        "AE_MODEL_AUTH",
        false,
      ],
      ["an overload", call({ statusCode: 503 }), "AE_MODEL_SERVER", true],
      ["an unreadable answer", call({ statusCode: 200 }), "AE_MODEL_BAD_RESPONSE", true],
      [
        "no connection",
        call({ cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) }),
        "AE_MODEL_CONNECTION",
        true,
      ],
      ["a broken connection", new TypeError("fetch failed"), "AE_MODEL_CONNECTION", true],
      ["no key", named("AI_LoadAPIKeyError", "API key is missing"), "AE_MODEL_AUTH", false],
      [
        "an answer of the wrong type",
        named("AI_TypeValidationError", "wrong"),
        "AE_MODEL_BAD_RESPONSE",
        true,
      ],
      [
        "an unsupported feature",
        named("AI_UnsupportedFunctionalityError", "no images"),
        "AE_MODEL_BAD_REQUEST",
        false,
      ],
      ["an error of the model", new RangeError("oops"), "AE_MODEL_CALL", false],
      ["a text", "rate_limit reached", "AE_MODEL_RATE_LIMITED", true],
      ["an object", { type: "overloaded_error", message: "Overloaded" }, "AE_MODEL_SERVER", true],
    ];
    for (const [what, thrown, code, retryable] of table) {
      it(`become a ModelCallError: ${what}`, async () => {
        const whole = await rejectionOf(
          ModelCallError,
          aiSdk(handMade("v3", { doGenerate: () => Promise.reject(thrown as Error) })).chat(
            REQUEST,
          ),
        );
        expect(whole).to.include({
          code,
          retryable,
          provider: "hand.made",
          modelId: "m1",
          attempts: 1,
        });
        const parts = [
          { type: "text-delta", id: "t", delta: "Once" },
          { type: "error", error: thrown },
        ];
        const inStream = await rejectionOf(
          ModelCallError,
          chunksOf(
            aiSdk(handMade("v3", { doStream: async () => ({ stream: streamOf(parts) }) })),
            REQUEST,
          ),
        );
        expect(inStream).to.include({ code, retryable, partialText: "Once" });
      });
    }

    it("contain the status and the time to wait", async () => {
      const doGenerate = (): Promise<never> =>
        Promise.reject(call({ statusCode: 429, responseHeaders: { "retry-after": "3" } }));
      expect(
        await rejectionOf(ModelCallError, aiSdk(handMade("v2", { doGenerate })).chat(REQUEST)),
      ).to.include({ status: 429, retryAfterMs: 3000 });
    });

    for (const [what, result] of [
      ["nothing", undefined],
      ["no content", { finishReason: "stop" }],
      [
        "a call without a tool",
        { content: [{ type: "tool-call", toolCallId: "c" }], finishReason: "stop" },
      ],
      ["neither content nor a reason", { content: [], finishReason: "unknown" }],
    ] as const) {
      it(`are reported for a result that is ${what}`, async () => {
        const e = await rejectionOf(
          ModelCallError,
          aiSdk(handMade("v2", { doGenerate: async () => result })).chat(REQUEST),
        );
        expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_BAD_RESPONSE", true]);
      });
    }

    for (const [what, stream] of [
      ["no stream", undefined],
      ["no finish", streamOf([{ type: "text-delta", id: "t", delta: "x" }])],
    ] as const) {
      it(`are reported for a result with ${what}`, async () => {
        const e = await rejectionOf(
          ModelCallError,
          chunksOf(aiSdk(handMade("v2", { doStream: async () => ({ stream }) })), REQUEST),
        );
        expect(e.code).to.equal("AE_MODEL_BAD_RESPONSE");
      });
    }
  });

  describe("ending", () => {
    const silent = handMade("v3", {
      doGenerate: () => new Promise(() => undefined),
      doStream: () => new Promise(() => undefined),
    });

    it("does not wait for a model that ignores the signal", async () => {
      const controller = new AbortController();
      const calls = [silent].flatMap((model) => [
        rejection(aiSdk(model).chat(REQUEST, { signal: controller.signal })),
        rejection(
          (async () =>
            void (await aiSdk(model)
              .stream?.(REQUEST, { signal: controller.signal })
              [Symbol.asyncIterator]()
              .next()))(),
        ),
      ]);
      controller.abort("stop");
      expect(await Promise.all(calls)).to.deep.equal(["stop", "stop"]);
    });

    it("applies its time limits", async () => {
      for (const options of [{ timeoutMs: 20 }, { idleTimeoutMs: 20 }]) {
        const e = await rejectionOf(ModelCallError, aiSdk(silent, options).chat(REQUEST));
        expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_TIMEOUT", true]);
        expect(e.hint).to.contain(Object.keys(options)[0]);
      }
    });

    it("cancels a stream that is no longer read", async () => {
      let tell = (): void => undefined;
      const cancelled = new Promise<void>((resolve) => (tell = resolve));
      const stream = new ReadableStream({
        pull: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "x" }),
        cancel: () => tell(),
      });
      for await (const chunk of aiSdk(
        handMade("v3", { doStream: async () => ({ stream }) }),
      ).stream?.(REQUEST) ?? []) {
        expect(chunk).to.deep.equal({ type: "text", text: "x" });
        break;
      }
      await cancelled;
    });

    it("closes the connection of a real model that is aborted", async () => {
      const server = await OpenAIServer.start({
        kind: "events",
        events: [streamEvent({ content: "Once" })],
        end: "stall",
      });
      const model = aiSdk(createOpenAICompatible({ name: "loopback", baseURL: server.url })("m"));
      const controller = new AbortController();
      const reading = rejection(
        (async () => {
          for await (const chunk of model.stream?.(REQUEST, { signal: controller.signal }) ?? [])
            if (chunk.type === "text") controller.abort("enough");
        })(),
      );
      expect(await reading).to.equal("enough");
      await server.abandoned();
      await server.close();
    });
  });
});
