import { expect } from "chai";
import { inspect } from "node:util";
import { ModelCallError } from "../../../../src/contracts/errors.js";
import type { ModelErrorCode } from "../../../../src/contracts/model-error-code.js";
import type { ChatModel, ChatRequest } from "../../../../src/contracts/chat-model.js";
import { openai, openaiProvider } from "../../../../src/plugins/providers/openai/index.js";
import { OpenAIServer, type Reply } from "../../../support/openai-server.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { streamEvent } from "../../../support/openai-wire.js";
import { chunksOf } from "../../../support/collect.js";

const KEY = "sk-very-secret-0123456789";
const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const PAGE = "<!doctype html><html><body>Welcome</body></html>";

describe("openai failures", () => {
  let server: OpenAIServer;
  let model: ChatModel;

  beforeEach(async () => {
    server = await OpenAIServer.start();
    model = openai("gpt-4o-mini", { apiKey: KEY, baseURL: server.url });
  });
  afterEach(() => server.close());

  const error = (message: string, code?: string, type?: string): unknown => ({
    error: { message, code, type },
  });
  const status = (code: number, body?: unknown, headers?: Record<string, string>): Reply => ({
    kind: "status",
    status: code,
    body,
    ...(headers === undefined ? {} : { headers }),
  });
  const table: readonly (readonly [string, Reply, ModelErrorCode, boolean])[] = [
    ["400", status(400, error("bad")), "AE_MODEL_BAD_REQUEST", false],
    [
      "400 for a conversation that is too long",
      status(400, error("too long", "context_length_exceeded")),
      "AE_MODEL_CONTEXT_LENGTH",
      false,
    ],
    [
      "400 of a compatible server for a conversation that is too long",
      status(400, {
        object: "error",
        message: "This model's maximum context length is 4096 tokens",
        code: 400,
      }),
      "AE_MODEL_CONTEXT_LENGTH",
      false,
    ],
    ["401", status(401, error("who are you")), "AE_MODEL_AUTH", false],
    ["402", status(402, error("pay")), "AE_MODEL_QUOTA", false],
    ["403", status(403, error("no")), "AE_MODEL_AUTH", false],
    ["404", status(404, error("no such model", "model_not_found")), "AE_MODEL_BAD_REQUEST", false],
    ["408", status(408), "AE_MODEL_TIMEOUT", true],
    ["409", status(409, error("conflict")), "AE_MODEL_SERVER", true],
    ["413", status(413, error("too big")), "AE_MODEL_BAD_REQUEST", false],
    ["429", status(429, error("slow down", "rate_limit_exceeded")), "AE_MODEL_RATE_LIMITED", true],
    [
      "429 for an empty account",
      status(429, error("You exceeded your current quota", "insufficient_quota")),
      "AE_MODEL_QUOTA",
      false,
    ],
    ["500", status(500, error("oops")), "AE_MODEL_SERVER", true],
    [
      "502 with a page",
      status(502, PAGE, { "content-type": "text/html" }),
      "AE_MODEL_SERVER",
      true,
    ],
    ["503 without a body", status(503), "AE_MODEL_SERVER", true],
    ["529", status(529, error("overloaded")), "AE_MODEL_SERVER", true],
    [
      "a redirect",
      status(302, "", { location: "http://127.0.0.1:1/" }),
      "AE_MODEL_BAD_RESPONSE",
      false,
    ],
    [
      "a web page",
      { kind: "raw", body: PAGE, contentType: "text/html" },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    ["an empty body", { kind: "raw", body: "" }, "AE_MODEL_BAD_RESPONSE", true],
    ["null", { kind: "raw", body: "null" }, "AE_MODEL_BAD_RESPONSE", true],
    [
      "a truncated document",
      { kind: "raw", body: '{"choices":[{"mess' },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    ["a list", { kind: "raw", body: "[]" }, "AE_MODEL_BAD_RESPONSE", true],
    ["no choices", { kind: "raw", body: '{"choices":[]}' }, "AE_MODEL_BAD_RESPONSE", true],
    [
      "choices that are null",
      { kind: "raw", body: '{"choices":null}' },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    [
      "a choice without a message",
      { kind: "raw", body: '{"choices":[{"index":0}]}' },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    [
      "content of the wrong type",
      { kind: "raw", body: '{"choices":[{"message":{"content":7}}]}' },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    [
      "a tool call without a name",
      { kind: "raw", body: '{"choices":[{"message":{"tool_calls":[{"id":"a","function":{}}]}}]}' },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    [
      "a body shorter than announced",
      { kind: "raw", body: '{"choices":[', announcedLength: 5000 },
      "AE_MODEL_BAD_RESPONSE",
      true,
    ],
    [
      "an error inside a success",
      { kind: "raw", body: '{"error":{"message":"upstream is down","code":502}}' },
      "AE_MODEL_SERVER",
      true,
    ],
    [
      "an error inside a choice",
      {
        kind: "raw",
        body: '{"choices":[{"finish_reason":"error","error":{"message":"upstream is down","code":502},"message":{"role":"assistant","content":""}}]}',
      },
      "AE_MODEL_SERVER",
      true,
    ],
    ["a connection that is closed", { kind: "reset" }, "AE_MODEL_CONNECTION", true],
  ];
  for (const [what, reply, code, retryable] of table) {
    it(`turns ${what} into ${code}, ${retryable ? "" : "not "}worth a retry`, async () => {
      server.reply(reply);
      const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
      expect(e.code).to.equal(code);
      expect(e.retryable).to.equal(retryable);
      const isRedirect = what === "a redirect"; // the platform's fetch does not return its status
      expect(e.status).to.equal(
        reply.kind === "status" && !isRedirect
          ? reply.status
          : e.code === "AE_MODEL_SERVER"
            ? 502
            : undefined,
      );
      if (isRedirect) {
        expect(e.message).to.equal("openai:gpt-4o-mini: the server redirects the request");
        expect(e.hint).to.include(`Set baseURL to the final address (now ${server.url}`);
      }
      expect([e.provider, e.modelId, e.attempts]).to.deep.equal(["openai", "gpt-4o-mini", 1]);
      expect(server.requests).to.have.lengthOf(1);
    });
    it(`reports the same error if ${what} answers a stream`, async () => {
      server.reply(reply);
      const e = await rejectionOf(ModelCallError, chunksOf(model, REQUEST));
      expect(e.code).to.equal(code);
      expect(e.retryable).to.equal(retryable);
    });
  }

  it("names the model, the address and the message of the server", async () => {
    server.reply(status(404, error("The model `gpt-4o-mini` does not exist", "model_not_found")));
    const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
    expect(e.message).to.contain("gpt-4o-mini").and.contain("does not exist");
    expect(e.hint).to.contain("gpt-4o-mini").and.contain(server.url);
  });

  it("shows messages of servers that do not use OpenAI's error documents", async () => {
    server.reply(status(422, { detail: "temperature is out of range" }));
    expect((await rejectionOf(ModelCallError, model.chat(REQUEST))).message).to.contain(
      "temperature is out of range",
    );
  });

  it("shows the message of an error document in a list", async () => {
    server.reply(status(400, [{ error: { code: 400, message: "no such tool", status: "BAD" } }]));
    const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
    expect(e.message).to.equal("openai:gpt-4o-mini: status 400: no such tool");
  });

  it("may be tried again if the server allows it, with any status", async () => {
    for (const [code, header, expected] of [
      [500, "false", false],
      [429, "false", false],
      [400, "true", true],
      [500, "maybe", true],
    ] as const) {
      server.reply(status(code, error("no"), { "x-should-retry": header }));
      const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
      expect(e.retryable, `${code} ${header}`).to.equal(expected);
    }
  });

  it("reports how long to wait", async () => {
    for (const [headers, expected] of [
      [{ "retry-after": "7" }, 7000],
      [{ "retry-after": "7", "retry-after-ms": "250" }, 250],
      [
        { date: "Sat, 21 Nov 2026 10:00:00 GMT", "retry-after": "Sat, 21 Nov 2026 10:00:30 GMT" },
        30_000,
      ],
      [{ "retry-after": "soon" }, undefined],
    ] as const) {
      server.reply(status(429, error("slow down"), headers));
      expect(
        (await rejectionOf(ModelCallError, model.chat(REQUEST))).retryAfterMs,
        JSON.stringify(headers),
      ).to.equal(expected);
    }
  });

  it("name the address that refused the connection, and the settings to check", async () => {
    const gone = server.url;
    await server.close();
    const e = await rejectionOf(ModelCallError, model.chat(REQUEST));
    expect(e.code).to.equal("AE_MODEL_CONNECTION");
    expect(e.message).to.contain(gone).and.contain("ECONNREFUSED");
    expect(e.hint).to.contain("baseURL");
    server = await OpenAIServer.start();
  });

  it("cuts long error bodies", async () => {
    server.reply(status(400, "x".repeat(100_000)));
    expect((await rejectionOf(ModelCallError, model.chat(REQUEST))).message.length).to.be.lessThan(
      2200,
    );
  });

  it("refuses a request that is not JSON without reporting a connection problem", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const e = await rejectionOf(
      ModelCallError,
      model.chat({ ...REQUEST, providerOptions: { circular } }),
    );
    expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_BAD_REQUEST", false]);
    expect(server.requests).to.deep.equal([]);
  });

  describe("streams", () => {
    const begun = [
      streamEvent({ role: "assistant", content: "Once upon" }),
      streamEvent({ content: " a time" }),
    ];

    for (const end of ["close", "cut", "done"] as const) {
      it(`keeps the text of a stream without its final event (${end})`, async () => {
        server.reply({ kind: "events", events: begun, end });
        const e = await rejectionOf(ModelCallError, chunksOf(model, REQUEST));
        expect([e.code, e.retryable, e.partialText]).to.deep.equal([
          "AE_MODEL_BAD_RESPONSE",
          true,
          "Once upon a time",
        ]);
      });
    }

    it("keeps the text when the server reports an error in the stream", async () => {
      server.reply({
        kind: "events",
        events: [...begun, { error: { message: "slow down", type: "rate_limit_error" } }],
        end: "close",
      });
      const e = await rejectionOf(ModelCallError, chunksOf(model, REQUEST));
      expect([e.code, e.retryable, e.partialText]).to.deep.equal([
        "AE_MODEL_RATE_LIMITED",
        true,
        "Once upon a time",
      ]);
    });

    it("keeps the text when an event is not JSON, and prints nothing", async () => {
      const printed: unknown[] = [];
      const original = console.error;
      console.error = (...args: unknown[]) => void printed.push(args);
      try {
        server.reply({ kind: "events", events: [...begun, '{"choices":[{'], end: "close" });
        const e = await rejectionOf(ModelCallError, chunksOf(model, REQUEST));
        expect([e.code, e.partialText]).to.deep.equal([
          "AE_MODEL_BAD_RESPONSE",
          "Once upon a time",
        ]);
      } finally {
        console.error = original;
      }
      expect(printed).to.deep.equal([]);
    });

    it("accepts an answer that was complete when the connection broke", async () => {
      server.reply({ kind: "events", events: [...begun, streamEvent({}, "stop")], end: "cut" });
      const last = (await chunksOf(model, REQUEST)).at(-1);
      expect(last).to.have.nested.property("response.message.content", "Once upon a time");
    });
  });

  describe("time limits", () => {
    for (const reply of [{ kind: "hang" }, { kind: "stalled-body" }] as const) {
      it(`ends a call whose server does this: ${reply.kind}`, async () => {
        server.reply(reply);
        const e = await rejectionOf(
          ModelCallError,
          openai("m", { apiKey: KEY, baseURL: server.url, timeoutMs: 60 }).chat(REQUEST),
        );
        expect([e.code, e.retryable]).to.deep.equal(["AE_MODEL_TIMEOUT", true]);
        expect(e.message).to.contain("60 ms");
        await server.abandoned();
      });
    }

    it("covers a stream to its end and keeps its text", async () => {
      server.reply({ kind: "events", events: [streamEvent({ content: "Once" })], end: "stall" });
      const e = await rejectionOf(
        ModelCallError,
        chunksOf(openai("m", { apiKey: KEY, baseURL: server.url, timeoutMs: 150 }), REQUEST),
      );
      expect([e.code, e.partialText]).to.deep.equal(["AE_MODEL_TIMEOUT", "Once"]);
      await server.abandoned();
    });
  });

  describe("aborting", () => {
    for (const reply of [{ kind: "hang" }, { kind: "stalled-body" }] as const) {
      it(`closes the connection while the server does this: ${reply.kind}`, async () => {
        server.reply(reply);
        const controller = new AbortController();
        const reason = new Error("enough");
        const outcome = rejection(model.chat(REQUEST, { signal: controller.signal }));
        await server.received();
        controller.abort(reason);
        expect(await outcome).to.equal(reason);
        await server.abandoned();
      });
    }

    it("closes the connection of a stream that is no longer read", async () => {
      server.reply({ kind: "events", events: [streamEvent({ content: "Once" })], end: "stall" });
      for await (const chunk of model.stream?.(REQUEST) ?? []) {
        expect(chunk).to.deep.equal({ type: "text", text: "Once" });
        break;
      }
      await server.abandoned();
    });

    it("does not wait for a fetch function that ignores the signal", async () => {
      const deaf = openai("m", {
        apiKey: KEY,
        baseURL: server.url,
        fetch: () => new Promise<Response>(() => undefined),
      });
      const controller = new AbortController();
      const outcome = rejection(deaf.chat(REQUEST, { signal: controller.signal }));
      controller.abort("stop it");
      expect(await outcome).to.equal("stop it");
    });
  });

  describe("secrets", () => {
    const header = "tenant-token-value";

    it("are removed from errors, also if the server repeats them", async () => {
      const talkative = openai("m", {
        apiKey: KEY,
        baseURL: server.url,
        headers: { "x-tenant-token": header },
      });
      for (const reply of [
        status(401, error(`Incorrect API key provided: ${KEY}; ${header}`)),
        status(500, `Bearer ${KEY} ${header}`),
        { kind: "raw", body: `{"key":"${KEY}","header":"${header}"}` } as const,
        { kind: "raw", body: `{"padding":"${"x".repeat(177)}${KEY}"}` } as const,
        { kind: "raw", body: `{"error":{"message":"${KEY} ${header}"}}` } as const,
      ]) {
        server.reply(reply);
        const e = await rejectionOf(ModelCallError, talkative.chat(REQUEST));
        const shown = `${inspect(e, { depth: 20, showHidden: true })} ${JSON.stringify(e)} ${e.stack}`;
        expect(shown).to.contain("[redacted]");
        expect(shown).not.to.contain(KEY.slice(0, 10));
        expect(shown).not.to.contain(header);
      }
    });

    it("are removed from errors of the transport", async () => {
      const failing = openai("m", {
        apiKey: KEY,
        baseURL: server.url,
        fetch: () => Promise.reject(new TypeError(`cannot send Bearer ${KEY}`)),
      });
      const e = await rejectionOf(ModelCallError, failing.chat(REQUEST));
      expect(e.code).to.equal("AE_MODEL_CONNECTION");
      expect(inspect(e, { depth: 20, showHidden: true })).not.to.contain(KEY);
    });

    it("are hidden when a model or plugin is inspected, before and after a call", async () => {
      const plugin = openaiProvider({ apiKey: KEY, baseURL: server.url });
      for (const round of [1, 2]) {
        for (const value of [model, plugin])
          expect(inspect(value, { depth: 20, showHidden: true }), `round ${round}`).not.to.contain(
            KEY,
          );
        expect(JSON.stringify(model)).not.to.contain(KEY);
        await model.chat(REQUEST);
      }
    });
  });
});
