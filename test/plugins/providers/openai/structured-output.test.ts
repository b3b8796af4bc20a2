import { expect } from "chai";
import type { ChatModel, ChatRequest } from "../../../../src/contracts/chat-model.js";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import type { RecordedRequest } from "../../../support/model-server.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { chunksOf } from "../../../support/collect.js";

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };

describe("structured output of openai()", () => {
  let server: OpenAIServer;
  let model: ChatModel;
  beforeEach(async () => {
    server = await OpenAIServer.start();
    model = openai("gpt-4o-mini", { apiKey: "sk-test-0123456789", baseURL: server.url });
  });
  afterEach(() => server.close());

  async function sent(request: Partial<ChatRequest>): Promise<RecordedRequest["body"]> {
    await model.chat({ ...REQUEST, ...request });
    return server.requests.at(-1)?.body ?? {};
  }

  const closed = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  async function formatFor(schema: Record<string, unknown>, name = "place"): Promise<unknown> {
    return (await sent({ responseFormat: { name, schema } }))["response_format"];
  }

  it("is strict if every object is closed and complete", async () => {
    const nested = {
      ...closed,
      properties: { city: { type: "array", items: { anyOf: [closed, { type: "null" }] } } },
    };
    for (const schema of [closed, nested]) {
      expect(await formatFor(schema)).to.deep.equal({
        type: "json_schema",
        json_schema: { name: "place", schema, strict: true },
      });
    }
  });

  const lax: readonly (readonly [string, Record<string, unknown>])[] = [
    ["an open object", { ...closed, additionalProperties: true }],
    ["an open object inside", { ...closed, properties: { city: { type: "object" } } }],
    [
      "an open object in a list",
      { ...closed, properties: { city: { type: "array", items: { type: "object" } } } },
    ],
    ["an open object in a definition", { ...closed, $defs: { place: { type: "object" } } }],
    ["a property of any type", { ...closed, properties: { city: {} } }],
    [
      "a keyword that strict mode does not support",
      { ...closed, properties: { city: { type: "string", minLength: 1 } } },
    ],
    [
      "a format that strict mode does not support",
      { ...closed, properties: { city: { type: "string", format: "uri" } } },
    ],
  ];
  for (const [what, schema] of lax) {
    it(`is not strict for ${what}, and keeps the schema unchanged`, async () => {
      expect(await formatFor(schema)).to.deep.equal({
        type: "json_schema",
        json_schema: { name: "place", schema, strict: false },
      });
    });
  }

  it("closes objects that do not set additionalProperties, and makes optional properties nullable", async () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string", default: "Bern" },
        at: { type: "object", properties: {} },
      },
      required: ["at"],
    };
    expect(await formatFor(schema)).to.deep.equal({
      type: "json_schema",
      json_schema: {
        name: "place",
        strict: true,
        schema: {
          type: "object",
          properties: {
            city: { anyOf: [{ type: "string" }, { type: "null" }] },
            at: { type: "object", properties: {}, required: [], additionalProperties: false },
          },
          required: ["city", "at"],
          additionalProperties: false,
        },
      },
    });
  });

  it("removes the nulls that represent absent properties", async () => {
    const properties = { city: { type: "string" }, zip: { type: ["string", "null"] } };
    const request = {
      ...REQUEST,
      responseFormat: { name: "place", schema: { type: "object", properties } },
    };
    server.reply({ kind: "answer", text: '{"city":null,"zip":null}' });
    expect((await model.chat(request)).message.content).to.equal('{"zip":null}');
    const chunks = await chunksOf(model, request);
    expect(chunks.slice(0, -1)).to.deep.equal([{ type: "text", text: '{"zip":null}' }]);
    expect(chunks.at(-1)).to.have.nested.property("response.message.content", '{"zip":null}');
  });

  it("closes objects and removes nulls also for tools", async () => {
    const tools = [
      {
        name: "add",
        description: "Adds",
        parameters: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a"],
        },
      },
      {
        name: "any",
        description: "Takes anything",
        parameters: { type: "object", additionalProperties: true },
      },
    ];
    const toolCalls = [
      { id: "c1", name: "add", arguments: '{"a":1,"b":null}' },
      { id: "c2", name: "any", arguments: '{"b":null}' },
    ];
    server.reply({ kind: "answer", toolCalls });
    const expected = [{ id: "c1", name: "add", arguments: '{"a":1}' }, toolCalls[1]];
    expect((await model.chat({ ...REQUEST, tools })).message.toolCalls).to.deep.equal(expected);
    expect(server.requests[0]?.body["tools"]).to.deep.equal([
      {
        type: "function",
        function: {
          name: "add",
          description: "Adds",
          strict: true,
          parameters: {
            type: "object",
            properties: {
              a: { type: "number" },
              b: { anyOf: [{ type: "number" }, { type: "null" }] },
            },
            required: ["a", "b"],
            additionalProperties: false,
          },
        },
      },
      {
        type: "function",
        function: {
          name: "any",
          description: "Takes anything",
          parameters: { type: "object", additionalProperties: true },
        },
      },
    ]);
    const chunks = await chunksOf(model, { ...REQUEST, tools });
    const pieces = chunks.flatMap((chunk) =>
      chunk.type === "tool_call" && chunk.index === 0 ? [chunk] : [],
    );
    expect(pieces).to.deep.equal([
      { type: "tool_call", index: 0, id: "c1", name: "add" },
      { type: "tool_call", index: 0, argumentsDelta: '{"a":1}' },
    ]);
    expect(chunks.at(-1)).to.have.deep.nested.property("response.message.toolCalls", expected);
  });

  it("is omitted for a root that is not an object", async () => {
    expect(await formatFor({ type: "array", items: closed })).to.equal(undefined);
  });

  it("has a name that the vendor accepts", async () => {
    expect(await formatFor(closed, "Ort / Größe")).to.have.nested.property(
      "json_schema.name",
      "Ort_Gr_e",
    );
  });
});
