import { request } from "node:http";
import { expect } from "chai";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import type { EnsembleOptions, Service, StartOptions } from "../../src/index.js";
import { Ensemble, Tokens, ValidationError, definePlugin } from "../../src/index.js";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import { changedQueue, gate, handlerTask } from "./support.js";

const LOCAL = "http://127.0.0.1";
const TOKEN = "a-token-of-the-shop";
const OTHER = "a-token-of-the-hotel";
const echo = handlerTask(({ inputs }) => JSON.stringify(inputs));

interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to a service, and returns status and JSON body. */
async function http(service: Pick<Service, "url">, path: string, o: Asked = {}) {
  const response = await fetch(`${service.url ?? ""}${path}`, {
    method: o.method ?? (o.body === undefined ? "GET" : "POST"),
    headers: {
      ...(o.body !== undefined && { "content-type": "application/json" }),
      ...(o.token !== undefined && { authorization: `Bearer ${o.token}` }),
      ...o.headers,
    },
    ...(o.body !== undefined && {
      body: typeof o.body === "string" ? o.body : JSON.stringify(o.body),
    }),
  });
  const body = (await response.json()) as Readonly<Record<string, unknown>>;
  return { status: response.status, body, headers: response.headers };
}

/** The events of a stream. */
function eventsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data = ""]) => JSON.parse(data) as Readonly<Record<string, unknown>>,
  );
}

/** A port without a listener. */
async function freePort(): Promise<number> {
  await using other = new Ensemble({ name: "other" });
  await using service = await other.start(0);
  return Number(new URL(service.url ?? "").port);
}

function served(options: Partial<EnsembleOptions> = {}): Ensemble {
  return new Ensemble({ name: "kitchen", shareTasks: { echo }, ...options });
}

describe("a service over HTTP", () => {
  it("accepts a request, repeats its answer under the same key, and returns the result", async () => {
    await using kitchen = served();
    await using service = await kitchen.start(0);
    expect(service.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    const body = { task: "echo", inputs: { dish: "soup" } };
    const headers = { "idempotency-key": "order-1" };
    const first = await http(service, "/api/work", { body, headers });
    expect(first.status).to.equal(202);
    const { requestId } = first.body as { readonly requestId: string };
    expect(first.body).to.deep.equal({ requestId, status: "ACCEPTED" });
    expect(first.headers.get("location")).to.equal(`/api/work/${requestId}`);
    const result = await http(service, `/api/work/${requestId}?waitMs=20000`);
    expect(result.status).to.equal(200);
    expect(result.body).to.include({ status: "COMPLETED", result: '{"dish":"soup"}' });
    const again = await http(service, "/api/work", { body, headers });
    expect(again.body).to.deep.equal({ requestId, status: "DUPLICATE" });
    const conflict = await http(service, "/api/work", { body: { task: "echo" }, headers });
    expect([conflict.status, conflict.body["error"]]).to.deep.equal([409, "CONFLICT"]);
  });

  it("answers 202 while a request has no result, and 404 for an unknown one", async () => {
    const done = gate<string>();
    await using kitchen = served({ shareTasks: { wait: handlerTask(() => done.opened) } });
    await using service = await kitchen.start(0);
    const { body } = await http(service, "/api/work", { body: { task: "wait" } });
    const path = `/api/work/${String(body["requestId"])}`;
    const waiting = await http(service, path);
    expect(waiting.status).to.equal(202);
    expect(waiting.body["status"]).to.be.oneOf(["QUEUED", "LEASED"]);
    done.open("done");
    expect((await http(service, `${path}?waitMs=20000`)).body).to.include({ result: "done" });
    const unknown = await http(service, `${path.slice(0, -1)}x`);
    expect([unknown.status, unknown.body["error"]]).to.deep.equal([404, "UNKNOWN"]);
  });

  it("leaves no subscription if the wait for a result ends before the result", async () => {
    const backend = NetworkBackend.inMemory();
    const { results } = backend;
    const [asked, slow, left] = [gate(), gate(), gate()];
    const slowResults: typeof results = {
      store: (...args) => results.store(...args),
      retrieve: (id) => results.retrieve(id),
      forget: (id) => results.forget(id),
      subscribe: async (...args) => {
        asked.open();
        const leave = await results.subscribe(...args);
        await slow.opened;
        return () => {
          leave();
          left.open();
        };
      },
    };
    const done = gate<string>();
    await using kitchen = served({ shareTasks: { wait: handlerTask(() => done.opened) } });
    await using service = await kitchen.start({
      port: 0,
      backend: { ...backend, results: slowResults },
    });
    const { body } = await http(service, "/api/work", { body: { task: "wait" } });
    const answer = http(service, `/api/work/${String(body["requestId"])}?waitMs=1`);
    await asked.opened;
    expect((await answer).status).to.equal(202);
    slow.open();
    await left.opened;
    done.open("done");
  });

  it("refuses invalid requests, and names that are not shared", async () => {
    await using kitchen = served();
    await using service = await kitchen.start({ port: 0, maxMessageBytes: 300 });
    const statuses = [];
    for (const body of [
      "{",
      "[]",
      { task: "echo", priorty: "HIGH" },
      { task: "echo", priority: "URGENT" },
      { task: 1 },
      { task: "ecko" },
      { task: "echo", context: "x".repeat(300) },
    ]) {
      const { status, body: answer } = await http(service, "/api/work", { body });
      statuses.push(`${status} ${String(answer["message"])}`);
    }
    expect(statuses.map((line) => line.slice(0, 3))).to.deep.equal([
      ...["400", "400", "400", "400", "400", "404", "413"],
    ]);
    expect(statuses[2]).to.contain("Did you mean 'priority'?");
    expect(statuses[5]).to.contain("Did you mean 'echo'?");
  });

  it("requires a token of each caller, and hides the names and results of others", async () => {
    await using kitchen = served({ shareTasks: { echo, other: echo } });
    await using service = await kitchen.start({
      port: 0,
      callers: { shop: { token: TOKEN, may: ["echo"], maxQueued: 1 }, hotel: OTHER },
    });
    const body = { task: "echo" };
    expect((await http(service, "/api/work", { body })).status).to.equal(401);
    expect((await http(service, "/api/work", { body, token: `${TOKEN}x` })).status).to.equal(401);
    const denied = await http(service, "/api/work", { body: { task: "other" }, token: TOKEN });
    expect([denied.status, denied.body["error"]]).to.deep.equal([403, "DENIED"]);
    const { body: accepted } = await http(service, "/api/work", { body, token: TOKEN });
    const path = `/api/work/${String(accepted["requestId"])}`;
    expect((await http(service, `${path}?waitMs=20000`, { token: TOKEN })).status).to.equal(200);
    expect((await http(service, path, { token: OTHER })).status).to.equal(404);
    const drain = await http(service, "/api/lifecycle/drain", { body: {}, token: TOKEN });
    expect(drain.status).to.equal(403);
  });

  it("authenticates callers with authenticate: names, permissions, and a refusal for an error", async () => {
    const accepted = new Set(["old", "new"]);
    const authenticate = async (request: Request) => {
      const [token = "", name = ""] = (request.headers.get("authorization") ?? "")
        .replace("Bearer ", "")
        .split("/");
      if (name === "") return undefined;
      if (!accepted.has(token)) throw new Error("The signature is wrong");
      return { name, role: "caller", may: ["echo"] } as const;
    };
    await using kitchen = served({ shareTasks: { echo, other: echo } });
    const listeners = [(): void => undefined];
    await using service = await kitchen.start({ port: 0, authenticate, listeners });
    const status = async (token: string, task = "echo") =>
      (await http(service, "/api/work", { body: { task }, token })).status;
    expect(await status("")).to.equal(401);
    expect(await status("forged/shop")).to.equal(401);
    expect([await status("old/shop"), await status("new/shop")]).to.deep.equal([202, 202]);
    accepted.delete("old");
    expect([await status("old/shop"), await status("new/shop")]).to.deep.equal([401, 202]);
    expect(await status("new/shop", "other")).to.equal(403);
    const { body } = await http(service, "/api/work", {
      body: { task: "echo" },
      token: "new/shop",
    });
    const path = `/api/work/${String(body["requestId"])}?waitMs=20000`;
    expect((await http(service, path, { token: "new/hotel" })).status).to.equal(404);
    expect((await http(service, path, { token: "new/shop" })).status).to.equal(200);
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] };
    const rpc = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
    const headers = { "a2a-version": "1.0" };
    const a2a = { body: rpc, headers };
    expect((await http(service, "/a2a", { ...a2a, token: "old/shop" })).status).to.equal(401);
    expect((await http(service, "/a2a", { ...a2a, token: "new/shop" })).status).to.equal(200);
    const drain = { body: {}, token: "new/shop" };
    expect((await http(service, "/api/lifecycle/drain", drain)).status).to.equal(403);
  });

  it("names a missing token whose variable is not set", async () => {
    await using kitchen = served();
    const callers = { shop: undefined } as never; // on purpose: process.env
    const error = await rejection(kitchen.start({ port: 0, callers }));
    expect(error).to.be.instanceOf(ValidationError);
    expect(error).to.include({ hint: "Is the environment variable of the token set?" });
  });

  it("separates the cached results of callers", async () => {
    await using kitchen = served();
    const callers = { shop: TOKEN, hotel: OTHER };
    await using service = await kitchen.start({ port: 0, callers });
    const cache = { policy: "USE_CACHED", key: "soup", maxAgeMs: 60_000 };
    const resultFor = async (token: string, guest: string) => {
      const body = { task: "echo", inputs: { guest }, cache };
      const { body: accepted } = await http(service, "/api/work", { body, token });
      const path = `/api/work/${String(accepted["requestId"])}?waitMs=20000`;
      return (await http(service, path, { token })).body["result"];
    };
    expect(await resultFor(TOKEN, "Ann")).to.equal('{"guest":"Ann"}');
    expect(await resultFor(OTHER, "Bob")).to.equal('{"guest":"Bob"}');
    expect(await resultFor(TOKEN, "Cy")).to.equal('{"guest":"Ann"}');
  });

  it("refuses fields that callers over HTTP may not set, and invalid fields", async () => {
    await using kitchen = served();
    await using service = await kitchen.start(0);
    const problems = [];
    for (const more of [
      { delivery: { method: "TOPIC", address: "cancel.of-another" } },
      { delivery: { method: "WEBHOOK", address: "http://localhost/" } },
      { cache: { policy: "USE_CACHED" } },
      { budget: { maxTokens: "many" } },
      { path: [{}] },
    ]) {
      const body = { task: "echo", ...more };
      const { status, body: answer } = await http(service, "/api/work", { body });
      problems.push(`${status} ${String(answer["message"]).split(" ")[0] ?? ""}`);
    }
    expect(problems).to.deep.equal([
      "400 delivery.method",
      "400 delivery.method",
      "400 cache",
      "400 budget.maxTokens",
      "400 path",
    ]);
  });

  it("permits the routes of operators to this machine, unless a proxy is possible", async () => {
    const drain = async (more: StartOptions) => {
      await using kitchen = served();
      await using service = await kitchen.start({ port: 0, callers: { shop: TOKEN }, ...more });
      const { port } = new URL(service.entry().url ?? "");
      const own = more.publicUrl === undefined ? service : { ...service, url: `${LOCAL}:${port}` };
      return (await http(own, "/api/lifecycle/drain", { body: {} })).status;
    };
    expect(await drain({})).to.equal(202);
    const port = await freePort();
    expect(await drain({ port, publicUrl: `http://kitchen.internal:${port}` })).to.equal(401);
  });

  it("sends a large result completely while it stops", async () => {
    const text = "x".repeat(8_000_000);
    await using kitchen = served({ shareTasks: { large: handlerTask(() => text) } });
    await using service = await kitchen.start(0);
    const { body } = await http(service, "/api/work", { body: { task: "large" } });
    const path = `/api/work/${String(body["requestId"])}?waitMs=20000`;
    await http(service, path);
    const answer = await fetch(`${service.url ?? ""}${path}`); // its headers
    const stopped = service.stop();
    const { result } = (await answer.json()) as { readonly result: string };
    expect(result.length).to.equal(text.length);
    await stopped;
  });

  it("streams the progress of a request to its caller, then the result", async () => {
    const done = gate<string>();
    await using kitchen = served({ shareTasks: { wait: handlerTask(() => done.opened) } });
    const callers = { shop: TOKEN, hotel: OTHER };
    await using service = await kitchen.start({ port: 0, callers });
    const { body } = await http(service, "/api/work", { body: { task: "wait" }, token: TOKEN });
    const path = `/api/work/${String(body["requestId"])}`;
    const accept = "text/event-stream";
    const follow = async () => {
      const headers = { accept, authorization: `Bearer ${TOKEN}` };
      const answer = await fetch(`${service.url ?? ""}${path}`, { headers });
      expect([answer.status, answer.headers.get("content-type")]).to.deep.equal([200, accept]);
      return answer;
    };
    const foreign = await http(service, path, { token: OTHER, headers: { accept } });
    expect(foreign.status).to.equal(404);
    const live = await follow();
    done.open("done");
    const events = eventsIn(await live.text());
    expect(events[0]?.["status"]).to.be.oneOf(["QUEUED", "LEASED"]);
    expect(events.map(({ type }) => type)).to.include("task_completed");
    expect(events.at(-1)).to.deep.include({ type: "result" });
    expect(events.at(-1)?.["response"]).to.include({ status: "COMPLETED", result: "done" });
    const late = eventsIn(await (await follow()).text());
    expect(late.map(({ type }) => type)).to.deep.equal(["status", "result"]);
    const { status } = await http(service, `${path}x`, { token: TOKEN, headers: { accept } });
    expect(status).to.equal(404);
  });

  it("limits the open streams of a caller", async () => {
    const done = gate<string>();
    await using kitchen = served({ shareTasks: { wait: handlerTask(() => done.opened) } });
    await using service = await kitchen.start(0);
    const { body } = await http(service, "/api/work", { body: { task: "wait" } });
    const leaving = new AbortController();
    const follow = () =>
      fetch(`${service.url ?? ""}/api/work/${String(body["requestId"])}`, {
        headers: { accept: "text/event-stream" },
        signal: leaving.signal,
      });
    const open = await Promise.all(Array.from({ length: 20 }, follow));
    expect(open.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    expect((await follow()).status).to.equal(429);
    leaving.abort();
    const again = () => http(service, "/api/work", { body: { task: "wait" } });
    const { body: next } = await again();
    await until(async () => {
      const answer = await fetch(`${service.url ?? ""}/api/work/${String(next["requestId"])}`, {
        headers: { accept: "text/event-stream" },
      });
      await answer.body?.cancel();
      return answer.status === 200;
    });
    done.open("done");
  });

  it("limits the waiting requests of a caller, and of all", async () => {
    const done = gate<string>();
    await using kitchen = served({
      shareTasks: { wait: handlerTask(() => done.opened) },
      maxConcurrentRequests: 1,
      maxQueuedRequests: 1,
    });
    await using service = await kitchen.start({
      port: 0,
      callers: { shop: { token: TOKEN, maxQueued: 1 }, hotel: OTHER },
    });
    const ask = async (token: string) =>
      http(service, "/api/work", { body: { task: "wait" }, token });
    expect((await ask(TOKEN)).status).to.equal(202);
    const second = await ask(TOKEN);
    expect([second.status, second.headers.get("retry-after")]).to.deep.equal([429, "5"]);
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await ask(OTHER)).status);
    expect(statuses.at(-1)).to.equal(429);
    done.open("done");
  });

  it("limits a caller also if it sends many requests before the queue has answered one", async () => {
    const backend = NetworkBackend.inMemory();
    const [first, done] = [gate(), gate<string>()];
    const queue = changedQueue(backend.queue, {
      enqueue: async (...args) => {
        await first.opened;
        return backend.queue.enqueue(...args);
      },
    });
    await using kitchen = served({ shareTasks: { wait: handlerTask(() => done.opened) } });
    await using service = await kitchen.start({
      backend: { ...backend, queue },
      port: 0,
      callers: { shop: { token: TOKEN, maxQueued: 2 } },
    });
    const refused = gate();
    let refusals = 0;
    const post = async () => {
      const { status } = await http(service, "/api/work", { body: { task: "wait" }, token: TOKEN });
      if (status === 429 && ++refusals === 3) refused.open();
      return status;
    };
    const posts = Promise.all(Array.from({ length: 5 }, post));
    await refused.opened; // at 2 requests whose acceptance is not known yet
    first.open();
    expect((await posts).sort()).to.deep.equal([202, 202, 429, 429, 429]);
    done.open("done");
  });

  it("answers under its own names, and under allowed names", async () => {
    await using kitchen = served();
    await using service = await kitchen.start({ port: 0, allowedHosts: ["kitchen.internal"] });
    const { port } = new URL(service.url ?? "");
    const statusOf = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = request({ port, host: "127.0.0.1", path: "/api/status", headers: { host } });
        asked.on("response", (answer) => resolve(answer.resume().statusCode));
        asked.on("error", reject).end();
      });
    expect(await statusOf(`127.0.0.1:${port}`)).to.equal(200);
    expect(await statusOf("kitchen.internal")).to.equal(200);
    expect(await statusOf("evil.example")).to.equal(403);
  });

  it("reports its health and its state in each state", async () => {
    const [announced, begun] = [gate(), gate()];
    const backend = NetworkBackend.inMemory();
    const catalogue = {
      ...{ withdraw: async () => undefined, entries: async () => [] },
      announce: async () => {
        begun.open();
        await announced.opened;
      },
    };
    const done = gate<string>();
    await using kitchen = served({ shareTasks: { wait: handlerTask(() => done.opened) } });
    const port = await freePort();
    const starting = kitchen.start({
      ...{ port, instance: "a", listeners: [() => undefined] },
      backend: { ...backend, catalogue },
    });
    await begun.opened;
    const early = await http({ url: `${LOCAL}:${port}` }, "/api/health/ready");
    expect([early.status, early.body["state"]]).to.deep.equal([503, "STARTING"]);
    expect((await http({ url: `${LOCAL}:${port}` }, "/api/health/live")).status).to.equal(200);
    const unready = await http({ url: `${LOCAL}:${port}` }, "/api/work", { body: {} });
    expect(unready.status).to.equal(503);
    announced.open();
    await using service = await starting;
    const states = async () => {
      const live = await http(service, "/api/health/live");
      const ready = await http(service, "/api/health/ready");
      return [live.status, ready.status, ready.body["state"]];
    };
    expect(await states()).to.deep.equal([200, 200, "READY"]);
    const { body } = await http(service, "/api/status");
    expect(body).to.deep.equal({
      ensemble: "kitchen",
      instance: "a",
      state: "READY",
      running: 0,
      shared: [{ name: "wait", type: "TASK" }],
    });
    const { body: accepted } = await http(service, "/api/work", { body: { task: "wait" } });
    const path = `/api/work/${String(accepted["requestId"])}`;
    await http(service, path);
    const waiting = http(service, `${path}?waitMs=60000`);
    const drained = await http(service, "/api/lifecycle/drain", { body: {} });
    expect([drained.status, drained.body["state"]]).to.deep.equal([202, "DRAINING"]);
    expect(await states()).to.deep.equal([200, 503, "DRAINING"]);
    const refused = await http(service, "/api/work", { body: { task: "wait" } });
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "5"]);
    done.open("done");
    expect((await waiting).body).to.include({ result: "done" });
    await service.closed;
    expect(await rejection(fetch(`${service.url ?? ""}/api/status`))).to.be.instanceOf(TypeError);
  });

  it("is not alive after a minute without access to its queue", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const dequeue = (): Promise<never> => Promise.reject(new Error("connection lost"));
    const queue = changedQueue(backend.queue, { dequeue });
    await using kitchen = served({ plugins: [clock.plugin()] });
    await using service = await kitchen.start({
      backend: { ...backend, queue },
      port: 0,
      listeners: [() => undefined],
    });
    await clock.advance(59_000);
    expect((await http(service, "/api/health/live")).status).to.equal(200);
    await clock.advance(2_000);
    expect((await http(service, "/api/health/live")).status).to.equal(503);
  });

  it("lists and redrives dead letters for operators", async () => {
    const backend = NetworkBackend.inMemory();
    const request = { v: 1, requestId: "r/1", from: "a", to: "kitchen", type: "TASK" } as const;
    await backend.queue.enqueue("kitchen", { ...request, task: "echo" });
    const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 0, leaseMs: 1_000 });
    if (lease !== undefined) await backend.queue.deadLetter(lease, "poison");
    const operator = { name: "ops", role: "operator" } as const;
    const authenticate = (asked: Request) =>
      asked.headers.get("authorization") === `Bearer ${TOKEN}` ? operator : undefined;
    await using kitchen = served();
    await using service = await kitchen.start({ backend, port: 0, authenticate });
    expect((await http(service, "/api/queue/dead")).status).to.equal(401);
    const dead = await http(service, "/api/queue/dead", { token: TOKEN });
    expect(dead.body["deadLetters"]).to.deep.include.members([
      { request: { ...request, task: "echo" }, reason: "poison" },
    ]);
    const depth = await http(service, "/api/queue/depth", { token: TOKEN });
    expect(depth.body).to.include({ ensemble: "kitchen", dead: 1, queued: 0 });
    const path = `/api/queue/redrive/${encodeURIComponent("r/1")}`;
    expect((await http(service, path, { body: {}, token: TOKEN })).status).to.equal(202);
    const result = await http(service, "/api/work/r%2F1?waitMs=20000", { token: TOKEN });
    expect(result.body).to.include({ status: "COMPLETED", attempt: 1 });
    expect((await http(service, path, { body: {}, token: TOKEN })).status).to.equal(404);
  });

  it("serves the routes of the kernel's plugins", async () => {
    const board = definePlugin({
      name: "board",
      bind: (bind) =>
        void bind.many(Tokens.HttpRoute).toConstantValue({
          method: "GET",
          path: "/board",
          role: "viewer",
          handle: (_request, principal) => Response.json({ seenBy: principal?.name }),
        }),
    });
    await using kitchen = served({ plugins: [board] });
    await using service = await kitchen.start(0);
    expect((await http(service, "/board")).body).to.deep.equal({ seenBy: "local" });
  });

  it("refuses configurations without access control, and options without effect", async () => {
    await using kitchen = served();
    const refused: readonly StartOptions[] = [
      { port: 0, host: "0.0.0.0" },
      { port: 0, host: "0.0.0.0", callers: { shop: TOKEN } },
      { port: 0, callers: { shop: "short" } },
      { port: 0, callers: { shop: TOKEN, hotel: TOKEN } },
      { host: "127.0.0.1" },
      { callers: { shop: TOKEN } },
      { port: 70_000 },
      { port: 0, publicUrl: "kitchen.internal" },
    ];
    for (const options of refused)
      expect(await rejection(kitchen.start(options)), JSON.stringify(options)).to.be.instanceOf(
        ValidationError,
      );
    expect(kitchen.state).to.equal("NEW");
  });

  it("rejects the start if the port is in use, and leaves nothing open", async () => {
    const backend = NetworkBackend.inMemory();
    await using first = served();
    await using service = await first.start(0);
    await using second = served();
    const port = Number(new URL(service.url ?? "").port);
    const error = await rejection(second.start({ port, backend }));
    expect(error).to.include({ code: "AE_NETWORK" });
    expect((error as Error).message).to.include(`127.0.0.1:${port}`);
    expect(await backend.catalogue.entries()).to.deep.equal([]);
  });
});
