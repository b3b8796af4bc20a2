import { expect } from "chai";
import type { ChatRequest } from "../../../../src/contracts/chat-model.js";
import {
  anthropic,
  type AnthropicOptions,
} from "../../../../src/plugins/providers/anthropic/index.js";
import { AnthropicServer } from "../../../support/anthropic-server.js";
import type { RecordedRequest } from "../../../support/model-server.js";

const KEY = "sk-ant-test-0123456789";
const MODEL = "claude-sonnet-4-5";
const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const EPHEMERAL = { cache_control: { type: "ephemeral" } };

describe("requests of anthropic()", () => {
  let server: AnthropicServer;
  beforeEach(async () => (server = await AnthropicServer.start()));
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

  describe("requests", () => {
    it("contain settings, whose output limit takes precedence over that of the options", async () => {
      expect(
        await sent(
          { temperature: 0, maxOutputTokens: 50, stopSequences: ["END"] },
          { maxOutputTokens: 99 },
        ),
      ).to.deep.include({
        temperature: 0,
        max_tokens: 50,
        stop_sequences: ["END"],
      });
      expect(await sent({}, { maxOutputTokens: 99 })).to.include({ max_tokens: 99 });
    });

    it("merge providerOptions into the body, with precedence", async () => {
      expect(
        await sent({
          temperature: 1,
          providerOptions: { top_k: 7, temperature: 0.5, stream: true },
        }),
      ).to.include({
        top_k: 7,
        temperature: 0.5,
        stream: false,
      });
    });

    it("contain the system messages as system prompt, in any position", async () => {
      const body = await sent({
        messages: [
          { role: "system", content: "Be brief" },
          { role: "user", content: "Hi" },
          { role: "system", content: "Be kind" },
          { role: "system", content: " " },
        ],
      });
      expect(body["system"]).to.deep.equal([
        { type: "text", text: "Be brief" },
        { type: "text", text: "Be kind", ...EPHEMERAL },
      ]);
      expect(body["messages"]).to.deep.equal([{ role: "user", content: "Hi" }]);
    });

    it("mark for caching the last system block and the last tool only, or nothing", async () => {
      const parameters = { type: "object", additionalProperties: true };
      const tools = ["a", "b"].map((name) => ({ name, description: name, parameters }));
      const messages = [{ role: "system", content: "Be brief" } as const, ...REQUEST.messages];
      const wireTools = ["a", "b"].map((name) => ({
        name,
        description: name,
        input_schema: parameters,
      }));
      expect((await sent({ messages, tools }))["tools"]).to.deep.equal([
        wireTools[0],
        { ...wireTools[1], ...EPHEMERAL },
      ]);
      const plain = await sent({ messages, tools }, { promptCaching: false });
      expect(plain["tools"]).to.deep.equal(wireTools);
      expect(JSON.stringify(plain)).to.not.contain("cache_control");
    });

    it("contain the conversation with its tool calls, and the results of a turn in one message", async () => {
      const body = await sent({
        messages: [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: "Let me see",
            toolCalls: [
              { id: "c1", name: "add", arguments: '{"a":1}' },
              { id: "c2", name: "add", arguments: '{"a":' },
            ],
          },
          { role: "tool", toolCallId: "c1", toolName: "add", content: "3" },
          { role: "tool", toolCallId: "c2", toolName: "add", content: "broken", isError: true },
          {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "c3", name: "now", arguments: "" }],
          },
          { role: "tool", toolCallId: "c3", toolName: "now", content: "" },
          { role: "user", content: "And?" },
        ],
      });
      expect(body["messages"]).to.deep.equal([
        { role: "user", content: "Go" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "Let me see" },
            { type: "tool_use", id: "c1", name: "add", input: { a: 1 } },
            { type: "tool_use", id: "c2", name: "add", input: { arguments: '{"a":' } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: "3" },
            { type: "tool_result", tool_use_id: "c2", content: "broken", is_error: true },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "c3", name: "now", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c3" }] },
        { role: "user", content: "And?" },
      ]);
    });

    it("contain the tool choice in the vendor's form, only with tools", async () => {
      const tools = [{ name: "add", description: "Adds", parameters: { type: "object" } }];
      for (const [ours, theirs] of [
        ["auto", { type: "auto" }],
        ["none", { type: "none" }],
        ["required", { type: "any" }],
        [{ name: "add" }, { type: "tool", name: "add" }],
      ] as const) {
        expect((await sent({ tools, toolChoice: ours }))["tool_choice"]).to.deep.equal(theirs);
      }
      expect(await sent({ tools: [], toolChoice: "required" })).to.not.have.any.keys(
        "tool_choice",
        "tools",
      );
    });

    it("contain images as URLs or as data", async () => {
      const images = [
        { type: "image", data: new URL("http://127.0.0.1/a.png") },
        { type: "image", data: "data:image/gif;base64,R0lGODlh" },
        { type: "image", data: "/9j/4AAQ" },
        { type: "text", text: " " },
      ] as const;
      const body = await sent({ messages: [{ role: "user", content: images }] });
      const sources = [
        { type: "url", url: "http://127.0.0.1/a.png" },
        { type: "base64", media_type: "image/gif", data: "R0lGODlh" },
        { type: "base64", media_type: "image/jpeg", data: "/9j/4AAQ" },
      ];
      expect(body["messages"]).to.deep.equal([
        { role: "user", content: sources.map((source) => ({ type: "image", source })) },
      ]);
    });
  });

  describe("schemas", () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, zip: { type: "string" } },
      required: ["city"],
    };
    const closed = { ...schema, additionalProperties: false };

    it("are sent closed, with unchanged optional properties", async () => {
      const body = await sent({ responseFormat: { name: "place", schema } });
      expect(body["output_config"]).to.deep.equal({
        format: { type: "json_schema", schema: closed },
      });
    });

    it("mark tools as strict", async () => {
      const body = await sent(
        { tools: [{ name: "go", description: "Goes", parameters: schema }] },
        { promptCaching: false },
      );
      expect(body["tools"]).to.deep.equal([
        { name: "go", description: "Goes", input_schema: closed, strict: true },
      ]);
    });

    const impossible: readonly (readonly [string, Record<string, unknown>])[] = [
      ["an open record", { type: "object", additionalProperties: { type: "string" } }],
      [
        "a keyword that the vendor does not support",
        { ...closed, properties: { city: { type: "string", minLength: 1 } } },
      ],
      [
        "a recursive schema",
        {
          ...closed,
          properties: { city: { $ref: "#/$defs/tree" } },
          $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } },
        },
      ],
    ];
    for (const [what, given] of impossible) {
      it(`are sent unchanged, or not at all, for ${what}`, async () => {
        const body = await sent(
          {
            responseFormat: { name: "x", schema: given },
            tools: [{ name: "go", description: "Goes", parameters: given }],
          },
          { promptCaching: false },
        );
        expect(body).to.not.have.property("output_config");
        expect(body["tools"]).to.deep.equal([
          { name: "go", description: "Goes", input_schema: given },
        ]);
      });
    }

    it("do not exceed the limits of one request", async () => {
      const tools = Array.from({ length: 30 }, (_, index) => ({
        name: `t${index}`,
        description: "x",
        parameters: schema,
      }));
      const strict = (await sent({ tools, responseFormat: { name: "place", schema } }))[
        "tools"
      ] as readonly { readonly strict?: boolean }[]; // as sent above
      expect(strict.filter((tool) => tool.strict === true)).to.have.lengthOf(20);
      const wide = {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_, index) => [`p${index}`, { type: "string" }]),
        ),
      };
      const two = [1, 2].map((index) => ({
        name: `t${index}`,
        description: "x",
        parameters: wide,
      }));
      const sentTwo = (await sent({ tools: two }))["tools"] as readonly {
        readonly strict?: boolean;
      }[]; // as sent above
      expect(sentTwo.map((tool) => tool.strict)).to.deep.equal([true, undefined]);
    });

    it("are not sent to models that do not support them", async () => {
      const request = {
        responseFormat: { name: "place", schema: closed },
        tools: [{ name: "go", description: "Goes", parameters: closed }],
      };
      const body = await sent(request, {}, "claude-3-5-haiku-latest");
      expect(JSON.stringify(body)).to.not.contain("strict").and.not.contain("output_config");
    });
  });
});
