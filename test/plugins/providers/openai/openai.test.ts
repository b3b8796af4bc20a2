import { expect } from "chai";
import type {
  ChatModel,
  ChatModelProvider,
  ChatRequest,
  ChatResponse,
} from "../../../../src/contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import {
  openai,
  openaiProvider,
  type OpenAIOptions,
} from "../../../../src/plugins/providers/openai/index.js";
import { OpenAIServer, type RecordedRequest } from "../../../support/openai-server.js";
import { streamEvent } from "../../../support/openai-wire.js";
import { rejectionOf } from "../../../support/rejection.js";
import { chunksOf } from "../../../support/collect.js";
import { setEnvironment } from "../../../support/environment.js";

const KEY = "sk-test-0123456789";
const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const VARIABLES = ["OPENAI_API_KEY", "OPENAI_BASE_URL"] as const;

async function streamed(model: ChatModel): Promise<ChatResponse> {
  const last = (await chunksOf(model, REQUEST)).at(-1);
  if (last?.type !== "finish") throw new Error("the stream did not finish");
  return last.response;
}

describe("openai()", () => {
  let server: OpenAIServer;
  let model: ChatModel;

  beforeEach(async () => {
    setEnvironment(Object.fromEntries(VARIABLES.map((name) => [name, undefined])));
    server = await OpenAIServer.start();
    model = openai("gpt-4o-mini", { apiKey: KEY, baseURL: server.url });
  });
  afterEach(() => server.close());

  async function sent(request: Partial<ChatRequest>): Promise<RecordedRequest["body"]> {
    await model.chat({ ...REQUEST, ...request });
    return server.requests.at(-1)?.body ?? {};
  }

  describe("options", () => {
    const refused: readonly (readonly [string, () => unknown])[] = [
      ["a blank model", () => openai(" ")],
      ["an unknown option", () => openai("m", { apikey: "x" } as OpenAIOptions)],
      ["a blank key", () => openai("m", { apiKey: "  " })],
      ["a key that a header can't contain", () => openai("m", { apiKey: "sk-a\nb" })],
      ["an invalid URL", () => openai("m", { baseURL: "localhost/v1" })],
      ["an address that is no HTTP", () => openai("m", { baseURL: "ftp://localhost/v1" })],
      ["an address that is neither", () => openai("m", { baseURL: "user:hunter2@localhost/v1" })],
      [
        "an invalid URL with credentials",
        () => openai("m", { baseURL: "//user:hunter2@localhost/v1" }),
      ],
      [
        "a URL with credentials",
        () => openai("m", { baseURL: "http://user:hunter2@localhost/v1" }),
      ],
      ["a URL with a query", () => openai("m", { baseURL: "http://localhost/v1?key=hunter2" })],
      ["a time limit of 0", () => openai("m", { timeoutMs: 0 })],
      [
        "a header with a line break",
        () => openai("m", { headers: { authorization: "hunter2\nx" } }),
      ],
      [
        "a fetch that is not a function",
        () => openai("m", { fetch: "fetch" as unknown as typeof fetch }),
      ],
      ["an unknown option of the plugin", () => openaiProvider({ model: "x" } as OpenAIOptions)],
    ];
    for (const [what, make] of refused) {
      it(`refuses ${what} without showing secrets`, () => {
        expect(make)
          .to.throw(ValidationError)
          .with.property("message")
          .that.does.not.contain("hunter2");
      });
    }

    it("suggests the similar option for an unknown one", () => {
      expect(() => openai("m", { apikey: "x" } as OpenAIOptions)).to.throw(
        ValidationError,
        "apiKey",
      );
    });

    it("sends key, headers and model in their places", async () => {
      await openai("gpt-4o", {
        apiKey: ` ${KEY}\n`,
        baseURL: server.url,
        headers: { "x-team": "blue" },
      }).chat(REQUEST);
      const request = server.requests[0];
      expect(request?.path).to.equal("/v1/chat/completions");
      expect(request?.headers).to.include({ authorization: `Bearer ${KEY}`, "x-team": "blue" });
      expect(request?.body).to.deep.equal({
        model: "gpt-4o",
        messages: [{ role: "user", content: "Hi" }],
        stream: false,
      });
    });

    it("uses the given fetch function", async () => {
      const urls: string[] = [];
      const fetching: typeof fetch = (input, init) => {
        urls.push(input instanceof Request ? input.url : input.toString());
        return fetch(input, init);
      };
      await openai("m", { apiKey: KEY, baseURL: `${server.url}/`, fetch: fetching }).chat(REQUEST);
      expect(urls).to.deep.equal([`${server.url}/chat/completions`]);
    });

    it("reuses connections", async () => {
      for (let i = 0; i < 5; i++) {
        await model.chat(REQUEST);
        await chunksOf(model, REQUEST);
      }
      expect(server.requests).to.have.lengthOf(10);
      expect(server.connections).to.be.lessThan(5);
    });
  });

  describe("environment", () => {
    it("provides key and URL at the first call", async () => {
      const late = openai("m");
      setEnvironment({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.url });
      await late.chat(REQUEST);
      expect(server.requests[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    });

    it("fails without any key, naming the variable, and works after the variable is set", async () => {
      const fetching: typeof fetch = () =>
        Promise.resolve(
          Response.json({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }),
        );
      const keyless = openai("m", { fetch: fetching });
      const e = await rejectionOf(ModelCallError, keyless.chat(REQUEST));
      expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_AUTH", false]);
      expect(e.message).to.contain("OPENAI_API_KEY");
      setEnvironment({ OPENAI_API_KEY: KEY });
      expect((await keyless.chat(REQUEST)).message.content).to.equal("ok");
    });

    it("requires no key for another server", async () => {
      await openai("m", { baseURL: server.url }).chat(REQUEST);
      expect(server.requests[0]?.headers.authorization).to.match(/^Bearer \S+$/);
    });

    it("refuses an invalid URL at the first call", async () => {
      setEnvironment({ OPENAI_BASE_URL: "nowhere" });
      const e = await rejectionOf(ModelCallError, openai("m", { apiKey: KEY }).chat(REQUEST));
      expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_CONNECTION", false]);
      expect(e.message).to.contain("OPENAI_BASE_URL");
    });
  });

  describe("requests", () => {
    it("contain settings under names that compatible servers support", async () => {
      const body = await sent({ temperature: 0, maxOutputTokens: 50, stopSequences: ["END"] });
      expect(body)
        .to.include({ temperature: 0, max_tokens: 50 })
        .and.not.have.property("max_completion_tokens");
      expect(body["stop"]).to.deep.equal(["END"]);
    });

    it("contain the newer name of the output limit for OpenAI itself and for Azure", async () => {
      const bodies: unknown[] = [];
      const fetching: typeof fetch = (_input, init) => {
        bodies.push(typeof init?.body === "string" ? JSON.parse(init.body) : undefined);
        return Promise.resolve(
          Response.json({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }),
        );
      };
      for (const baseURL of [undefined, "https://a.openai.azure.com/openai/v1"]) {
        await openai("o3", { apiKey: KEY, baseURL, fetch: fetching }).chat({
          ...REQUEST,
          maxOutputTokens: 50,
        });
        expect(bodies.at(-1))
          .to.include({ max_completion_tokens: 50 })
          .and.not.have.property("max_tokens");
      }
    });

    it("merge providerOptions into the body, with precedence", async () => {
      const body = await sent({
        temperature: 1,
        providerOptions: { seed: 7, temperature: 0.5, stream: true },
      });
      expect(body).to.include({ seed: 7, temperature: 0.5, stream: false });
    });

    it("request the usage of streams in addition to the user's own stream options", async () => {
      await chunksOf(model, {
        ...REQUEST,
        providerOptions: { stream_options: { include_obfuscation: false } },
      });
      expect(server.requests[0]?.body).to.deep.include({
        stream: true,
        stream_options: { include_usage: true, include_obfuscation: false },
      });
    });

    it("request no usage of streams if the stream options are null", async () => {
      await chunksOf(model, { ...REQUEST, providerOptions: { stream_options: null } });
      expect(server.requests[0]?.body).to.deep.include({ stream: true, stream_options: null });
    });

    it("contain the tool choice only with tools", async () => {
      const tools = [{ name: "add", description: "Adds", parameters: { type: "object" } }];
      expect((await sent({ tools, toolChoice: { name: "add" } }))["tool_choice"]).to.deep.equal({
        type: "function",
        function: { name: "add" },
      });
      expect((await sent({ tools, toolChoice: "none" }))["tool_choice"]).to.equal("none");
      expect(await sent({ tools })).to.not.have.property("tool_choice");
      expect(await sent({ tools: [], toolChoice: "required" })).to.not.have.any.keys(
        "tool_choice",
        "tools",
      );
    });

    it("contain the conversation with its tool calls", async () => {
      const body = await sent({
        messages: [
          { role: "system", content: "Be brief" },
          {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "c1", name: "add", arguments: "{}" }],
          },
          { role: "tool", toolCallId: "c1", toolName: "add", content: "3" },
          { role: "assistant", content: "3" },
        ],
      });
      expect(body["messages"]).to.deep.equal([
        { role: "system", content: "Be brief" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "3" },
        { role: "assistant", content: "3" },
      ]);
    });

    it("contain the arguments of earlier calls as JSON objects, unchanged if they are", async () => {
      const texts = ['{ "a":1 }', '{"a":', "[1]", ""];
      const toolCalls = texts.map((text, id) => ({ id: `${id}`, name: "add", arguments: text }));
      const messages = [{ role: "assistant", content: "", toolCalls } as const];
      const [message] = (await sent({ messages }))["messages"] as readonly {
        readonly tool_calls: readonly { readonly function: { readonly arguments: string } }[];
      }[];
      expect(message?.tool_calls.map((call) => call.function.arguments)).to.deep.equal([
        '{ "a":1 }',
        '{"arguments":"{\\"a\\":"}',
        '{"arguments":"[1]"}',
        "{}",
      ]);
    });

    it("contain images as URLs or as data", async () => {
      const images = [
        { type: "image", data: new URL("http://127.0.0.1/a.png") },
        { type: "image", data: "http://127.0.0.1/b.png" },
        { type: "image", data: "data:image/gif;base64,R0lGODlh" },
        { type: "image", data: "AAAA", mediaType: "image/webp" },
        { type: "image", data: "/9j/4AAQ" },
      ] as const;
      const body = await sent({ messages: [{ role: "user", content: images }] });
      const urls = [
        "http://127.0.0.1/a.png",
        "http://127.0.0.1/b.png",
        "data:image/gif;base64,R0lGODlh",
        "data:image/webp;base64,AAAA",
        "data:image/jpeg;base64,/9j/4AAQ",
      ];
      expect(body["messages"]).to.deep.equal([
        { role: "user", content: urls.map((url) => ({ type: "image_url", image_url: { url } })) },
      ]);
    });
  });

  it("refuses to send other files as images", async () => {
    const pdf = Buffer.from("%PDF-1.7").toString("base64");
    for (const [image, problem] of [
      [{ type: "image", data: pdf }, "a part of type 'image' contains application/pdf"],
      [{ type: "image", data: pdf, mediaType: "image/png" }, "contains application/pdf"],
      [{ type: "image", data: "AAAA" }, "the type of an image is unknown"],
    ] as const) {
      const error = await rejectionOf(
        ModelCallError,
        model.chat({ messages: [{ role: "user", content: [image] }] }),
      );
      expect(error).to.include({ code: "AE_MODEL_BAD_REQUEST", retryable: false });
      expect(error.message).to.include(problem);
    }
    expect(server.requests).to.deep.equal([]);
    expect(model.capabilities?.parts?.user).to.include("image/png").and.not.include("image/tiff");
  });

  describe("answers", () => {
    it("contain usage, id and model", async () => {
      const usage = {
        prompt_tokens: 20,
        completion_tokens: 9,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 5 },
      };
      server.reply({ kind: "answer", text: "Hello", usage });
      for (const response of [await model.chat(REQUEST), await streamed(model)]) {
        expect(response).to.deep.equal({
          message: { role: "assistant", content: "Hello" },
          finishReason: "stop",
          usage: { inputTokens: 20, outputTokens: 9, cachedInputTokens: 16, reasoningTokens: 5 },
          responseId: "chatcmpl-loopback",
          modelId: "loopback-model-2026",
        });
      }
    });

    it("omit counts that are not numbers", async () => {
      server.reply({
        kind: "answer",
        text: "Hello",
        usage: { prompt_tokens: "many", completion_tokens: null },
      });
      expect(await model.chat(REQUEST)).to.not.have.property("usage");
    });

    it("map the reasons for stopping", async () => {
      for (const [wire, ours] of [
        ["stop", "stop"],
        ["length", "length"],
        ["content_filter", "content_filter"],
        ["tool_calls", "tool_calls"],
        ["new_reason", "other"],
      ] as const) {
        server.reply({ kind: "answer", text: "x", finishReason: wire });
        expect((await model.chat(REQUEST)).finishReason, wire).to.equal(ours);
        expect((await streamed(model)).finishReason, wire).to.equal(ours);
      }
    });

    it("count as tool calls if they contain some, with any finish reason of the server", async () => {
      server.reply({
        kind: "answer",
        toolCalls: [{ id: "c1", name: "add", arguments: "{}" }],
        finishReason: "stop",
      });
      expect((await model.chat(REQUEST)).finishReason).to.equal("tool_calls");
      expect((await streamed(model)).finishReason).to.equal("tool_calls");
    });

    it("show a refusal as text that was filtered", async () => {
      server.reply({ kind: "answer", refusal: "I cannot help with that" });
      for (const response of [await model.chat(REQUEST), await streamed(model)]) {
        expect([response.message.content, response.finishReason]).to.deep.equal([
          "I cannot help with that",
          "content_filter",
        ]);
      }
    });

    it("may have tool calls without ids and with arguments that are not texts", async () => {
      const calls = [
        { function: { name: "add", arguments: { a: 1 } } },
        { id: "", function: { name: "now" } },
      ];
      server.reply({
        kind: "raw",
        body: JSON.stringify({
          id: "r1",
          choices: [{ message: { content: null, tool_calls: calls } }],
        }),
      });
      expect((await model.chat(REQUEST)).message.toolCalls).to.deep.equal([
        { id: "r1_1", name: "add", arguments: '{"a":1}' },
        { id: "r1_2", name: "now", arguments: "{}" },
      ]);
    });

    it("pass broken arguments on unchanged", async () => {
      server.reply({
        kind: "answer",
        toolCalls: [{ id: "c1", name: "add", arguments: '{"a": 1' }],
      });
      for (const response of [await model.chat(REQUEST), await streamed(model)])
        expect(response.message.toolCalls?.[0]?.arguments).to.equal('{"a": 1');
    });
  });

  describe("streams", () => {
    it("return text and pieces of tool calls as they arrive", async () => {
      server.reply({
        kind: "answer",
        text: "Hello",
        toolCalls: [{ id: "c1", name: "add", arguments: "{}" }],
      });
      const chunks = await chunksOf(model, REQUEST);
      expect(chunks.slice(0, -1)).to.deep.equal([
        { type: "text", text: "Hell" },
        { type: "text", text: "o" },
        { type: "tool_call", index: 0, id: "c1", name: "add" },
        { type: "tool_call", index: 0, argumentsDelta: "{}" },
      ]);
    });

    it("distinguish calls that all have the index 0, or none", async () => {
      for (const index of [0, undefined]) {
        const call = (id: string): unknown =>
          streamEvent({
            tool_calls: [{ index, id, function: { name: "add", arguments: `{"n":"${id}"}` } }],
          });
        server.reply({
          kind: "events",
          events: [call("a"), call("b"), streamEvent({}, "tool_calls")],
          end: "done",
        });
        expect((await streamed(model)).message.toolCalls).to.deep.equal([
          { id: "a", name: "add", arguments: '{"n":"a"}' },
          { id: "b", name: "add", arguments: '{"n":"b"}' },
        ]);
      }
    });

    it("may be answered with plain JSON", async () => {
      server.reply({
        kind: "raw",
        body: JSON.stringify({
          choices: [{ message: { content: "whole" }, finish_reason: "stop" }],
        }),
      });
      const chunks = await chunksOf(model, REQUEST);
      expect(chunks[0]).to.deep.equal({ type: "text", text: "whole" });
      expect(chunks[1]).to.have.nested.property("response.message.content", "whole");
    });

    it("may end without the closing mark", async () => {
      server.reply({
        kind: "events",
        events: [streamEvent({ content: "Hi" }), streamEvent({}, "stop")],
        end: "close",
      });
      expect((await streamed(model)).message.content).to.equal("Hi");
    });
  });
});

describe("openaiProvider()", () => {
  it("contributes a provider that creates models by name, with the plugin's options", async () => {
    const server = await OpenAIServer.start();
    const bound: { token: unknown; value: unknown }[] = [];
    const plugin = openaiProvider({ apiKey: KEY, baseURL: server.url });
    const many = (token: unknown): unknown => ({
      toConstantValue: (value: unknown) => void bound.push({ token, value }),
    });
    plugin.bind?.({ many } as Parameters<NonNullable<typeof plugin.bind>>[0]); // only `many` is expected to be used
    expect(plugin.name).to.equal("provider-openai");
    expect(bound).to.have.lengthOf(1);
    expect(bound[0]?.token).to.equal(Tokens.ChatModelProvider);
    const provider = bound[0]?.value as ChatModelProvider; // what that token holds
    expect(provider.name).to.equal("openai");
    expect((await provider.create("gpt-4o").chat(REQUEST)).message.content).to.equal("Hello");
    expect(server.requests[0]?.body["model"]).to.equal("gpt-4o");
    expect(() => provider.create("")).to.throw(ValidationError);
    await server.close();
  });
});
