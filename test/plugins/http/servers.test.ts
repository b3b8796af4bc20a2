import type { HttpRoute } from "agentensemble";
import { definePlugin, Ensemble, Kernel, Review, Task, Tokens } from "agentensemble";
import { reviewsHandler, runHandler, toNodeListener } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { expect } from "chai";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveRoutes } from "../../../src/plugins/shared/http/serve-routes.js";
import { until } from "../../support/time.js";
import { authenticate, serve } from "./service.js";

const echo = new Task({ description: "x", handler: ({ inputs }) => JSON.stringify(inputs) });

describe("toNodeListener", () => {
  it("passes on method, address, headers and body, and sends the answer", async () => {
    await using service = await serve(async (request) => {
      const headers = new Headers({ "x-seen": request.headers.get("x-user") ?? "" });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      const text = `${request.method} ${new URL(request.url).pathname} ${await request.text()}`;
      return new Response(text, { status: 201, headers });
    });
    const answer = await service.fetch("/a/b?c=d", { body: "hello" });
    expect(answer.status).to.equal(201);
    expect(await answer.text()).to.equal("POST /a/b hello");
    expect(answer.headers.get("x-seen")).to.equal("ada");
    expect(answer.headers.getSetCookie()).to.deep.equal(["a=1", "b=2"]);
  });

  it("refuses a handler that is not a function", () => {
    for (const wrong of [undefined, {}])
      expect(() => toNodeListener(wrong as never)).to.throw(
        "toNodeListener handler must be a function",
      );
  });

  it("waits for a client that reads slowly, and stops when the client disconnects", async () => {
    let pulled = 0;
    let cancelled = false;
    let aborted = false;
    await using service = await serve((request) => {
      request.signal.addEventListener("abort", () => (aborted = true));
      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            pulled++;
            controller.enqueue(new Uint8Array(64 * 1024));
          },
          cancel: () => void (cancelled = true),
        },
        { highWaterMark: 0 },
      );
      return Promise.resolve(new Response(body));
    });
    const leaving = new AbortController();
    const answer = await service.fetch("/", { signal: leaving.signal });
    let last = -1;
    await until(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const isStill = pulled === last;
      last = pulled;
      return isStill;
    });
    expect(pulled).to.be.greaterThan(0).and.lessThan(1_000);
    leaving.abort();
    await until(() => cancelled && aborted);
    await answer.body?.cancel().catch(() => undefined);
  });

  it("uses the complete path and the body that the framework has read", async () => {
    await using team = new Ensemble({ tasks: [echo] });
    const listener = toNodeListener(runHandler(team, { authenticate }));
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body: unknown = JSON.parse(Buffer.concat(parts).toString());
        const mounted = { url: "/", originalUrl: request.url, body };
        listener(Object.assign(request, mounted), response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const answer = await fetch(`http://127.0.0.1:${port}/api/run`, {
      method: "POST",
      body: '{"a":1}',
      headers: { "content-type": "application/json", "x-user": "ada" },
    });
    expect(await answer.json()).to.have.nested.property("output.raw", '{"a":1}');
    server.close();
    server.closeAllConnections();
  });

  it("answers 500 if the handler rejects, and closes a response that has begun", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    await using service = await serve((request) => {
      if (request.url.endsWith("/late"))
        return Promise.resolve(
          new Response(
            new ReadableStream({
              pull: () => {
                throw new Error("secret 2");
              },
            }),
          ),
        );
      return Promise.reject(new Error("secret 1"));
    });
    expect(await service.ask("/")).to.deep.equal({ status: 500, body: "" });
    expect(await service.ask("/late").catch(() => "broken")).to.equal("broken");
    await until(() => warnings.length === 2);
    process.off("warning", note);
  });
});

describe("handlers as routes of a listener", () => {
  it("apply its access control, and receive its principals", async () => {
    const store = reviewInbox();
    const task = new Task({
      description: "x",
      handler: () => "draft",
      review: Review.of({ timeoutMs: 0 }),
    });
    await using team = new Ensemble({ tasks: [task], plugins: [review({ store })] });
    const nobody = { authenticate: () => undefined };
    const runs = runHandler(team, nobody);
    const reviews = reviewsHandler({ store, runs: [runs], path: "/api/reviews", ...nobody });
    const plugin = definePlugin({
      name: "service",
      bind: (bind) => {
        for (const route of [...runs.routes, ...reviews.routes])
          bind.many(Tokens.HttpRoute).toConstantValue(route);
      },
    });
    await using kernel = new Kernel({ plugins: [plugin] });
    let routes: readonly HttpRoute[] = [];
    kernel.hooks.beforeRun.tap(({ run }) => void (routes = run.all(Tokens.HttpRoute)));
    await new Ensemble({ kernel, tasks: [echo] }).run();
    const listener = await serveRoutes({
      routes,
      authenticate,
      host: "127.0.0.1",
      port: 0,
      allowedHosts: ["127.0.0.1"],
      allowedOrigins: new Set(),
      maxBodyBytes: 1_000,
      onError: () => undefined,
    });
    const ask = async (path: string, by: string | undefined, o: RequestInit = {}) => {
      const answer = await fetch(`http://127.0.0.1:${listener.port}${path}`, {
        ...o,
        headers: {
          "content-type": "application/json",
          ...(by !== undefined && { "x-user": by }),
        },
      });
      const text = await answer.text();
      return { status: answer.status, text };
    };
    const post = { method: "POST", body: "{}" };
    expect((await ask("/api/run", undefined, post)).status).to.equal(401);
    expect((await ask("/api/run", "vic", post)).status).to.equal(403);
    expect((await ask("/api/run", "ada")).status).to.equal(405);
    expect((await ask("/api/run/x/stream", "ada")).status).to.equal(404);
    expect((await ask("/api/run/x/y", "ada")).status).to.equal(404);
    expect((await ask("/api/reviews", undefined)).status).to.equal(401);
    const run = ask("/api/run", "ada", post);
    await until(async () => (await ask("/api/reviews", "ada")).text.includes('"reviewId"'));
    expect((await ask("/api/reviews", "bob")).text).to.equal('{"reviews":[]}');
    const [{ reviewId = "" } = {}] = store.pending();
    const decided = await ask(`/api/reviews/${encodeURIComponent(reviewId)}`, "ada", {
      method: "POST",
      body: '{"decision":"edit","text":"better"}',
    });
    expect(decided.status).to.equal(200);
    expect((await run).text).to.include('"raw":"better"');
    await listener.close();
  });
});
