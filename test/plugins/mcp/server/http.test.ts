import { expect } from "chai";
import { EventEmitter, once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectSocket } from "node:net";
import { ValidationError } from "agentensemble";
import {
  McpError,
  type McpHttpEndpoint,
  type McpHttpOptions,
  type McpServer,
  type McpServingOptions,
} from "agentensemble/mcp";
import { offeringServer } from "../../../support/mcp-offers.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { CLIENTS, type Connect, type TestClient } from "./clients.js";
import { pause } from "../../../support/time.js";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
};
const ACCEPT = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};
const connectV1 = CLIENTS["client of SDK 1"] as Connect; // it is in the table
const connectModern = CLIENTS["client of SDK 2, protocol of 2026"] as Connect;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A request of node's own client, which sends whatever headers it is given, `Host` and `Origin` included. */
function send(
  url: string,
  o: {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  } = {},
): Promise<Answer> {
  const { method = "POST", headers = {}, body = JSON.stringify(initialize) } = o;
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers: { ...ACCEPT, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.on("error", reject);
    sent.end(method === "POST" ? body : undefined);
  });
}

describe("http() of an MCP server", () => {
  const opened: McpServer[] = [];
  const clients: TestClient[] = [];
  const notes = new EventEmitter();

  async function listening(
    o: McpHttpOptions = {},
    server: McpServingOptions = {},
  ): Promise<McpHttpEndpoint> {
    const made = offeringServer(server, (what) => notes.emit(what));
    opened.push(made);
    return made.http(o);
  }
  async function connected(
    endpoint: McpHttpEndpoint,
    connect = connectV1,
    headers: Record<string, string> = {},
  ): Promise<TestClient> {
    const client = await connect({ url: endpoint.url, headers });
    clients.push(client);
    return client;
  }
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(opened.splice(0).map((server) => server.close()));
  });

  it("listens on 127.0.0.1, on a free port, under /mcp", async () => {
    const { url } = await listening();
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp$/);
    expect((await send(url)).status).to.equal(200);
    expect((await send(`${url}/more`)).status).to.equal(404);
    expect((await send(url.replace("127.0.0.1", "localhost"))).status).to.equal(200);
  });

  it("accepts another path and port", async () => {
    const first = await listening();
    const port = Number(new URL(first.url).port);
    await first.close();
    const { url } = await listening({ port, path: "/tools" });
    expect(url).to.equal(`http://127.0.0.1:${port}/tools`);
    expect((await send(url)).status).to.equal(200);
    const taken = await rejectionOf(McpError, listening({ port }));
    expect(taken.server).to.equal("offers");
    expect(taken.message).to.include(`port ${port}`).and.include("EADDRINUSE");
  });

  describe("refuses strangers", () => {
    it("names and origins that are not allowed are refused before any other check", async () => {
      const { url } = await listening();
      for (const host of [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
      ]) {
        expect((await send(url, { headers: { Host: host } })).status, host).to.equal(403);
      }
      for (const origin of ["https://evil.example", "http://localhost:6274", "null"]) {
        const refused = await send(url, { headers: { Origin: origin } });
        expect(refused.status, origin).to.equal(403);
        expect(refused.headers).to.not.have.property("access-control-allow-origin");
      }
    });

    it("allowedOrigins admits pages of exactly these origins, including preflight requests", async () => {
      const { url } = await listening({ allowedOrigins: ["http://localhost:6274/"] });
      const Origin = "http://localhost:6274";
      const preflight = await send(url, { method: "OPTIONS", headers: { Origin } });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers["access-control-allow-origin"]).to.equal(Origin);
      expect(preflight.headers["access-control-allow-headers"]).to.include("mcp-session-id");
      const answer = await send(url, { headers: { Origin } });
      expect(answer.status).to.equal(200);
      expect(answer.headers["access-control-expose-headers"]).to.include("mcp-session-id");
      expect((await send(url, { headers: { Origin: "http://localhost:6275" } })).status).to.equal(
        403,
      );
    });

    it("allowedHosts replaces the names of this machine", async () => {
      const { url } = await listening({ allowedHosts: ["Tools.internal"] });
      expect((await send(url, { headers: { Host: "tools.internal:9000" } })).status).to.equal(200);
      expect((await send(url)).status).to.equal(403);
    });

    it("requires the exact token", async () => {
      const token = "a-long-and-secret-token";
      const endpoint = await listening({ token });
      for (const headers of [
        {},
        { Authorization: "Bearer " },
        { Authorization: `Bearer ${token}x` },
        { Authorization: token },
        { Authorization: `Basic ${token}` },
      ]) {
        const refused = await send(endpoint.url, { headers: headers });
        expect(refused.status).to.equal(401);
        expect(refused.headers["www-authenticate"]).to.equal("Bearer");
        expect(refused.body).to.not.include(token);
      }
      for (const connect of Object.values(CLIENTS)) {
        const client = await connected(endpoint, connect, { Authorization: `Bearer ${token}` });
        expect((await client.call("add", { a: 1, b: 1 })).structuredContent).to.deep.equal({
          sum: 2,
        });
      }
      expect(await rejection(connectV1({ url: endpoint.url }))).to.be.instanceOf(Error);
    });

    it("does not listen beyond this machine without a token, nor without names", async () => {
      for (const host of ["0.0.0.0", "::", "192.168.1.5", "example.test", "128.0.0.1"]) {
        const refused = await rejectionOf(ValidationError, listening({ host }));
        expect(refused.message, host).to.include("token").and.include(host);
      }
      const nameless = await rejectionOf(
        ValidationError,
        listening({ host: "0.0.0.0", token: "t".repeat(20) }),
      );
      expect(nameless.message).to.include("allowedHosts");
    });

    it("refuses bodies that are too large, announced or not, and continues", async () => {
      const endpoint = await listening({}, { maxMessageBytes: 2000 });
      const large = JSON.stringify({ ...initialize, pad: "x".repeat(3000) });
      expect((await send(endpoint.url, { body: large })).status).to.equal(413);
      expect(
        (await send(endpoint.url, { body: large, headers: { "Transfer-Encoding": "chunked" } }))
          .status,
      ).to.equal(413);
      const client = await connected(endpoint);
      expect((await client.call("shout", { input: "hi" })).content[0]?.text).to.equal("HI");
    });

    it("refuses bodies of more than 50,000 parts, and continues", async () => {
      const endpoint = await listening();
      for (const list of ["0,".repeat(60_000), "[],".repeat(30_000), '{"a":0},'.repeat(20_000)]) {
        const answer = await send(endpoint.url, {
          body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"list":[${list}0]}}`,
        });
        expect(answer.status).to.equal(413);
        expect(answer.body).to.include("more than 50000 parts");
      }
      const client = await connected(endpoint);
      const list = Array<number>(40_000).fill(0);
      expect((await client.call("locate", { city: "Husum", list })).isError).to.not.equal(true);
    });

    it("answers invalid requests with the problem, in the protocol's form", async () => {
      const { url } = await listening();
      const codeOf = ({ body }: Answer): unknown =>
        (JSON.parse(body) as { readonly error: { readonly code: unknown } }).error.code;
      for (const [body, status, code] of [
        ["{", 400, -32_700],
        ["", 400, -32_700],
        ["[]", 400, undefined],
        ["7", 400, undefined],
        ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400, -32_000],
        [`${"[".repeat(40_000)}${"]".repeat(40_000)}`, 400, undefined],
        [`${"[".repeat(100_000)}${"]".repeat(100_000)}`, 413, undefined],
      ] as const) {
        const answer = await send(url, { body });
        expect(answer.status, body.slice(0, 40)).to.equal(status);
        if (code !== undefined) expect(codeOf(answer), body).to.equal(code);
      }
      expect((await send(url, { headers: { "Content-Type": "text/plain" } })).status).to.equal(415);
      expect((await send(url, { headers: { Accept: "text/html" } })).status).to.equal(406);
      expect((await send(url, { method: "PUT" })).status).to.equal(405);
      expect((await send(url, { headers: { "mcp-session-id": "made-up" } })).status).to.equal(404);
      expect((await send(url, { method: "GET" })).status).to.equal(400);
    });

    it("refuses very deeply nested arguments", async () => {
      const client = await connected(await listening());
      const deep: unknown = JSON.parse(`${'{"city":'.repeat(3000)}1${"}".repeat(3000)}`);
      expect((await client.call("locate", { city: "Husum", deep })).content[0]?.text).to.include(
        "nested deeper than 500",
      );
    });

    it("calls onError for connections that do not use HTTP, and answers them", async () => {
      const errors: Error[] = [];
      const { url } = await listening({}, { onError: (error) => errors.push(error) });
      const socket = connectSocket(Number(new URL(url).port), "127.0.0.1");
      socket.setEncoding("utf8").write("\u0000\u0001 nonsense\r\n\r\n");
      const [answer] = (await once(socket, "data")) as [string];
      expect(answer).to.match(/^HTTP\/1.1 400 /);
      expect(errors).to.have.lengthOf(1);
      socket.destroy();
    });
  });

  describe("keeps sessions for clients of the older protocol", () => {
    const begin = async (url: string): Promise<string> => {
      const { status, headers } = await send(url);
      expect(status).to.equal(200);
      return String(headers["mcp-session-id"]);
    };
    const list = (url: string, id: string): Promise<Answer> =>
      send(url, {
        headers: { "mcp-session-id": id },
        body: '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
      });

    it("under ids that can't be guessed, until they are deleted", async () => {
      const { url } = await listening();
      const [one, two] = [await begin(url), await begin(url)];
      expect(one)
        .to.match(/^[\w-]{32}$/)
        .and.not.equal(two);
      expect((await list(url, one)).status).to.equal(200);
      expect(
        (await send(url, { method: "DELETE", headers: { "mcp-session-id": one } })).status,
      ).to.equal(200);
      expect((await list(url, one)).status).to.equal(404);
      expect((await list(url, two)).status).to.equal(200);
    });

    it("maxSessions ends the session that was unused for the longest time, and no session in use", async () => {
      const endpoint = await listening({ maxSessions: 2 });
      const { url } = endpoint;
      const [one, two] = [await begin(url), await begin(url)];
      await list(url, one);
      const three = await begin(url);
      expect((await list(url, two)).status).to.equal(404);
      expect((await list(url, one)).status).to.equal(200);
      expect((await list(url, three)).status).to.equal(200);
    });

    it("refuses a new session while all are in use", async () => {
      const endpoint = await listening({ maxSessions: 1 });
      const client = await connected(endpoint);
      const started = once(notes, "started busy");
      const call = rejection(client.call("wait", { input: "busy" }));
      await started;
      expect((await send(endpoint.url)).status).to.equal(503);
      await client.close();
      await call;
    });

    it("sessionIdleMs ends an unused session", async () => {
      const { url } = await listening({ sessionIdleMs: 20 });
      const id = await begin(url);
      await pause(200);
      expect((await list(url, id)).status).to.equal(404);
    });

    it("stores no session for a refused request, and ends none for it", async () => {
      const { url } = await listening({ maxSessions: 1 });
      const id = await begin(url);
      expect((await send(url, { headers: { Accept: "application/json" } })).status).to.equal(406);
      expect((await list(url, id)).status).to.equal(200);
    });
  });

  describe("ends calls", () => {
    for (const [kind, connect] of Object.entries(CLIENTS)) {
      it(`when the ${kind} has disconnected`, async () => {
        const client = await connected(await listening(), connect);
        const [started, ended] = [once(notes, "started gone"), once(notes, "ended gone")];
        const call = rejection(client.call("wait", { input: "gone" }));
        await started;
        await client.close();
        await ended;
        await call;
      });

      it(`when the endpoint is closed, and notifies the ${kind}`, async () => {
        const endpoint = await listening();
        const client = await connected(endpoint, connect);
        const started = once(notes, "started closing");
        const call = client.call("wait", { input: "closing" });
        await started;
        const [result] = await Promise.all([call, endpoint.close()]);
        expect(result).to.deep.include({
          isError: true,
          content: [{ type: "text", text: "The MCP server is closing" }],
        });
        expect(await rejection(send(endpoint.url))).to.have.property("code", "ECONNREFUSED");
      });
    }

    it("keeps the other endpoints open after close() of one", async () => {
      const server = offeringServer();
      opened.push(server);
      const [one, two] = [await server.http(), await server.http()];
      await one.close();
      await one.close();
      expect(
        (await (await connected(two, connectModern)).call("shout", { input: "hi" })).content[0]
          ?.text,
      ).to.equal("HI");
      await server.close();
      await server.close();
      expect(await rejection(send(two.url))).to.have.property("code", "ECONNREFUSED");
      expect(await rejection(server.http())).to.be.instanceOf(ValidationError);
      expect(await rejection(server.stdio())).to.be.instanceOf(ValidationError);
    });
  });

  describe("checks its options", () => {
    for (const [options, part] of [
      [{ prt: 1 }, "port"],
      [{ port: -1 }, "port"],
      [{ port: 65_536 }, "port"],
      [{ host: "" }, "host"],
      [{ path: "mcp" }, "path"],
      [{ path: "/a?b" }, "path"],
      [{ token: " " }, "token"],
      [{ allowedOrigins: ["localhost"] }, "allowedOrigins[0]"],
      [{ allowedOrigins: ["http://localhost/path"] }, "allowedOrigins[0]"],
      [{ allowedOrigins: "http://localhost" }, "allowedOrigins"],
      [{ allowedHosts: [7] }, "allowedHosts[0]"],
      [{ maxSessions: 0 }, "maxSessions"],
      [{ sessionIdleMs: 0 }, "sessionIdleMs"],
    ] as const) {
      it(JSON.stringify(options), async () => {
        expect(
          (await rejectionOf(ValidationError, listening(options as unknown as McpHttpOptions)))
            .message,
        ).to.include(part);
      });
    }
  });
});
