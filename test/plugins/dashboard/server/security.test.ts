import { connect } from "node:net";
import { expect } from "chai";
import { LIMITS } from "../../../../src/plugins/dashboard/server/limits.js";
import type { DashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage, SocketClient, upgradeStatus, type Asked } from "./client.js";
import { EVERY_ROUTE } from "./every-route.js";

const TOKEN = "a token of at least some length";
const PAGE = ["agentensemble.v1"];

/** The two modes, with the headers of an admitted user. */
const MODES: Readonly<
  Record<string, { readonly options: DashboardOptions; readonly own: Record<string, string> }>
> = {
  "without access control": { options: {}, own: {} },
  "with a token": { options: { token: TOKEN }, own: { authorization: `Bearer ${TOKEN}` } },
};

for (const [mode, { options, own }] of Object.entries(MODES))
  describe(`access to a dashboard ${mode}`, () => {
    const boards = new Boards();
    afterEach(() => boards.end());
    const open = async (more: DashboardOptions = {}): Promise<string> =>
      (await boards.listening({ ...options, ...more })).url;

    it("is refused under a name of another host, for every path and for the socket", async () => {
      const url = await open();
      for (const { method, path } of EVERY_ROUTE) {
        const headers = { ...fromPage(url), ...own, host: "evil.example" };
        const { status, text } = await ask(url, path, { method, headers });
        expect(status, path).to.equal(403);
        expect(JSON.parse(text), path).to.include({ error: "FORBIDDEN_HOST" });
      }
      for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1@evil.example"])
        expect((await ask(url, "/", { headers: { host } })).status, host).to.equal(403);
      const headers = { ...own, host: "evil.example" };
      expect(await upgradeStatus(url, PAGE, { headers, origin: new URL(url).origin })).to.equal(
        403,
      );
    });

    it("is given under the names of this machine, with any port", async () => {
      const url = await open({ allowedHosts: ["board.test"] });
      for (const host of ["localhost", "127.0.0.1:80", "[::1]", "LOCALHOST:7329", "board.test"])
        expect(
          (await ask(url, "/api/status", { headers: { ...own, host } })).status,
          host,
        ).to.equal(200);
    });

    it("is refused to pages of other origins, also of another port of this machine", async () => {
      const url = await open({ allowedOrigins: ["http://localhost:7328"] });
      const { port } = new URL(url);
      const rows: readonly (readonly [Record<string, string>, number])[] = [
        [{ origin: new URL(url).origin }, 200],
        [{ origin: `http://localhost:${port}` }, 403], // asked by its address, not by this name
        [{ origin: "http://localhost:7328" }, 200],
        [{ origin: "http://localhost:3000" }, 403],
        [{ origin: "null" }, 403],
        [{ origin: "http://evil.example" }, 403],
        [{ "sec-fetch-site": "same-site" }, 403],
        [{ "sec-fetch-site": "cross-site" }, 403],
        [{ "sec-fetch-site": "same-origin" }, 200],
        [{ "sec-fetch-site": "none" }, 200],
        [{}, 200],
      ];
      for (const [headers, status] of rows)
        expect(
          (await ask(url, "/api/status", { headers: { ...own, ...headers } })).status,
          JSON.stringify(headers),
        ).to.equal(status);
      const cors = async (origin: string): Promise<unknown> =>
        (await ask(url, "/api/status", { headers: { ...own, origin } })).headers[
          "access-control-allow-origin"
        ];
      expect(await cors("http://localhost:7328")).to.equal("http://localhost:7328");
      expect(await cors(new URL(url).origin)).to.equal(undefined);
    });

    it("is granted to the page alone for a link on another site", async () => {
      const url = await open();
      const followed = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
      const statusOf = async (path: string, headers: Record<string, string>): Promise<number> =>
        (await ask(url, path, { headers: { ...own, ...headers } })).status;
      expect(await statusOf("/", followed)).to.be.oneOf([200, 503]); // 503 without a built page
      expect(await statusOf("/", { ...followed, "sec-fetch-mode": "no-cors" })).to.equal(403);
      expect(await statusOf("/api/runs", followed)).to.equal(403);
    });

    it("requires JSON, and an own or allowed origin or a bearer token, for changes", async () => {
      const url = await open();
      const body = '{"decision":"approve"}';
      const { origin } = new URL(url);
      const json = "application/json";
      const rows: readonly (readonly [Record<string, string>, number])[] = [
        [{ ...own, origin, "content-type": json }, 404], // let through: there is no such review
        [{ ...own, origin, "content-type": `${json}; charset=utf-8` }, 404],
        [{ ...own, origin, "content-type": "text/plain" }, 415],
        [{ ...own, origin, "content-type": "application/x-www-form-urlencoded" }, 415],
        [{ ...own, origin, "content-type": `text/plain; ${json}` }, 415],
        [{ ...own, origin }, 415],
        [{ ...own, origin: "null", "content-type": json }, 403],
        [{ ...own, origin: "http://evil.example", "content-type": json }, 403],
        [{ "content-type": json }, 403],
        [{ authorization: `Bearer ${TOKEN}`, "content-type": json }, 404],
      ];
      for (const [headers, status] of rows)
        expect(
          (await ask(url, "/api/reviews/r", { method: "POST", headers, body })).status,
          JSON.stringify(headers),
        ).to.equal(status);
      for (const method of ["PUT", "DELETE", "PATCH"]) {
        const headers = { ...fromPage(url), ...own };
        expect((await ask(url, "/api/reviews/r", { method, headers })).status).to.equal(405);
      }
    });

    it("sets no cookie and reads none", async () => {
      const url = await open();
      for (const { method, path } of EVERY_ROUTE) {
        const headers = { ...fromPage(url), ...own, cookie: `token=${TOKEN}` };
        expect((await ask(url, path, { method, headers })).headers).not.to.have.property(
          "set-cookie",
        );
      }
    });

    it("to the socket requires an own or allowed origin, or a bearer token", async () => {
      const url = await open({ allowedOrigins: ["http://localhost:7328"] });
      const statusOf = (o: object): Promise<number> => upgradeStatus(url, PAGE, o);
      expect(await statusOf({ origin: new URL(url).origin })).to.equal(101);
      expect(await statusOf({ origin: "http://localhost:7328" })).to.equal(101);
      expect(await statusOf({ origin: "http://localhost:3000" })).to.equal(403);
      expect(await statusOf({ origin: "null" })).to.equal(403);
      expect(await statusOf({})).to.equal(403);
      expect(await statusOf({ headers: { authorization: `Bearer ${TOKEN}` } })).to.equal(101);
      expect(await upgradeStatus(url, ["other.v1"], { origin: new URL(url).origin })).to.equal(400);
    });

    it("adds headers against injection, framing and caching to its answers", async () => {
      const url = await open();
      for (const path of ["/", "/api/status", "/api/health/live", "/nothing"]) {
        const { headers } = await ask(url, path, { headers: own });
        expect(headers["content-security-policy"], path)
          .to.match(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/)
          .and.include("frame-ancestors 'none'")
          .and.include("require-trusted-types-for 'script'");
        expect(headers).to.include({
          "x-content-type-options": "nosniff",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          "referrer-policy": "no-referrer",
          "cache-control": "no-store",
        });
      }
    });

    it("provides no file beyond those of the page", async () => {
      const url = await open();
      for (const path of [
        "/../package.json",
        "/%2e%2e/package.json",
        "/..%2fpackage.json",
        "/....//package.json",
        "/%5c..%5cpackage.json",
        "//etc/passwd",
        "/index.html",
        "/api/runs/..%2f..%2fetc%2fpasswd",
        "/api/runs/%00",
        "/app-.js",
      ])
        expect((await ask(url, path, { headers: own })).status, path).to.equal(404);
    });

    it("is refused for bodies above 1 MiB and URLs above 2,048 characters", async () => {
      const url = await open();
      const o: Asked = { method: "POST", headers: { ...fromPage(url), ...own } };
      const body = JSON.stringify({ decision: "approve", comment: "x".repeat(LIMITS.bodyBytes) });
      expect((await ask(url, "/api/reviews/r", { ...o, body })).status).to.equal(413);
      const path = `/api/runs?text=${"x".repeat(2_048)}`;
      expect((await ask(url, path, { headers: own })).status).to.equal(414);
    });

    it("is refused above 600 requests a minute", async () => {
      let nowMs = 1_000_000;
      const clock = { now: () => new Date(0), monotonicMs: () => nowMs };
      const { url } = await boards.listening(options, {
        clock,
        limits: { requestsPerMinute: 3 },
      });
      const statusOf = async (): Promise<number> =>
        (await ask(url, "/api/status", { headers: own })).status;
      for (let i = 0; i < 3; i++) expect(await statusOf()).to.equal(200);
      expect(await statusOf()).to.equal(429);
      nowMs += 60_000;
      expect(await statusOf()).to.equal(200);
      expect(LIMITS.requestsPerMinute).to.equal(600);
    });

    it("is refused to a client that takes too long to send its request", async () => {
      const { url } = await boards.listening({ ...options }, { limits: { receiveMs: 50 } });
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.write("GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      expect(text).to.match(/^HTTP\/1\.1 4/);
    });

    it("is refused above 100 sockets, 256 KiB a message, and 50 messages or pings a second", async () => {
      const url = await (async () => {
        const limits = { sockets: 3 };
        const clock = { now: () => new Date(0), monotonicMs: () => 5 };
        return (await boards.listening({ port: 0, ...options }, { limits, clock })).url;
      })();
      const connected = (): SocketClient => {
        const client = new SocketClient(url, PAGE, { headers: own });
        boards.later(() => client.close());
        return client;
      };
      const [large, busy, pinging] = [connected(), connected(), connected()];
      for (const client of [large, busy, pinging]) await client.frame("hello");
      const o = { origin: new URL(url).origin, headers: own };
      expect(await upgradeStatus(url, PAGE, o)).to.equal(503);
      large.send({ type: "ping", more: "x".repeat(LIMITS.messageBytes) });
      expect(await large.code()).to.equal(1009);
      for (let i = 0; i < 51; i++) busy.send({ type: "ping" });
      expect(await busy.code()).to.equal(1008);
      for (let i = 0; i < 51; i++) pinging.socket.ping();
      expect(await pinging.code()).to.equal(1008);
      expect(LIMITS).to.include({ sockets: 100, messagesPerSecond: 50 });
    });

    it("ends at a message that is not a JSON object", async () => {
      const url = await open();
      for (const [text, code] of [
        ["{", 1007],
        ["[]", 1007],
        ['{"__proto__":{}}', 1007],
        [Buffer.from([1]), 1003],
      ] as const) {
        const client = new SocketClient(url, PAGE, { headers: own });
        boards.later(() => client.close());
        await client.frame("hello");
        client.socket.send(text);
        expect(await client.code(), String(text)).to.equal(code);
      }
    });
  });

describe("access to a dashboard with tokens", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("is refused without a token and with a wrong token, except for the page and its health", async () => {
    const { url } = await boards.listening({ token: TOKEN });
    for (const { method, path, role } of EVERY_ROUTE)
      for (const more of [{}, { authorization: "Bearer wrong" }, { authorization: TOKEN }]) {
        const headers = { ...fromPage(url), ...more };
        const { status } = await ask(url, path, { method, headers });
        if (role === "public") expect(status, path).to.be.oneOf([200, 503]);
        else expect(status, path).to.be.oneOf([401, 429]);
      }
    expect((await ask(url, "/", {})).text).not.to.include(TOKEN);
  });

  it("is limited for clients that guess tokens, and not for clients with a token", async () => {
    let nowMs = 0;
    const audited: string[] = [];
    const { url } = await boards.listening(
      {
        token: TOKEN,
        onAudit: ({ action, subject, user }) => audited.push(`${action} ${subject} ${user}`),
      },
      { clock: { now: () => new Date(0), monotonicMs: () => nowMs } },
    );
    const statusOf = async (token: string): Promise<number> =>
      (await ask(url, "/api/status", { headers: { authorization: `Bearer ${token}` } })).status;
    for (let i = 0; i < 10; i++) expect(await statusOf(`guess ${i}`)).to.equal(401);
    for (let i = 0; i < 5; i++) expect(await statusOf("one more")).to.equal(429);
    expect(await statusOf(TOKEN)).to.equal(200);
    expect(audited).to.have.lengthOf(11); // the next ones of the minute are left out
    expect(audited[0]).to.equal("sign-in-failed /api/status 127.0.0.1");
    nowMs += 60_000;
    expect(await statusOf("another")).to.equal(401);
    expect(audited).to.have.lengthOf(12);
  });

  it("to the socket sends nothing before the first frame has the token", async () => {
    const { url } = await boards.listening({ token: TOKEN }, { limits: { authMs: 40 } });
    const silent = new SocketClient(url);
    const wrong = new SocketClient(url);
    const early = new SocketClient(url);
    const right = new SocketClient(url);
    for (const one of [silent, wrong, early, right]) boards.later(() => one.close());
    await Promise.all(
      [wrong, early, right].map(
        ({ socket }) => new Promise((resolve) => socket.once("open", resolve)),
      ),
    );
    wrong.send({ type: "auth", token: "wrong" });
    early.send({ type: "ping" });
    right.send({ type: "auth", token: TOKEN });
    expect((await right.frame("hello"))["user"]).to.deep.equal({
      name: "operator",
      role: "operator",
      reviewRoles: ["*"],
    });
    for (const one of [wrong, early, silent]) {
      expect(await one.code()).to.equal(4401);
      expect(one.frames).to.deep.equal([]);
    }
  });

  it("allows at most 20 sockets that are not authenticated", async () => {
    const { url } = await boards.listening({ token: TOKEN }, { limits: { unknownSockets: 1 } });
    const first = new SocketClient(url);
    boards.later(() => first.close());
    await new Promise((resolve) => first.socket.once("open", resolve));
    const o = { origin: new URL(url).origin };
    expect(await upgradeStatus(url, PAGE, o)).to.equal(503);
    first.send({ type: "auth", token: TOKEN });
    await first.frame("hello");
    expect(await upgradeStatus(url, PAGE, o)).to.equal(101);
    expect(LIMITS.unknownSockets).to.equal(20);
  });

  it("is limited by the role of the user on every route and frame", async () => {
    const users = (["viewer", "reviewer", "operator"] as const).map((role) => ({
      name: role,
      role,
      token: `token of the ${role}`,
    }));
    const { url } = await boards.listening({ users });
    const ranks = ["viewer", "reviewer", "operator"];
    for (const { method, path, role: least } of EVERY_ROUTE)
      for (const { role, token } of users) {
        const headers = { ...fromPage(url), authorization: `Bearer ${token}` };
        const { status } = await ask(url, path, {
          method,
          headers,
          body: method === "POST" || method === "PUT" ? "{}" : "",
        });
        if (ranks.indexOf(role) < ranks.indexOf(least))
          expect(status, `${role} ${path}`).to.equal(403);
        else expect(status, `${role} ${path}`).not.to.be.oneOf([401, 403]);
      }
    const client = new SocketClient(url);
    boards.later(() => client.close());
    await new Promise((resolve) => client.socket.once("open", resolve));
    client.send({ type: "auth", token: "token of the viewer" });
    await client.frame("hello");
    client.send({ type: "review_decision", reviewId: "r", decision: "approve" });
    expect(await client.frame("review_ack")).to.include({ status: "FORBIDDEN" });
  });

  it("is decided by authenticate alone if the option is set", async () => {
    const { url } = await boards.listening({
      authenticate: (request) => {
        const name = request.headers.get("x-user");
        if (name === "broken") throw new Error("the directory is away");
        return name === null ? undefined : { name, role: name === "bot" ? "caller" : "viewer" };
      },
    });
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await ask(url, "/api/status", { headers })).status;
    expect(await statusOf({ "x-user": "ada" })).to.equal(200);
    expect(await statusOf({ "x-user": "bot" })).to.equal(403);
    expect(await statusOf({})).to.equal(401);
    expect(await statusOf({ authorization: `Bearer ${TOKEN}` })).to.equal(401);
    const o = { origin: new URL(url).origin };
    expect(await upgradeStatus(url, PAGE, o)).to.equal(401);
    expect(await upgradeStatus(url, PAGE, { ...o, headers: { "x-user": "bot" } })).to.equal(403);
    expect(await upgradeStatus(url, PAGE, { ...o, headers: { "x-user": "ada" } })).to.equal(101);
  });
});

describe("access to a dashboard on this machine", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("is refused to requests that a proxy has forwarded", async () => {
    const { url } = await boards.listening();
    for (const header of ["forwarded", "x-forwarded-for", "x-real-ip"])
      expect(
        (await ask(url, "/api/status", { headers: { [header]: "10.0.0.1" } })).status,
      ).to.equal(401);
  });

  it("is allowed under the public URL with its path before all others", async () => {
    const { url } = await boards.listening({
      token: TOKEN,
      publicUrl: "https://team.example/board/",
    });
    expect(url).to.equal("https://team.example/board/");
    const { url: other } = await boards.listening({ token: TOKEN });
    expect(new URL(other).pathname).to.equal("/");
  });

  it("is under the path of the public URL, for its host and origin", async () => {
    const board = boards.board({
      port: false,
      token: TOKEN,
      publicUrl: "https://team.example/board",
    });
    const { createServer } = await import("node:http");
    const server = createServer(board.handler);
    server.on("upgrade", board.upgrade);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    boards.later(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
    const headers = {
      host: "team.example",
      origin: "https://team.example",
      authorization: `Bearer ${TOKEN}`,
    };
    expect((await ask(url, "/board/api/status", { headers })).status).to.equal(200);
    expect((await ask(url, "/api/status", { headers })).status).to.equal(404);
    expect((await ask(url, "/board", { headers })).headers.location).to.equal("/board/");
    expect(
      (await askJson<{ user: object }>(url, "/board/api/status", { headers })).user,
    ).to.include({ name: "operator" });
  });
});
