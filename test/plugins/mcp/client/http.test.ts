import { expect } from "chai";
import type { McpHttpServer, McpToolProvider } from "../../../../src/plugins/mcp/client/index.js";
import { McpError } from "../../../../src/contracts/state-errors.js";
import { mcpTools } from "../../../../src/plugins/mcp/client/index.js";
import { McpHttpTestServer } from "../../../support/mcp-http-server.js";
import { callTool } from "../../../support/mcp.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { until } from "../../../support/time.js";

const { answer, event, stream, text } = McpHttpTestServer;

describe("an MCP server over streamable HTTP", () => {
  let server: McpHttpTestServer;
  let released = 0;
  const opened: McpToolProvider[] = [];

  function open(more: Partial<McpHttpServer> = {}): McpToolProvider {
    const provider = mcpTools({ name: "remote", prefix: "", url: server.url, ...more });
    opened.push(provider);
    return provider;
  }

  beforeEach(async () => {
    released = 0;
    server = new McpHttpTestServer({
      echo: (response, { id, params }) =>
        answer(response, id, text(JSON.stringify(params?.arguments))),
      streamed: (response, { id }) => {
        stream(response, event(id, text("streamed")));
        response.end();
      },
      cut: (response) => {
        stream(response, ": hello");
        setTimeout(() => response.destroy(), 20);
      },
      ended: (response) => {
        stream(response);
        response.end();
      },
      resumed: (response) => {
        stream(response, "id: 7\nretry: 10\ndata: ");
        response.end();
      },
      hang: (response) => void response.once("close", () => released++),
      "hang-stream": (response) => {
        stream(response, ": wait");
        response.once("close", () => released++);
      },
      huge: (response, { id }) => answer(response, id, text("x".repeat(6 * 1024 * 1024))),
      "huge-event": (response, { id }) => {
        stream(response, event(id, text("x".repeat(6 * 1024 * 1024))));
      },
      deep: (response) =>
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(`${"[".repeat(5_000)}${"]".repeat(5_000)}`),
      html: (response) =>
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Login</html>"),
      broken: (response, _message, request) =>
        response.writeHead(500).end(`for ${request.headers.authorization}: ${"x".repeat(50_000)}`),
    });
    await server.listen();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((provider) => provider.close()));
    await server.close();
  });

  it("receives the headers, and answers with a document or a stream", async () => {
    const provider = open({
      headers: { authorization: "Bearer swordfish-1234", "x-team": "blue" },
    });
    expect((await callTool(provider, "echo", { a: 1 })).output).to.equal('{"a":1}');
    expect(server.lastHeaders).to.include({
      authorization: "Bearer swordfish-1234",
      "x-team": "blue",
      "mcp-session-id": "0",
    });
    expect((await callTool(provider, "streamed")).output).to.equal("streamed");
  });

  it("receives the end of the session, and has no open connections afterwards", async () => {
    const provider = open();
    server.onGet = (response) => stream(response, ": listening");
    await provider.start();
    await until(() => server.requests.includes("GET"));
    await provider.close();
    expect(server.requests.at(-1)).to.equal("DELETE");
    await until(() => server.connections === 0 || server.requests.length > 100);
  });

  it("that lost the session receives a new one, and the call is repeated, because it was not processed", async () => {
    const provider = open();
    await provider.resolve();
    server.forget();
    expect((await callTool(provider, "echo", { a: 1 })).output).to.equal('{"a":1}');
    expect(server.requests.filter((request) => request === "POST initialize")).to.have.length(2);
  });

  it("announces a change of its list on its own stream", async () => {
    let say: (line: string) => void = () => undefined;
    server.onGet = (response) => {
      stream(response, ": listening");
      say = (line) => void response.write(`${line}\n\n`);
    };
    const provider = open();
    await provider.resolve();
    await until(() => server.requests.includes("GET"));
    say('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
    const lists = (): number =>
      server.requests.filter((request) => request === "POST tools/list").length;
    await until(async () => {
      await provider.resolve();
      return lists() >= 2;
    });
    await provider.resolve();
    expect(lists()).to.equal(2);
  });

  for (const tool of ["cut", "ended"]) {
    it(`fails immediately when the stream of its answer is ${tool}`, async () => {
      const provider = open();
      const error = await rejectionOf(McpError, callTool(provider, tool));
      expect(error.hint).to.contain("took effect");
      expect((await callTool(provider, "echo")).ok).to.equal(true);
    });
  }

  it("may end a stream whose events have ids, and the client resumes the stream", async () => {
    const provider = open();
    const [, , , , resumed] = await provider.resolve();
    server.onGet = (response, request) => {
      if (request.headers["last-event-id"] !== "7") return void response.writeHead(405).end();
      stream(response, `id: 8\n${event(2, text("resumed"))}`);
      response.end();
    };
    expect(resumed?.name).to.equal("resumed");
    expect((await callTool(provider, "resumed")).output).to.equal("resumed");
  });

  for (const tool of ["hang", "hang-stream"]) {
    it(`that never answers (${tool}) is released when the call is cancelled`, async () => {
      const provider = open();
      await provider.resolve();
      const controller = new AbortController();
      const call = rejection(callTool(provider, tool, {}, controller.signal));
      await until(() => server.requests.includes("POST tools/call"));
      const reason = new Error("enough");
      setTimeout(() => controller.abort(reason), 30);
      expect(await call).to.equal(reason);
      await until(() => released === 1);
      await until(() => server.requests.includes("POST notifications/cancelled"));
      expect((await callTool(provider, "echo")).ok).to.equal(true);
    });
  }

  for (const [tool, words] of [
    ["huge", "larger than"],
    ["huge-event", "larger than"],
    ["deep", "nested"],
    ["html", "content type"],
  ] as const) {
    it(`that sends an unreadable answer (${tool}) fails the call`, async () => {
      const provider = open();
      const error = await rejectionOf(McpError, callTool(provider, tool));
      expect(error.message).to.contain(words);
      expect((await callTool(provider, "echo")).ok).to.equal(true);
    });
  }

  it("that repeats a secret in an error is quoted without the secret and at limited length", async () => {
    const error = await rejectionOf(
      McpError,
      callTool(open({ headers: { authorization: "Bearer swordfish-1234" } }), "broken"),
    );
    expect(error.message).to.contain("for [redacted]").and.not.contain("swordfish");
    expect(error.message).to.have.length.below(2_500);
    expect(error.cause).to.equal(undefined);
  });

  it("that repeats its own URL in an error is quoted without the keys in the URL", async () => {
    server.intercept = (response, request) => (
      response.writeHead(400).end(`bad request: ${request.url}`),
      true
    );
    const error = await rejectionOf(
      McpError,
      open({ url: `${server.url}/0123456789abcdef0123?code=swordfish-1234` }).resolve(),
    );
    expect(error.message).to.contain("bad request: /mcp/[redacted]?code=[redacted]");
  });

  it("that redirects the client is not followed, and the other server receives nothing", async () => {
    const other = new McpHttpTestServer({});
    await other.listen();
    try {
      server.intercept = (response) => (
        response.writeHead(307, { location: other.url }).end(),
        true
      );
      const error = await rejectionOf(
        McpError,
        open({ headers: { authorization: "Bearer swordfish-1234" } }).resolve(),
      );
      expect(error.message).to.contain("Redirect").and.not.contain("swordfish");
      expect(other.requests).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });

  it("that denies access is called only once", async () => {
    server.intercept = (response) => (response.writeHead(401).end("who are you"), true);
    const error = await rejectionOf(McpError, open().resolve());
    expect(error.message).to.contain("who are you");
    expect(server.requests).to.have.length(1);
  });

  it("that does not exist is named by its origin, because path and query may contain keys", async () => {
    const { url } = server;
    const provider = open({ url: `${url}?key=swordfish-1234` });
    await server.close();
    const error = await rejectionOf(McpError, provider.resolve());
    expect(error.message)
      .to.contain(new URL(url).origin)
      .and.contain("ECONNREFUSED")
      .and.not.contain("swordfish")
      .and.not.contain("/mcp");
    await server.listen();
  });

  it("that does not answer the handshake fails after connectTimeoutMs", async () => {
    server.intercept = () => true;
    const error = await rejectionOf(McpError, open({ connectTimeoutMs: 200 }).resolve());
    expect(error.message).to.contain("not ready within 200 ms");
    await until(() => server.connections === 0);
  });
});
