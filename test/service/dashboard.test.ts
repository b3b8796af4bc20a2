import { createServer } from "node:net";
import { expect } from "chai";
import { Ensemble, Review, Task, ValidationError } from "../../src/index.js";
import type { EnsembleOptions } from "../../src/index.js";
import { Boards } from "../plugins/dashboard/server/boards.js";
import { ask, askJson, fromPage, SocketClient } from "../plugins/dashboard/server/client.js";
import { messageOf } from "../../src/util/errors.js";
import { rejection } from "../support/rejection.js";
import { gate, handlerTask } from "./support.js";

const SHOP = "a-token-of-the-shop";
const echo = handlerTask(({ inputs }) => JSON.stringify(inputs));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { "content-type": "application/json" };

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("a dashboard on the port of a service", () => {
  const boards = new Boards();
  const sockets: SocketClient[] = [];

  afterEach(async () => {
    for (const socket of sockets.splice(0)) await socket.close();
    await boards.end();
  });

  function served(options: Partial<EnsembleOptions>): Ensemble {
    const kitchen = new Ensemble({ name: "kitchen", shareTasks: { echo }, ...options });
    boards.later(() => kitchen.dispose());
    return kitchen;
  }

  function opened(...given: ConstructorParameters<typeof SocketClient>): SocketClient {
    const socket = new SocketClient(...given);
    sockets.push(socket);
    return socket;
  }

  it("sends open reviews to the pages of all services", async () => {
    const board = boards.board();
    const task = new Task({
      name: "t",
      description: "Do",
      handler: () => "x",
      review: Review.required(),
    });
    const one = served({ plugins: [board], tasks: [task] });
    const other = served({ name: "other", plugins: [board] });
    const services = [await one.start(0), await other.start(0)];
    const pages = services.map(({ url }) => opened(`${url ?? ""}/`));
    for (const page of pages) await page.frame("hello");
    const run = one.stream();
    for (const page of pages)
      await page.frame(({ type, pending }) => type === "reviews" && String(pending) !== "");
    run.cancel("over");
    await run.output.catch(() => undefined);
  });

  it("serves page, API, socket, requests and health on one port", async () => {
    const board = boards.board();
    const service = await served({ plugins: [board] }).start(0);
    const url = service.url ?? "";
    expect([board.url, await board.listen()]).to.deep.equal([`${url}/`, `${url}/`]);
    const page = await ask(url, "/");
    expect([200, 503]).to.include(page.status); // 503 where the page is not built
    expect(page.headers["content-security-policy"]).to.contain("default-src 'none'");
    const socket = opened(board.url ?? "");
    await socket.frame("hello");
    expect(board.pages).to.equal(1);
    const body = JSON.stringify({ task: "echo", inputs: { dish: "soup" } });
    const work = await ask(url, "/api/work", { method: "POST", headers: json, body });
    expect(work.status).to.equal(202);
    const { requestId } = JSON.parse(work.text) as { readonly requestId: string };
    const result = await askJson<object>(url, `/api/work/${requestId}?waitMs=20000`);
    expect(result).to.include({ status: "COMPLETED" });
    const { runs } = await askJson<{ runs: { runId: string }[] }>(url, "/api/runs");
    expect(runs.map(({ runId }) => runId)).to.deep.equal([requestId]);
    expect(await askJson(url, "/api/health/live")).to.deep.equal({ status: "UP" });
    expect(await askJson(url, "/api/health/ready")).to.deep.equal({ status: "UP", state: "READY" });
    const status = await askJson<{ board: object }>(url, "/api/status");
    expect(status).to.include({ ensemble: "kitchen", state: "READY" });
    expect(status.board).to.include({ clients: 1, runs: 1 });
    expect((await ask(url, "/nowhere")).status).to.equal(404);
  });

  it("applies the access control of the dashboard to its routes, and that of the service to others", async () => {
    const users = [
      { name: "ada", role: "operator", token: "ada's" },
      { name: "bob", role: "viewer", token: "bob's" },
    ] as const;
    const board = boards.board({ users });
    const service = await served({ plugins: [board] }).start({ port: 0, callers: { shop: SHOP } });
    const url = service.url ?? "";
    const status = async (path: string, token?: string) =>
      (await ask(url, path, { headers: token === undefined ? {} : bearer(token) })).status;
    expect(await status("/api/runs")).to.equal(401);
    expect(await status("/api/runs", SHOP)).to.equal(401);
    expect(await status("/api/runs", "bob's")).to.equal(200);
    expect(await status("/api/audit", "bob's")).to.equal(403);
    expect(await status("/api/audit", "ada's")).to.equal(200);
    expect(await status("/api/work/unknown", "ada's")).to.equal(401);
    expect(await status("/api/work/unknown", SHOP)).to.equal(404);
    expect(await status("/api/queue/depth", "ada's")).to.equal(401);
    const strange = await ask(url, "/api/runs", {
      headers: { ...bearer("ada's"), host: "evil.example" },
    });
    expect(strange.status).to.equal(403);
    const sent = { method: "POST", headers: { ...bearer(SHOP), ...fromPage(url) }, body: "{}" };
    expect((await ask(url, "/api/work", sent)).status).to.equal(403); // no page may send requests
  });

  it("keeps pages while the service drains, then closes them with the reason", async () => {
    const [begun, done] = [gate<undefined>(), gate<string>()];
    const wait = new Task({
      description: "Wait",
      handler: () => {
        begun.open(undefined);
        return done.opened;
      },
    });
    const board = boards.board();
    const kitchen = served({ plugins: [board], shareTasks: { wait } });
    const service = await kitchen.start({ port: 0, signals: false });
    const url = service.url ?? "";
    const socket = opened(board.url ?? "");
    await socket.frame("hello");
    const body = JSON.stringify({ task: "wait" });
    await ask(url, "/api/work", { method: "POST", headers: json, body });
    await begun.opened;
    const stopped = kitchen.stop();
    expect((await ask(url, "/api/runs")).status).to.equal(200);
    expect((await ask(url, "/api/health/ready")).status).to.equal(503);
    expect(socket.closed).to.equal(undefined);
    done.open("done");
    await stopped;
    expect((await socket.frame("closing"))["reason"]).to.equal("The service has stopped");
    expect(await socket.code()).to.equal(1001);
    expect([board.url, board.pages]).to.deep.equal([undefined, 0]);
    const again = await kitchen.start(0);
    expect((await ask(again.url ?? "", "/api/runs")).status).to.equal(200);
  });

  it("passes its port to the service that starts on it", async () => {
    const port = await freePort();
    const board = boards.board({ port });
    const kitchen = served({ plugins: [board], tasks: [echo], shareTasks: undefined });
    await kitchen.run();
    const page = opened(board.url ?? "");
    await page.frame("hello");
    const service = await kitchen.start(port);
    expect((await page.frame("closing"))["reason"]).to.equal("A service takes the port over");
    expect(service.url).to.equal(`http://127.0.0.1:${port}`);
    expect(board.url).to.equal(`http://127.0.0.1:${port}/`);
    expect((await ask(service.url ?? "", "/api/runs")).status).to.equal(200);
    expect((await ask(service.url ?? "", "/api/health/ready")).text).to.contain("READY");
  });

  it("listens without a service with the option port", async () => {
    const board = boards.board({ port: 0 });
    const service = await served({ plugins: [board] }).start(0);
    expect((await ask(board.url ?? "", "/api/runs")).status).to.equal(200);
    expect((await ask(service.url ?? "", "/api/runs")).status).to.equal(404);
  });

  it("listens without a service if start() opens no port", async () => {
    const board = boards.board({}, { defaultPort: await freePort() });
    const kitchen = served({ plugins: [board], tasks: [echo] });
    await kitchen.run();
    expect(board.url).to.equal(undefined);
    const worker = await kitchen.start({});
    expect(worker.url).to.equal(undefined);
    expect((await ask(board.url ?? "", "/api/health/live")).text).to.equal('{"status":"UP"}');
    await kitchen.stop();
    expect((await ask(board.url ?? "", "/api/runs")).status).to.equal(200);
  });

  it("listens without a service when an ensemble without shared work runs", async () => {
    const defaultPort = await freePort();
    const board = boards.board({}, { defaultPort });
    const kitchen = served({ plugins: [board], tasks: [echo], shareTasks: {} });
    await kitchen.run();
    expect(board.url).to.equal(`http://127.0.0.1:${defaultPort}/`);
    const { runs } = await askJson<{ runs: object[] }>(board.url ?? "", "/api/runs");
    expect(runs.length).to.equal(1);
  });

  it("can be given to several services, and is served by each", async () => {
    const board = boards.board();
    const [first, second] = [
      await served({ plugins: [board] }).start({ port: 0, signals: false }),
      await served({ name: "shop", plugins: [board] }).start({ port: 0, signals: false }),
    ];
    const pages = [opened(`${first.url ?? ""}/`), opened(`${second.url ?? ""}/`)];
    for (const page of pages) await page.frame("hello");
    expect(board.pages).to.equal(2);
    await first.stop();
    expect(await pages[0]?.code()).to.equal(1001);
    expect([board.url, board.pages]).to.deep.equal([`${second.url ?? ""}/`, 1]);
    expect(pages[1]?.closed).to.equal(undefined);
  });

  it("is not served by a service whose port is in use", async () => {
    const taken = await served({}).start(0);
    const port = Number(new URL(taken.url ?? "").port);
    const board = boards.board();
    const kitchen = served({ name: "shop", plugins: [board] });
    expect(messageOf(await rejection(kitchen.start(port)))).to.contain(
      "another process or service uses it",
    );
    expect([board.url, board.pages]).to.deep.equal([undefined, 0]);
    const service = await kitchen.start(0);
    expect(board.url).to.equal(`${service.url ?? ""}/`);
  });

  it("waits for start() if the ensemble shares work", async () => {
    const board = boards.board();
    const kitchen = served({ plugins: [board], tasks: [echo] });
    await kitchen.run();
    expect(board.url).to.equal(undefined);
    const service = await kitchen.start(0);
    const { runs } = await askJson<{ runs: object[] }>(service.url ?? "", "/api/runs");
    expect(runs.length).to.equal(1);
  });

  it("refuses access from other machines, and a host that has no effect", async () => {
    const open = served({ plugins: [boards.board()] });
    const reachable = { port: 0, callers: { shop: SHOP }, publicUrl: "https://kitchen.example" };
    const error = await rejection(open.start(reachable));
    expect(error).to.be.instanceOf(ValidationError);
    expect(messageOf(error)).to.contain("needs access control on the port of a service");
    expect(open.state).to.equal("NEW");
    const elsewhere = served({ plugins: [boards.board({ host: "::1" })] });
    expect(messageOf(await rejection(elsewhere.start(0)))).to.equal(
      "dashboard host ::1 has no effect: the service listens on 127.0.0.1",
    );
    const safe = served({ plugins: [boards.board({ token: "ada's" })] });
    const service = await safe.start(reachable);
    expect(service.url).to.equal("https://kitchen.example");
  });

  it("admits the page under the public URL of the service", async () => {
    const board = boards.board({ token: "ada's" });
    const port = await freePort();
    const publicUrl = "https://kitchen.example";
    await served({ plugins: [board] }).start({ port, callers: { shop: SHOP }, publicUrl });
    expect(board.url).to.equal("https://kitchen.example/");
    const host = "kitchen.example";
    const headers = { ...json, ...bearer("ada's"), host, origin: publicUrl };
    const cancel = { method: "POST", headers, body: "{}" };
    const { text } = await ask(`http://127.0.0.1:${port}`, "/api/runs/none/cancel", cancel);
    expect(text).to.contain("RUN_NOT_FOUND");
  });

  it("ends its part of a service when it is closed", async () => {
    const board = boards.board();
    const service = await served({ plugins: [board] }).start(0);
    const socket = opened(board.url ?? "");
    await socket.frame("hello");
    await board.close();
    expect((await socket.frame("closing"))["reason"]).to.equal("The dashboard was closed");
    expect((await ask(service.url ?? "", "/api/runs")).status).to.equal(404);
    expect(await askJson<object>(service.url ?? "", "/api/status")).to.not.have.property("board");
  });
});
