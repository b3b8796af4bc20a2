import { expect } from "chai";
import type { ChatModel, ChatRequest, ChatResponse } from "../../../../src/contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import type { RecordedRequest } from "../../../support/model-server.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { rejectionOf } from "../../../support/rejection.js";
import { chunksOf } from "../../../support/collect.js";

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };

async function streamed(model: ChatModel): Promise<ChatResponse> {
  const last = (await chunksOf(model, REQUEST)).at(-1);
  if (last?.type !== "finish") throw new Error("the stream did not finish");
  return last.response;
}

describe('openai() with api "responses"', () => {
  let server: OpenAIServer;
  let model: ChatModel;

  beforeEach(async () => {
    server = await OpenAIServer.startResponses();
    model = openai("gpt-5", {
      apiKey: "sk-test-0123456789",
      baseURL: server.url,
      api: "responses",
    });
  });
  afterEach(() => server.close());

  async function sent(request: Partial<ChatRequest>): Promise<RecordedRequest["body"]> {
    await model.chat({ ...REQUEST, ...request });
    return server.requests.at(-1)?.body ?? {};
  }

  it("refuses an unknown API", () => {
    expect(() => openai("m", { api: "assistants" as "chat" })).to.throw(ValidationError, "api");
  });

  it("sends requests to the URL of that API, and stores nothing at the vendor", async () => {
    expect(await sent({})).to.deep.equal({
      model: "gpt-5",
      input: [{ role: "user", content: "Hi" }],
      store: false,
      stream: false,
    });
    expect(server.requests[0]?.path).to.equal("/v1/responses");
  });

  it("sends settings and providerOptions, which take precedence", async () => {
    const body = await sent({
      temperature: 0,
      maxOutputTokens: 50,
      providerOptions: { reasoning: { effort: "low" }, store: true },
    });
    expect(body).to.deep.include({
      temperature: 0,
      max_output_tokens: 50,
      reasoning: { effort: "low" },
      store: true,
    });
  });

  it("refuses stop sequences, which that API does not support", async () => {
    const e = await rejectionOf(ModelCallError, model.chat({ ...REQUEST, stopSequences: ["END"] }));
    expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_BAD_REQUEST", false]);
    expect(server.requests).to.deep.equal([]);
  });

  it("sends the conversation as items", async () => {
    const body = await sent({
      messages: [
        { role: "system", content: "Be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "What?" },
            { type: "image", data: "R0lGODlh" },
          ],
        },
        {
          role: "assistant",
          content: "Hm",
          toolCalls: [
            { id: "c1", name: "add", arguments: "{}" },
            { id: "c2", name: "add", arguments: '{"a":' },
          ],
        },
        { role: "tool", toolCallId: "c1", toolName: "add", content: "3" },
        { role: "assistant", content: "3" },
      ],
    });
    expect(body["input"]).to.deep.equal([
      { role: "system", content: "Be brief" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "What?" },
          { type: "input_image", image_url: "data:image/gif;base64,R0lGODlh", detail: "auto" },
        ],
      },
      { role: "assistant", content: "Hm" },
      { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
      {
        type: "function_call",
        call_id: "c2",
        name: "add",
        arguments: '{"arguments":"{\\"a\\":"}',
      },
      { type: "function_call_output", call_id: "c1", output: "3" },
      { role: "assistant", content: "3" },
    ]);
  });

  it("sends for each tool whether it is strict", async () => {
    const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
    const open = { type: "object", additionalProperties: true };
    const tools = [closed, open].map((parameters, index) => ({
      name: `t${index}`,
      description: "x",
      parameters,
    }));
    const body = await sent({ tools, toolChoice: { name: "t0" } });
    expect(body["tools"]).to.deep.equal([
      { type: "function", name: "t0", description: "x", parameters: closed, strict: true },
      { type: "function", name: "t1", description: "x", parameters: open, strict: false },
    ]);
    expect(body["tool_choice"]).to.deep.equal({ type: "function", name: "t0" });
  });

  it("requests JSON of a schema, and removes the nulls of absent properties", async () => {
    server.reply({ kind: "answer", text: '{"city":"Bern","zip":null}' });
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, zip: { type: "string" } },
      required: ["city"],
    };
    const response = await model.chat({ ...REQUEST, responseFormat: { name: "a place", schema } });
    expect(response.message.content).to.equal('{"city":"Bern"}');
    expect(server.requests[0]?.body).to.deep.nested.include({
      "text.format.name": "a_place",
      "text.format.strict": true,
      "text.format.type": "json_schema",
    });
  });

  it("reads usage, id, model and refusals, complete and streamed", async () => {
    const usage = {
      input_tokens: 20,
      output_tokens: 9,
      input_tokens_details: { cached_tokens: 16 },
      output_tokens_details: { reasoning_tokens: 5 },
    };
    server.reply({ kind: "answer", refusal: "I cannot", usage });
    for (const response of [await model.chat(REQUEST), await streamed(model)]) {
      expect(response).to.deep.equal({
        message: { role: "assistant", content: "I cannot" },
        finishReason: "content_filter",
        usage: { inputTokens: 20, outputTokens: 9, cachedInputTokens: 16, reasoningTokens: 5 },
        responseId: "resp_loopback",
        modelId: "loopback-model-2026",
      });
    }
  });

  it("reads a stream with complete items", async () => {
    const items = [
      { type: "message", content: [{ type: "output_text", text: "Hello" }] },
      { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":1}' },
    ];
    const done = items.map((item, output_index) => ({
      type: "response.output_item.done",
      output_index,
      item,
    }));
    server.reply({
      kind: "events",
      events: [...done, { type: "response.completed", response: { status: "completed" } }],
      end: "close",
    });
    const chunks = await chunksOf(model, REQUEST);
    expect(chunks.slice(0, -1)).to.deep.equal([
      { type: "text", text: "Hello" },
      { type: "tool_call", index: 0, id: "c1", name: "add" },
      { type: "tool_call", index: 0, argumentsDelta: '{"a":1}' },
    ]);
    expect(chunks.at(-1)).to.have.nested.property("response.finishReason", "tool_calls");
  });

  it("reads a stream whose last event contains everything", async () => {
    const response = {
      status: "completed",
      output: [
        { type: "message", content: [{ type: "output_text", text: "Hello" }] },
        { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
      ],
    };
    const events = [{ type: "response.completed", response }];
    server.reply({ kind: "events", events, end: "close" });
    expect((await chunksOf(model, REQUEST)).slice(0, -1)).to.deep.equal([
      { type: "text", text: "Hello" },
      { type: "tool_call", index: 0, id: "c1", name: "add" },
      { type: "tool_call", index: 0, argumentsDelta: "{}" },
    ]);
  });

  const delta = { type: "response.output_text.delta", output_index: 0, delta: "Once" };
  const failures: readonly (readonly [string, readonly unknown[], string, boolean])[] = [
    [
      "an error event",
      [delta, { type: "error", code: "rate_limit_exceeded", message: "slow down" }],
      "AE_MODEL_RATE_LIMITED",
      true,
    ],
    [
      "a failed response",
      [
        delta,
        { type: "response.failed", response: { error: { code: "server_error", message: "oops" } } },
      ],
      "AE_MODEL_SERVER",
      true,
    ],
    ["an end without the final event", [delta], "AE_MODEL_BAD_RESPONSE", true],
    [
      "a final event without a response",
      [delta, { type: "response.completed" }],
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    ...["queued", "in_progress", "cancelled"].map(
      (status) =>
        [
          `a response that is ${status}`,
          [delta, { type: "response.completed", response: { status } }],
          "AE_MODEL_BAD_RESPONSE",
          true,
        ] as const,
    ),
    [
      "arguments without a call",
      [delta, { type: "response.function_call_arguments.delta", output_index: 9, delta: "{" }],
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
  ];
  for (const [what, events, code, retryable] of failures) {
    it(`keeps the text of a stream with ${what}`, async () => {
      server.reply({ kind: "events", events, end: "close" });
      const e = await rejectionOf(ModelCallError, chunksOf(model, REQUEST));
      expect([e.code, e.retryable, e.partialText]).to.deep.equal([code, retryable, "Once"]);
    });
  }

  it("refuses a stream that completes without output", async () => {
    const events = [{ type: "response.completed", response: { status: "completed", output: [] } }];
    server.reply({ kind: "events", events, end: "close" });
    const e = await rejectionOf(ModelCallError, chunksOf(model, REQUEST));
    expect(e.code).to.equal("AE_MODEL_BAD_RESPONSE");
    expect(e.message).to.contain("has no output");
  });

  for (const [what, body, code] of [
    ...["queued", "in_progress", "cancelled"].map(
      (status) =>
        [`the status ${status}`, { status, output: [] }, "AE_MODEL_BAD_RESPONSE"] as const,
    ),
    ["no output", { status: "completed" }, "AE_MODEL_BAD_RESPONSE"],
    ["an empty output", { status: "completed", output: [] }, "AE_MODEL_BAD_RESPONSE"],
    [
      "a call without a name",
      { status: "completed", output: [{ type: "function_call" }] },
      "AE_MODEL_BAD_RESPONSE",
    ],
    ["a failure without a reason", { status: "failed", output: [] }, "AE_MODEL_BAD_RESPONSE"],
    [
      "a failure",
      { status: "failed", error: { code: "server_error", message: "oops" } },
      "AE_MODEL_SERVER",
    ],
  ] as const) {
    it(`refuses an answer with ${what}`, async () => {
      server.reply({ kind: "raw", body: JSON.stringify(body) });
      expect((await rejectionOf(ModelCallError, model.chat(REQUEST))).code).to.equal(code);
    });
  }
});
