import type { ChatModel, ChatRequest } from "agentensemble";
import { expect } from "chai";
import { aiSdk } from "../../../src/plugins/providers/ai-sdk/index.js";
import { anthropic } from "../../../src/plugins/providers/anthropic/index.js";
import { openai } from "../../../src/plugins/providers/openai/index.js";
import { AnthropicServer } from "../../support/anthropic-server.js";
import { OpenAIServer } from "../../support/openai-server.js";
import type { ModelServer } from "../../support/model-server.js";
import { warningsOf } from "../../support/warnings.js";

const TOOLS = ["one", "two"].map((name) => ({
  name,
  description: "x",
  parameters: { type: "object" },
}));
const EPHEMERAL = { type: "ephemeral" };
const HOUR = { type: "ephemeral", ttl: "1h" };
const text = (n: number, cache?: unknown) => ({ type: "text", text: String(n), cache });

async function bodyOf(
  server: ModelServer,
  model: ChatModel,
  request: object,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    server.reply({ kind: "answer", text: "Yes" });
    await model.chat(request as ChatRequest);
    return server.requests[0]?.body ?? {};
  } finally {
    await server.close();
  }
}

/** The marks of a body: by place, in the order of the prompt. */
function marksIn(value: unknown, field: string): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, child]: [string, unknown]) =>
    name === field ? [child] : marksIn(child, field),
  );
}

describe("marks for Anthropic's cache", () => {
  const request = {
    tools: TOOLS,
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "u" },
    ],
  };
  const marks = async (change: object): Promise<readonly unknown[]> => {
    const server = await AnthropicServer.start();
    const body = await bodyOf(server, anthropic("c", { apiKey: "k", baseURL: server.url }), {
      ...request,
      ...change,
    });
    return [body["tools"], body["system"], body["messages"]].flatMap((place) =>
      marksIn(place, "cache_control"),
    );
  };
  const user = (...content: readonly object[]): object => ({
    messages: [{ role: "user", content }],
    tools: [],
  });

  for (const [what, change, expected] of [
    ["tools and system prompt by default", {}, [EPHEMERAL, EPHEMERAL]],
    ["the last message with auto", { cache: "auto" }, [EPHEMERAL, EPHEMERAL, EPHEMERAL]],
    ["all three with a time", { cache: { ttl: "30m" } }, [HOUR, HOUR, HOUR]],
    ["nothing with off", { cache: "off" }, []],
    ["no part with off on the request", { cache: "off", ...user(text(1, { ttl: "5m" })) }, []],
    [
      "parts with a time",
      user(text(1, { ttl: "5m" }), text(2, "auto"), text(3, "off")),
      [EPHEMERAL],
    ],
    [
      "the last four of more, where an hour holds for those before it",
      user(
        ...[1, 2, 3].map((n) => text(n, { ttl: "5m" })),
        text(4, { ttl: "1h" }),
        text(5, { ttl: "5m" }),
      ),
      [HOUR, HOUR, HOUR, EPHEMERAL],
    ],
    [
      "a system message with its own time",
      {
        tools: [],
        messages: [
          { role: "system", content: "s", cache: { ttl: "1h" } },
          { role: "user", content: "u" },
        ],
      },
      [HOUR],
    ],
  ] as const)
    it(`are set on ${what}`, async () => expect(await marks(change)).to.deep.equal(expected));

  it("are reported once for each number above the maximum", async () => {
    const change = user(...Array.from({ length: 9 }, (_, n) => text(n, { ttl: "5m" })));
    const warnings = await warningsOf(async () => {
      await marks(change);
      await marks(change);
    });
    expect(warnings.filter((message) => message.includes("9 marks"))).to.have.length(1);
  });
});

describe("marks for OpenAI's cache", () => {
  const EXPLICIT = { mode: "explicit" };
  for (const api of ["chat", "responses"] as const) {
    const start = () => (api === "chat" ? OpenAIServer.start() : OpenAIServer.startResponses());
    const sent = async (request: object, isVendor = true) => {
      const server = await start();
      const model = openai("g", {
        apiKey: "k",
        api,
        ...(isVendor
          ? {
              fetch: (url: string | URL | Request, init?: RequestInit) =>
                fetch(
                  (url instanceof Request ? url.url : String(url)).replace(
                    "https://api.openai.com/v1",
                    server.url,
                  ),
                  init,
                ),
            }
          : { baseURL: server.url }),
      });
      const body = await bodyOf(server, model, request);
      return {
        options: body["prompt_cache_options"],
        marks: marksIn(body["messages"] ?? body["input"], "prompt_cache_breakpoint"),
      };
    };
    const parts = [text(1, { ttl: "5m" }), text(2)];
    const marked = {
      messages: [
        { role: "system", content: "s", cache: { ttl: "1h" } },
        { role: "user", content: parts },
        { role: "tool", toolCallId: "1", toolName: "t", content: "r", parts },
      ],
    };
    const plain = { messages: [{ role: "user", content: [text(1)] }] };

    for (const [what, request, expected] of [
      ["nothing by default", plain, { options: undefined, marks: [] }],
      ["nothing with auto", { ...plain, cache: "auto" }, { options: undefined, marks: [] }],
      [
        "the only supported time with any time",
        { ...plain, cache: { ttl: "1h" } },
        { options: { ttl: "30m" }, marks: [] },
      ],
      [
        "explicit marks only with off",
        { ...marked, cache: "off" },
        { options: EXPLICIT, marks: [] },
      ],
      [
        "parts and system messages with a time",
        marked,
        { options: { ttl: "30m" }, marks: [EXPLICIT, EXPLICIT, EXPLICIT] },
      ],
    ] as const)
      it(`are set on ${what}: ${api}`, async () =>
        expect(await sent(request)).to.deep.equal(expected));

    it(`are not sent to other servers: ${api}`, async () =>
      expect(await sent({ ...marked, cache: { ttl: "1h" } }, false)).to.deep.equal({
        options: undefined,
        marks: [],
      }));
  }
});

describe("marks for the cache of the AI SDK's provider", () => {
  /** The marks of the tools and of the prompt, as the model receives them. */
  const marks = async (request: object, provider = "anthropic.messages"): Promise<unknown> => {
    let given: { readonly tools?: unknown; readonly prompt?: unknown } = {};
    const model = aiSdk({
      specificationVersion: "v3",
      provider,
      modelId: "m",
      doGenerate: (o: typeof given) => {
        given = o;
        return Promise.resolve({ content: [{ type: "text", text: "Yes" }], finishReason: "stop" });
      },
      doStream: () => Promise.reject(new Error("not called")),
    }); // as far as it is called here
    await model.chat(request as ChatRequest);
    return [given.tools, given.prompt].flatMap((place) => marksIn(place, "cacheControl"));
  };
  const marked = (ttl: string): object => ({
    messages: [
      { role: "system", content: "s", cache: { ttl } },
      { role: "user", content: [text(1, { ttl })] },
    ],
  });
  const plain = {
    tools: TOOLS,
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "u" },
    ],
  };
  const result = {
    messages: [
      { role: "user", content: "u" },
      { role: "assistant", content: "", toolCalls: [{ id: "1", name: "one", arguments: "{}" }] },
      {
        role: "tool",
        toolCallId: "1",
        toolName: "one",
        content: "a",
        parts: [text(1, { ttl: "5m" }), text(2)],
      },
    ],
  };
  for (const [what, request, expected] of [
    ["parts and system messages, 5 minutes", marked("5m"), [EPHEMERAL, EPHEMERAL]],
    ["parts and system messages, 30 minutes", marked("30m"), [HOUR, HOUR]],
    ["parts of results of tools", result, [EPHEMERAL]],
    ["the result of the last message", { ...result, cache: { ttl: "1h" } }, [HOUR, HOUR]],
    ["nothing by default", plain, []],
    ["nothing with auto", { ...plain, cache: "auto" }, []],
    [
      "tools, system prompt and last message",
      { ...plain, cache: { ttl: "1h" } },
      [HOUR, HOUR, HOUR],
    ],
    ["nothing with off on the request", { ...marked("5m"), cache: "off" }, []],
    [
      "the last four of more, where an hour holds for those before it",
      {
        messages: [
          {
            role: "user",
            content: [
              ...[1, 2, 3].map((n) => text(n, { ttl: "5m" })),
              text(4, { ttl: "1h" }),
              text(5, { ttl: "5m" }),
            ],
          },
        ],
      },
      [HOUR, HOUR, HOUR, EPHEMERAL],
    ],
  ] as const)
    it(`are set on ${what}`, async () => expect(await marks(request)).to.deep.equal(expected));

  it("are not set for another provider", async () =>
    expect(
      await marks({ ...plain, ...marked("5m"), cache: { ttl: "5m" } }, "mistral.chat"),
    ).to.deep.equal([]));
});
