import { expect } from "chai";
import { inspect } from "node:util";
import type { HttpToolOptions } from "../../../../src/plugins/tools/web/http-tool.js";
import type { ToolResult } from "../../../../src/contracts/tool-result.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { toolContract } from "../../../../src/plugins/testing/index.js";
import { httpTool } from "../../../../src/plugins/tools/web/http-tool.js";
import { LoopbackSite, page, redirect } from "../../../support/loopback-site.js";
import { rejection } from "../../../support/rejection.js";
import { SELF_SIGNED } from "../../../support/self-signed.js";
import { callTool } from "./tool-call.js";

const NAMED = { name: "classify", description: "Says what a text is about." };

describe("httpTool", () => {
  let site: LoopbackSite;
  before(async () => {
    site = await LoopbackSite.start({
      "/echo": (request, response, body) =>
        void response
          .writeHead(200, { "content-type": "text/plain" })
          .end(`${request.method} ${request.url} ${body}`),
      "/headers": (request, response) =>
        void response
          .writeHead(200, { "content-type": "text/plain" })
          .end(JSON.stringify(request.headers)),
      "/refuses": (request, response) =>
        void response
          .writeHead(403)
          .end(`not with ${request.headers.authorization ?? ""}\n${"x".repeat(500)}`),
      "/fails": (_request, response) => void response.writeHead(500).end(),
      "/away": redirect(302, "http://127.0.0.3/"),
      "/away-text": (_request, response) =>
        void response.writeHead(303, { location: "/echo" }).end("see elsewhere"),
      "/big": page("é".repeat(1_000), "text/plain"),
      "/silent": () => undefined,
    });
  });
  after(() => site.close());
  beforeEach(() => (site.requests.length = 0));

  const call = (
    path: string,
    input = "hello",
    o: Partial<HttpToolOptions> = {},
  ): Promise<ToolResult> => callTool(httpTool({ ...NAMED, url: site.url(path), ...o }), input);

  toolContract("http tool", {
    create: () => httpTool({ ...NAMED, url: site.url("/echo") }),
    valid: ["hello", ""],
  });

  it("declares its effect", () => {
    expect(httpTool({ ...NAMED, url: "https://example.com" })).to.include({
      ...NAMED,
      untrusted: true,
      effect: "send",
      requireApproval: undefined,
    });
    expect(httpTool({ ...NAMED, url: "https://example.com", method: "get" })).to.include({
      effect: "read",
    });
  });

  it("sends the key of the call if it may be repeated", async () => {
    const keyOf = async (o: Partial<HttpToolOptions>): Promise<unknown> => {
      const { output } = await call("/headers", "hello", o);
      return (JSON.parse(output) as Readonly<Record<string, unknown>>)["idempotency-key"];
    };
    expect(await keyOf({ resume: "again" })).to.equal("run-1/task-1@1/call-1");
    expect(await keyOf({ resume: "again", method: "PUT" })).to.equal("run-1/task-1@1/call-1");
    expect(await keyOf({ resume: "ask" })).to.equal(undefined);
    const tool = httpTool({ ...NAMED, url: site.url("/headers"), resume: "again" });
    const named = await callTool(tool, "hello", undefined, "Zürich/task-1@1/call-1");
    expect(named.output).to.match(/"idempotency-key":"[0-9a-f]{64}"/);
  });

  it("sends the input as the body, and returns the answer", async () => {
    expect(await call("/echo")).to.deep.include({
      ok: true,
      output: "POST /echo hello",
      structured: { status: 200, contentType: "text/plain", truncated: false },
    });
    expect((await call("/echo", "x", { method: "put" })).output).to.equal("PUT /echo x");
  });

  it("names the type of the body", async () => {
    const type = async (
      input: string,
      headers?: Record<string, string>,
    ): Promise<string | undefined> => {
      await call("/echo", input, { headers });
      return site.requests.at(-1)?.headers["content-type"];
    };
    expect(await type('{"a":1}')).to.equal("application/json");
    expect(await type("hello")).to.equal("text/plain; charset=UTF-8");
    expect(await type("")).to.equal("text/plain; charset=UTF-8");
    expect(await type('{"a":1}', { "CONTENT-type": "application/ld+json" })).to.equal(
      "application/ld+json",
    );
  });

  it("sends the input of a GET in the query, before any fragment", async () => {
    expect((await call("/echo", "a b&c=d/é", { method: "GET" })).output).to.equal(
      "GET /echo?input=a+b%26c%3Dd%2F%C3%A9 ",
    );
    expect((await call("/echo?x=%20y#part", "z", { method: "GET" })).output).to.equal(
      "GET /echo?x=%20y&input=z ",
    );
  });

  it("reports an error status with the beginning of the body, without its own secrets", async () => {
    const { errorMessage = "" } = await call("/refuses", "x", {
      headers: { Authorization: "Bearer top-secret" },
    });
    expect(errorMessage).to.match(/^HTTP 403: not with \[redacted\] x+$/);
    expect(errorMessage.length).to.be.lessThan(230);
    expect((await call("/fails")).errorMessage).to.equal("HTTP 500");
    expect(
      inspect(httpTool({ ...NAMED, url: site.url("/"), headers: { "x-key": "top-secret" } }), {
        depth: 9,
        showHidden: true,
      }),
    ).to.not.include("top-secret");
  });

  it("sends its headers, and hides secret ones from the model", async () => {
    const { output } = await call("/headers", "x", {
      headers: { "X-Api-Key": "top-secret", "X-Team": "blue" },
    });
    expect(site.requests[0]?.headers["x-api-key"]).to.equal("top-secret");
    expect(output).to.include("[redacted]").and.include("blue").and.not.include("top-secret");
  });

  it("follows no redirect", async () => {
    expect((await call("/away")).output).to.match(/^HTTP 302: .*not followed/);
    expect((await call("/away-text")).output).to.equal("see elsewhere");
    expect(site.requests).to.have.length(2);
  });

  it("cuts a large answer, and reports it", async () => {
    const { output, structured } = await call("/big", "x", { maxResponseBytes: 10 });
    expect(output).to.equal("ééééé\n[response truncated at 10 bytes]");
    expect(structured).to.include({ truncated: true });
  });

  it("reports failures as texts", async () => {
    expect((await call("/silent?key=secret", "x", { timeoutMs: 50 })).errorMessage)
      .to.match(/^HTTP request failed: .*50 ms/)
      .and.not.include("secret");
    const closed = await LoopbackSite.start({});
    const url = closed.url("/");
    await closed.close();
    expect((await callTool(httpTool({ ...NAMED, url }), "x")).errorMessage).to.match(
      /^HTTP request failed: .*refused/,
    );
  });

  it("ends with its signal", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 20);
    expect(
      await rejection(
        callTool(httpTool({ ...NAMED, url: site.url("/silent") }), "x", controller.signal),
      ),
    ).to.equal(reason);
  });

  it("reaches only its own endpoint, on this machine and with custom certificates", async () => {
    const secure = await LoopbackSite.start({ "/": page("safe", "text/plain") }, { secure: true });
    const o = { ...NAMED, url: `https://localhost:${secure.port}/`, lookup: () => ["127.0.0.1"] };
    expect((await callTool(httpTool({ ...o, ca: SELF_SIGNED.cert }), "x")).output).to.equal("safe");
    expect((await callTool(httpTool(o), "x")).errorMessage).to.match(/^HTTP request failed: /);
    await secure.close();
  });

  it("requests approval with the content of the request, without secrets of the URL", () => {
    const tool = httpTool({
      ...NAMED,
      url: "https://example.com/pay?key=secret",
      method: "put",
      requireApproval: true,
    });
    expect(tool.requireApproval).to.equal(true);
    expect(tool.approvalDescription?.("hello")).to.equal(
      "HTTP PUT https://example.com/pay?...\nBody: hello",
    );
    expect(
      httpTool({ ...NAMED, url: "https://example.com/pay" }).approvalDescription?.("x".repeat(300)),
    ).to.equal(
      `HTTP POST https://example.com/pay\nBody: ${"x".repeat(100)} ... [300 characters] ... ${"x".repeat(100)}`,
    );
  });

  const url = "https://example.com/";
  for (const [message, options] of [
    ["name must be set and non-blank", { name: " ", description: "x", url }],
    ["description must be set", { name: "x", url }],
    ["url must be set and non-blank", { ...NAMED }],
    ["timeout must be positive", { ...NAMED, url, timeoutMs: 0 }],
    ["maxResponseBytes must be positive", { ...NAMED, url, maxResponseBytes: -1 }],
    [
      "url must be an http or https URL without user name and password, got: ...@example.com/",
      { ...NAMED, url: "//user:secret@example.com/" },
    ],
    [
      "url must be an http or https URL without user name and password, got: https://example.com/",
      { ...NAMED, url: "https://user:secret@example.com/" },
    ],
    [
      "url must be an http or https URL without user name and password, got: file:///etc/passwd",
      { ...NAMED, url: "file:///etc/passwd" },
    ],
    [
      "method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, got: CONNECT",
      { ...NAMED, url, method: "CONNECT" },
    ],
    [
      "httpTool requireApproval must be true or false, got: yes",
      { ...NAMED, url, requireApproval: "yes" },
    ],
    [
      "httpTool headers must not contain 'Host': it follows from what is sent",
      { ...NAMED, url, headers: { Host: "x" } },
    ],
  ] as const) {
    it(`refuses with: ${message}`, () =>
      expect(() => httpTool(options as HttpToolOptions)).to.throw(ValidationError, message)); // wrong on purpose
  }

  it("refuses unknown options", () => {
    expect(() => httpTool({ ...NAMED, url, allow: {} } as HttpToolOptions)).to.throw(
      ValidationError,
      "Unknown option 'allow'",
    );
  });
});
