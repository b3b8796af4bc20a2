import type { HttpRoute, Principal } from "agentensemble";
import { definePlugin, Ensemble, Kernel, Task, Tokens } from "agentensemble";
import { expect } from "chai";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import {
  serveRoutes,
  type RouteListener,
  type RouteListenerOptions,
} from "../../../../src/plugins/shared/http/serve-routes.js";
import { until } from "../../../support/time.js";

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  ada: { name: "ada", role: "operator" },
  bob: { name: "bob", role: "reviewer" },
  eve: { name: "eve", role: "viewer" },
  bot: { name: "bot", role: "caller" },
};

const route = (role: HttpRoute["role"], o: Partial<HttpRoute> = {}): HttpRoute => ({
  method: "GET",
  path: `/${role}`,
  role,
  handle: (_request, principal) => new Response(`for ${principal?.name ?? "anybody"}`),
  ...o,
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

describe("routes of plugins", () => {
  let listener: RouteListener | undefined;
  const errors: Error[] = [];
  const serve = async (
    routes: readonly HttpRoute[],
    o: Partial<RouteListenerOptions> = {},
  ): Promise<void> => {
    errors.length = 0;
    listener = await serveRoutes({
      routes,
      authenticate: (request) => {
        const name = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
        if (name === "broken") throw new Error("the directory is away");
        return PRINCIPALS[name];
      },
      host: "127.0.0.1",
      port: 0,
      allowedHosts: ["127.0.0.1"],
      allowedOrigins: new Set(["http://page.example"]),
      maxBodyBytes: 100,
      onError: (error) => void errors.push(error),
      ...o,
    });
  };
  const ask = (
    path: string,
    o: {
      readonly by?: string;
      readonly method?: string;
      readonly headers?: object;
      readonly body?: string;
    } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          host: "127.0.0.1",
          port: listener?.port,
          path,
          method: o.method ?? "GET",
          headers: { ...(o.by !== undefined && { authorization: `Bearer ${o.by}` }), ...o.headers },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, text: "" });
      });
      sent.on("error", reject).end(o.body);
    });
  /** Sends a text, and returns the received data until the connection ends. */
  const sentText = async (text: string): Promise<string> => {
    const socket = connect(listener?.port ?? 0, "127.0.0.1").setEncoding("utf8");
    let answer = "";
    socket.on("data", (part: string) => (answer += part)).write(text);
    await once(socket, "close");
    return answer;
  };
  const statuses = async (path: string, o: object = {}): Promise<readonly number[]> =>
    (
      await Promise.all(
        [undefined, "bot", "eve", "bob", "ada"].map((by) =>
          ask(path, { ...o, ...(by !== undefined && { by }) }),
        ),
      )
    ).map(({ status }) => status);
  afterEach(() => listener?.close());

  it("are contributed to a token, mounted, and refused by role", async () => {
    const roles = ["public", "caller", "viewer", "reviewer", "operator"] as const;
    const plugin = definePlugin({
      name: "board",
      bind: (bind) => {
        for (const role of roles) bind.many(Tokens.HttpRoute).toConstantValue(route(role));
      },
    });
    await using kernel = new Kernel({ plugins: [plugin] });
    let routes: readonly HttpRoute[] = [];
    kernel.hooks.beforeRun.tap(({ run }) => void (routes = run.all(Tokens.HttpRoute)));
    await new Ensemble({
      kernel,
      tasks: [new Task({ description: "x", handler: () => "x" })],
    }).run();
    await serve(routes);
    expect(await statuses("/public")).to.deep.equal([200, 200, 200, 200, 200]);
    expect(await statuses("/caller")).to.deep.equal([401, 200, 403, 403, 200]);
    expect(await statuses("/viewer")).to.deep.equal([401, 403, 200, 200, 200]);
    expect(await statuses("/reviewer")).to.deep.equal([401, 403, 403, 200, 200]);
    expect(await statuses("/operator")).to.deep.equal([401, 403, 403, 403, 200]);
    expect((await ask("/viewer", { by: "eve" })).text).to.equal("for eve");
    expect((await ask("/public")).text).to.equal("for anybody");
  });

  it("are protected by the checks of host, origin, path and method", async () => {
    await serve([route("public"), route("viewer", { path: "/files/*" })]);
    const ofAda = { by: "ada" };
    for (const [path, o, status] of [
      ["/public", { headers: { host: "evil.example" } }, 403],
      ["/public", { headers: { origin: "http://evil.example" } }, 403],
      ["/public", { headers: { origin: "http://page.example" } }, 200],
      ["/public", { method: "OPTIONS", headers: { origin: "http://page.example" } }, 204],
      ["/public", { method: "POST", body: "" }, 405],
      ["/public", { method: "PATCH" }, 405],
      ["/public", { method: "TRACE" }, 405],
      ["http://[", {}, 404],
      ["/other", {}, 404],
      ["/files/a/b", ofAda, 200],
      ["/files", ofAda, 404],
    ] as const)
      expect((await ask(path, o)).status, `${path} ${JSON.stringify(o)}`).to.equal(status);
    expect(errors).to.deep.equal([]);
  });

  it("receive bodies up to the limit, and the error of an incomplete body, which is hidden from the client", async () => {
    await serve([
      route("public", { method: "POST", handle: async (r) => new Response(await r.text()) }),
      route("viewer", {
        handle: () => {
          throw new Error("secret reason");
        },
      }),
    ]);
    const post = (body: string): Promise<Answer> => ask("/public", { method: "POST", body });
    expect(await post("hello")).to.deep.equal({ status: 200, text: "hello" });
    expect((await post("x".repeat(101))).status).to.equal(413);
    expect(await ask("/viewer", { by: "eve" })).to.deep.equal({
      status: 500,
      text: "Internal server error",
    });
    expect(errors.map(({ message }) => message)).to.deep.equal(["secret reason"]);
  });

  it("are closed if authentication fails", async () => {
    await serve([route("viewer")]);
    expect((await ask("/viewer", { by: "broken" })).status).to.equal(401);
    expect(errors.map(({ message }) => message)).to.deep.equal(["the directory is away"]);
  });

  it("are closed to principals of a wrong form", async () => {
    const found: readonly unknown[] = [
      ...[{ role: "caller" }, { name: " ", role: "caller" }, { name: "a", role: "admin" }, true],
      ...["may", "reviewRoles"].map((field) => ({ name: "a", role: "caller", [field]: "cook" })),
      ...[
        { name: "a", role: "caller", owner: 1 },
        { name: "a", role: "caller", owner: "" },
      ],
    ];
    let next: unknown;
    await serve([route("caller")], { authenticate: () => next as Principal });
    for (next of found) expect((await ask("/caller")).status, JSON.stringify(next)).to.equal(401);
    expect(errors).to.have.length(found.length);
    expect(errors[0]?.message).to.contain("its name is missing");
    next = null;
    expect((await ask("/caller")).status).to.equal(401);
    next = { name: "a", role: "caller", may: ["cook"], owner: "o", reviewRoles: [] };
    expect((await ask("/caller")).status).to.equal(200);
    expect(errors).to.have.length(found.length);
  });

  it("answer invalid requests without a report, which would fill logs", async () => {
    await serve([route("public")]);
    expect(await sentText("nonsense\r\n\r\n")).to.match(/^HTTP\/1\.1 400 /);
    const long = `GET /public HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await sentText(long)).to.match(/^HTTP\/1\.1 431 /);
    await listener?.close();
    await serve([route("public")], { receiveMs: 50 });
    expect(await sentText("GET /public HTTP/1.1\r\n")).to.match(/^HTTP\/1\.1 408 /);
    expect(errors).to.deep.equal([]);
  });

  it("have a maximum number of connections", async () => {
    await serve([route("public")], { maxConnections: 2 });
    const port = listener?.port ?? 0;
    const open = await Promise.all(
      [1, 2].map(async () => {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      }),
    );
    const further = connect(port, "127.0.0.1");
    await once(
      further.on("error", () => undefined),
      "close",
    );
    for (const socket of open) socket.destroy();
    await until(async () => (await ask("/public").catch(() => undefined))?.status === 200);
  });

  it("upgrade connections after the same checks", async () => {
    const upgrade: HttpRoute["upgrade"] = (_request, socket, _head, principal) =>
      void socket.end(
        `HTTP/1.1 101 For ${principal?.name ?? ""}\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n`,
      );
    await serve([route("viewer", { upgrade }), route("public")]);
    const headers = { Connection: "Upgrade", Upgrade: "test" };
    expect(await statuses("/viewer", { headers })).to.deep.equal([401, 403, 101, 101, 101]);
    expect((await ask("/public", { headers })).status).to.equal(404);
    expect(
      (await ask("/viewer", { by: "ada", headers: { ...headers, origin: "http://evil.example" } }))
        .status,
    ).to.equal(403);
  });
});
