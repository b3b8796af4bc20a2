import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { Ensemble, Review, Task, type Principal } from "agentensemble";
import { expect } from "chai";
import type { RunStore } from "../../../../src/contracts/run-store.js";
import { RunStore as Stores } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { warningsOf } from "../../../support/warnings.js";
import { Boards } from "./boards.js";
import { ChattyRun } from "./chatty-run.js";
import { ask, askJson, SocketClient, upgradeStatus } from "./client.js";

describe("a stream of events", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("has status 204 if no events follow, which prevents browsers from connecting again", async () => {
    const { board, url } = await boards.listening();
    const run = boards.ensemble(boards.kernel(board)).stream();
    await run.output;
    const path = `/api/runs/${run.id}`;
    const { summary } = await askJson<{ summary: { n: number } }>(url, path);
    const from = (n: number): ReturnType<typeof ask> =>
      ask(url, `${path}/events`, { headers: { "last-event-id": String(n) } });
    expect(await from(summary.n)).to.include({ status: 204, text: "" });
    const last = await from(summary.n - 1);
    expect(last.status).to.equal(200);
    expect(last.text).to.include("event: ensemble_completed");
  });

  it("ends with the dashboard, also on a server of the program", async () => {
    const board = boards.board({ port: false });
    const server = createServer(board.handler);
    boards.later(async () => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const run = new ChattyRun(boards, board);
    await run.add(3);
    const path = `/api/runs/${run.id}/events`;
    const sent = httpRequest({ host: "127.0.0.1", port, path, agent: false }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage]; // the event's one value
    await once(response, "data");
    const ended = once(response, "end");
    await board.close();
    await ended;
    await run.end();
  });
});

describe("a socket of the dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("accepts no message after the closing one, and ends even if the client does not close", async () => {
    const { board, url } = await boards.listening({}, { limits: { socketCloseMs: 1 } });
    const run = new Ensemble({
      name: "team",
      kernel: boards.kernel(board),
      tasks: [
        new Task({ name: "t", description: "Do", handler: () => "x", review: Review.required() }),
      ],
    }).stream();
    const asked = new Promise<string>((resolve) =>
      board.onReview(({ reviewId }) => resolve(reviewId)),
    );
    const reviewId = await asked;
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    boards.later(async () => void socket.destroy());
    socket.write(
      [
        "GET /ws HTTP/1.1",
        `Host: ${new URL(url).host}`,
        `Origin: ${new URL(url).origin}`,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol: agentensemble.v1",
        "\r\n",
      ].join("\r\n"),
    );
    await once(socket, "data");
    const decision = JSON.stringify({ type: "review_decision", reviewId, decision: "approve" });
    socket.write(Buffer.concat([textFrame("[1]"), textFrame(decision)]));
    await once(socket.resume(), "close");
    const { total } = await askJson<{ total: number }>(url, "/api/reviews?state=waiting");
    expect(total).to.equal(1);
    run.cancel("over");
    await run.output.catch(() => undefined);
  });

  it("is not read while its client does not read, and then continues", async () => {
    let taken = 0; // the clock is read for each message
    const clock = { now: () => new Date(0), monotonicMs: () => ++taken * 1_000 };
    const { url } = await boards.listening({}, { clock, limits: { bufferedBytes: 64 * 1024 } });
    const client = new SocketClient(url);
    boards.later(() => client.close());
    await client.frame("hello");
    client.socket.pause();
    const asked = Array.from({ length: 200 }, (_, i) => `${i}${"x".repeat(200_000)}`);
    for (const runId of asked) client.send({ type: "subscribe", runId });
    for (let before = -1; before < taken;) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(taken).to.be.within(1, 100); // the buffers of the operating system
    client.socket.resume();
    await client.frame(({ type, runId }) => type === "resync" && runId === asked.at(-1));
    expect(client.frames.filter(({ type }) => type === "resync")).to.have.lengthOf(asked.length);
  });

  it("counts towards the limit of 100 while its user is being authenticated", async () => {
    let waiting = 0;
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const authenticate = async (): Promise<Principal> => {
      if (++waiting === 3) answer();
      await answered;
      return { name: "ada", role: "viewer" };
    };
    const { url } = await boards.listening({ authenticate }, { limits: { sockets: 2 } });
    const clients = [1, 2].map(() => new SocketClient(url));
    for (const client of clients) boards.later(() => client.close());
    const o = { origin: new URL(url).origin };
    const third = upgradeStatus(url, ["agentensemble.v1"], o);
    const opened = await Promise.allSettled(clients.map((client) => client.frame("hello")));
    const statuses = [...opened.map(({ status }) => status), await third];
    expect(statuses.filter((status) => status === "fulfilled" || status === 101)).to.have.length(2);
  });
});

describe("a page of a dashboard whose store fails", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  const failures: Readonly<Record<string, RunStore["list"]>> = {
    fails: () => Promise.reject(new Error("no database")),
    "does not answer": () => new Promise(() => undefined),
  };
  for (const [name, list] of Object.entries(failures))
    it(`begins with the runs in memory if the store ${name}`, async () => {
      const inner = Stores.inMemory();
      const store: RunStore = {
        append: (id, entries) => inner.append(id, entries),
        put: (run) => inner.put(run),
        list,
        get: (id) => inner.get(id),
        read: (id, after, limit) => inner.read(id, after, limit),
        remove: (id) => inner.remove(id),
      };
      const { board, url } = await boards.listening({ store }, { limits: { storeMs: 1 } });
      const { runId } = await boards.ensemble(boards.kernel(board)).run();
      const warnings = await warningsOf(async () => {
        const client = new SocketClient(url);
        boards.later(() => client.close());
        const { runs } = await client.frame("hello");
        expect(runs).to.have.nested.property("[0].runId", runId);
      });
      expect(warnings.join()).to.include("the runs of the store can't be shown");
    });
});

/** A short text as a frame of a client, with a mask of zeros. */
function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = bytes.length < 126 ? [0x80 | bytes.length] : [0xfe, 0, bytes.length];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), bytes]);
}
