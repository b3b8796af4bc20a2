import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Ensemble, Review, Task, type ChatModel } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { WebSocketServer, type WebSocket } from "ws";
import type { AuditEntry, RunSummary } from "../../../../src/contracts/run-store.js";
import type {
  ErrorBody,
  RunActionsBody,
  RunBody,
  RunListBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Dashboard, DashboardParts } from "../../../../src/plugins/dashboard/dashboard.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { CutLine } from "../../../page/browser/cut-line.js";
import { Boards } from "../server/boards.js";
import { ask, askJson, SocketClient, upgradeStatus } from "../server/client.js";

const USERS = [
  { name: "anna", role: "operator", token: "token of anna", reviewRoles: ["*"] },
  { name: "vera", role: "viewer", token: "token of vera" },
  { name: "worker", role: "reporter", token: "token of the worker" },
  { name: "other", role: "reporter", token: "token of the other" },
] as const;
const FAST = { reconnectMs: 20, maxReconnectMs: 50, heartbeatMs: 50, flushMs: 5 };

const asUser = (name: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer token of ${name}`,
  "content-type": "application/json",
});

/** Waits until `test` returns something. */
async function until<T>(test: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await test();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("a dashboard that receives reports of other processes", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  async function opened(parts: DashboardParts = {}): Promise<string> {
    return (await boards.listening({ users: USERS }, { limits: { ...FAST, ...parts.limits } })).url;
  }

  function reporter(url: string, token = "token of the worker", process = "w1"): Dashboard {
    const o = { port: false, reportTo: { url, token, process } } as const;
    return boards.board(o, { limits: FAST });
  }

  const run = (url: string, runId: string): Promise<RunBody> =>
    askJson(url, `/api/runs/${encodeURIComponent(runId)}`, { headers: asUser("vera") });

  const found = (
    url: string,
    runId: string,
    fits: (summary: RunSummary) => boolean,
  ): Promise<RunSummary> =>
    until(async () => {
      const { summary } = await run(url, runId);
      return summary !== undefined && fits(summary) ? summary : undefined;
    });

  const taskIds = async (url: string): Promise<readonly string[]> => {
    const { snapshot } = await run(url, "w1/r1");
    return [...createRunState({ snapshot }).view.tasks.keys()];
  };

  async function post(
    url: string,
    path: string,
    body: object = {},
    user = "anna",
  ): Promise<{ readonly status: number; readonly body: ErrorBody }> {
    const o = { method: "POST", headers: asUser(user), body: JSON.stringify(body) };
    const { status, text } = await ask(url, path, o);
    return { status, body: JSON.parse(text) as ErrorBody };
  }

  const audited = async (url: string): Promise<readonly AuditEntry[]> =>
    (
      await askJson<{ entries: readonly AuditEntry[] }>(url, "/api/audit", {
        headers: asUser("anna"),
      })
    ).entries;

  it("shows their runs with the name of the process, in the state of the process", async () => {
    const url = await opened();
    const worker = reporter(url);
    const team = new Ensemble({
      name: "team",
      kernel: boards.kernel(worker),
      model: new ScriptedModel(["About swifts"]),
      tasks: [new Task({ name: "write", description: "Write" })],
    });
    await team.run({}, { runId: "r1", tags: { customer: "acme" } });
    const summary = await found(url, "w1/r1", ({ state }) => state === "done");
    expect(summary).to.deep.include({
      runId: "w1/r1",
      process: "w1",
      ensemble: "team",
      tags: { customer: "acme" },
    });
    expect(summary).not.to.have.property("isAway");
    const [taskId = ""] = await taskIds(url);
    const path = `/api/runs/w1%2Fr1/tasks/${taskId}`;
    const task = await ask(url, path, { headers: asUser("vera") });
    expect(task.text).to.include("About swifts");
    const { runs } = await askJson<RunListBody>(url, "/api/runs", { headers: asUser("vera") });
    expect(runs.map(({ runId }) => runId)).to.deep.equal(["w1/r1"]);
  });

  it("forwards answers of reviews to the waiting process, with the name of the user", async () => {
    const url = await opened();
    const workers = ["w1", "w2"].map((name) => {
      const worker = reporter(url, undefined, name);
      const team = new Ensemble({
        name: "team",
        kernel: boards.kernel(worker),
        tasks: [new Task({ description: "Do it", handler: () => name, review: Review.required() })],
      });
      return team.run({}, { runId: "r1" });
    });
    const page = new SocketClient(url, ["agentensemble.v1"], {
      headers: { authorization: "Bearer token of anna" },
    });
    boards.later(() => page.close());
    const reviews = await until(async () => {
      const path = "/api/reviews?state=waiting";
      const list = await askJson<{ reviews: readonly { reviewId: string; runId: string }[] }>(
        url,
        path,
        { headers: asUser("vera") },
      );
      return list.reviews.length === 2 ? list.reviews : undefined;
    });
    const [first, second] = ["w1/r1", "w2/r1"].map((runId) =>
      reviews.find((review) => review.runId === runId),
    );
    const path = `/api/reviews/${encodeURIComponent(second?.reviewId ?? "")}`;
    const edit = { decision: "edit", revisedOutput: "changed" };
    expect((await post(url, path, edit, "vera")).status).to.equal(403);
    const { status, body } = await post(url, path, edit);
    expect([status, body]).to.deep.equal([
      200,
      { reviewId: second?.reviewId, decision: "edit", status: "APPLIED", by: "anna" },
    ]);
    expect((await workers[1])?.raw).to.equal("changed");
    const again = await post(url, path, edit);
    expect([again.status, again.body.error]).to.deep.equal([409, "REVIEW_RESOLVED"]);
    page.send({ type: "review_decision", reviewId: first?.reviewId, decision: "approve" });
    expect(await page.frame("review_ack")).to.include({ status: "APPLIED", by: "anna" });
    expect((await workers[0])?.raw).to.equal("w1");
    expect((await audited(url)).filter(({ action }) => action === "review")).to.have.lengthOf(2);
  });

  it("forwards actions of operators to the process, and refuses them while it is disconnected", async () => {
    const url = await opened();
    const worker = reporter(url);
    const kernel = boards.kernel(worker);
    const held = new Promise<string>(() => undefined);
    const handle = boards.ensemble(kernel, () => held).stream({}, { runId: "r1" });
    handle.output.catch(() => undefined);
    await found(url, "w1/r1", ({ state }) => state === "running");
    const actionsPath = "/api/runs/w1%2Fr1/actions";
    const actions = await until(async () => {
      const body = await askJson<RunActionsBody>(url, actionsPath, { headers: asUser("anna") });
      return body.actions.includes("cancel") ? body : undefined;
    });
    expect(actions).to.deep.include({ runId: "w1/r1", actions: ["cancel", "export"] });
    const path = "/api/runs/w1%2Fr1/cancel";
    expect((await post(url, path, {}, "vera")).status).to.equal(403);
    const cancelled = await post(url, path, { reason: "enough" });
    expect([cancelled.status, cancelled.body]).to.deep.equal([
      202,
      { runId: "w1/r1", status: "CANCELLING" },
    ]);
    const summary = await found(url, "w1/r1", ({ state }) => state === "stopped");
    expect(summary.exitReason).to.equal("CANCELLED");
    expect((await audited(url))[0]).to.deep.include({ action: "cancel", subject: "w1/r1" });
    await worker.close();
    await found(url, "w1/r1", ({ isAway }) => isAway === true);
    const late = await post(url, path);
    expect([late.status, late.body.error]).to.deep.equal([503, "PROCESS_AWAY"]);
    const left = await askJson<RunActionsBody>(url, actionsPath, { headers: asUser("anna") });
    expect(left.actions).to.have.members(["export", "baseline", "remove"]);
  });

  it("counts the runs of a process that stays disconnected as interrupted", async () => {
    const url = await opened({ limits: { processLostMs: 50 } });
    const worker = reporter(url);
    const held = new Promise<string>(() => undefined);
    const handle = boards.ensemble(boards.kernel(worker), () => held).stream({}, { runId: "r1" });
    handle.output.catch(() => undefined);
    await found(url, "w1/r1", ({ state }) => state === "running");
    await worker.close();
    await found(url, "w1/r1", ({ state }) => state === "interrupted");
  });

  it("streams the text of a task while a page watches it", async () => {
    const url = await opened();
    const reportTo = { url, token: "token of the worker", process: "w1" };
    const worker = boards.board({ port: false, tokens: true, reportTo }, { limits: FAST });
    const scripted = new ScriptedModel(["One two three four five"]);
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const model: ChatModel = {
      provider: "scripted",
      modelId: "slow",
      chat: (request, o) => scripted.chat(request, o),
      async *stream(request, o) {
        for await (const chunk of scripted.stream(request, o)) {
          if (chunk.type === "finish") await gate;
          yield chunk;
        }
      },
    };
    const team = new Ensemble({
      name: "team",
      kernel: boards.kernel(worker),
      model,
      tasks: [new Task({ name: "write", description: "Write" })],
    });
    const output = team.run({}, { runId: "r1" });
    await found(url, "w1/r1", ({ counts }) => counts.running === 1);
    const page = new SocketClient(url, ["agentensemble.v1"], {
      headers: { authorization: "Bearer token of vera" },
    });
    boards.later(() => page.close());
    await page.frame("hello");
    page.send({ type: "subscribe", runId: "w1/r1" });
    page.send({ type: "watch", runId: "w1/r1", tasks: await taskIds(url) });
    const isPiece = (event: unknown): boolean =>
      (event as { token?: string }).token?.startsWith("One two") === true;
    await page.frame((frame) => ((frame["events"] ?? []) as readonly object[]).some(isPiece));
    go();
    await output;
  });

  it("admits no process that is unknown, without the role reporter, or with another name", async () => {
    const url = await opened();
    const o = (name: string): object => ({ headers: { authorization: `Bearer token of ${name}` } });
    const upgrade = (more: object): Promise<number> =>
      upgradeStatus(`${url}ws?role=reporter&to=`, ["agentensemble.v1"], more);
    expect(await upgrade({})).to.equal(403);
    expect(await upgrade(o("nobody"))).to.equal(401);
    expect(await upgrade(o("vera"))).to.equal(403);
    expect(await upgradeStatus(url, ["agentensemble.v1"], o("the worker"))).to.equal(403);
    for (const path of ["/api/runs", "/api/status"])
      expect((await ask(url, path, { headers: asUser("the worker") })).status).to.equal(403);
  });

  /** A connection of a process that sends any messages. */
  function strange(url: string, token = "token of the worker"): SocketClient {
    const headers = { authorization: `Bearer ${token}` };
    const client = new SocketClient(`${url}ws?role=reporter&to=`, ["agentensemble.v1"], {
      headers,
    });
    boards.later(() => client.close());
    return client;
  }

  async function joined(url: string, instance: string, token?: string): Promise<SocketClient> {
    const client = strange(url, token);
    await new Promise((resolve) => client.socket.once("open", resolve));
    client.send({ type: "report", protocol: 1, process: "w1", instance });
    return client;
  }

  it("accepts a name from one process at a time, and from no other principal", async () => {
    const url = await opened();
    const first = await joined(url, "a");
    expect(await first.frame("reported")).to.deep.include({ protocol: 1, runs: {} });
    expect(await (await joined(url, "b")).code()).to.equal(4403);
    expect(await (await joined(url, "b", "token of the other")).code()).to.equal(4403);
    const same = await joined(url, "a");
    await same.frame("reported");
    expect(await first.code(), "the earlier connection of the same process").to.equal(1001);
    const details = (await audited(url)).map(({ action, detail }) => [action, detail]);
    expect(details).to.deep.equal([
      ["report", "refused: The name of the process belongs to another principal"],
      ["report", "refused: Another process of this name is connected"],
      ["report", undefined],
    ]);
  });

  it("accepts from a process only complete entries of its own runs, in order", async () => {
    const url = await opened();
    const entry = (n: number, more: object = {}): object => ({
      n,
      at: "2026-01-01T00:00:00.000Z",
      type: "ensemble_started",
      runId: "r1",
      workflow: "SEQUENTIAL",
      totalTasks: 1,
      startedAt: "2026-01-01T00:00:00.000Z",
      ...more,
    });
    const client = await joined(url, "a");
    await client.frame("reported");
    client.send({ type: "events", runId: "r1", to: 3, events: [entry(3)] });
    expect(await client.frame("resync")).to.deep.include({ runId: "r1", n: -1 });
    client.send({ type: "events", runId: "w2/r9", to: 0, events: [entry(0), entry(0)] });
    const summary = await found(url, "w1/w2/r9", () => true);
    expect(summary).to.include({ process: "w1", n: 0 });
    for (const frame of [
      { type: "events", runId: "r1", to: 0, events: [{ n: "0" }] },
      { type: "events", runId: "", to: 0, events: [entry(0)] },
      { type: "events", runId: "r1", to: 0, events: [entry(0, { type: "run_planned", dag: 7 })] },
    ]) {
      const liar = await joined(url, "a");
      await liar.frame("reported");
      liar.send(frame);
      expect(await liar.code(), JSON.stringify(frame)).to.equal(4403);
    }
    expect(await run(url, "w1/r1")).to.include({ error: "RUN_NOT_FOUND" });
  });

  it("refuses a process of another version, and a connection with another first message", async () => {
    const url = await opened();
    for (const frame of [
      { type: "report", protocol: 0, process: "w1", instance: "a" },
      { type: "report", protocol: 1, process: "a/b", instance: "a" },
      { type: "report", protocol: 1, process: "w1" },
      { type: "subscribe", runId: "r1" },
    ]) {
      const client = strange(url);
      await new Promise((resolve) => client.socket.once("open", resolve));
      client.send(frame);
      expect(await client.code(), JSON.stringify(frame)).to.equal(4403);
    }
  });
});

describe("a process that reports its runs", () => {
  const boards = new Boards();
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  before(() => process.on("warning", onWarning));
  after(() => process.off("warning", onWarning));
  afterEach(() => boards.end());

  /** A server that answers upgrades with `accept`. */
  async function impostor(accept: (socket: WebSocket) => void): Promise<string> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    server.on("connection", (socket) => {
      socket.on("error", () => undefined);
      accept(socket);
    });
    await once(server, "listening");
    boards.later(async () => {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // of a TCP server
  }

  const reporting = (url: string, more: DashboardParts["limits"] = {}): Dashboard => {
    const reportTo = { url, token: "a token", process: "w1" };
    return boards.board({ port: false, reportTo }, { limits: { ...FAST, ...more } });
  };

  it("continues if the board refuses it or is older, and warns once", async () => {
    const { url } = await boards.listening({ users: USERS });
    const older = await impostor((socket) => {
      socket.send(JSON.stringify({ type: "hello", protocol: 1, runs: [] }));
    });
    for (const [address, words] of [
      [url, "it answers 401"],
      [older, "its version is older"],
    ] as const) {
      warnings.length = 0;
      const worker = reporting(address);
      expect((await boards.ensemble(boards.kernel(worker)).run()).raw).to.equal("done");
      while (!warnings.some((message) => message.includes(words)))
        await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 150)); // two more attempts
      expect(warnings.filter((message) => message.includes(words))).to.have.lengthOf(1);
      await worker.close();
    }
  });

  it("buffers little for a board that does not read, and sends everything later", async () => {
    const { url } = await boards.listening({ users: USERS }, { limits: FAST });
    const line = new CutLine();
    const address = await line.listen();
    boards.later(() => line.close());
    line.to(Number(new URL(url).port));
    const reportTo = { url: address, token: "token of the worker", process: "w1" };
    const limits = { ...FAST, bufferedBytes: 10_000, frameBytes: 5_000 };
    const worker = boards.board({ port: false, reportTo }, { limits });
    const kernel = boards.kernel(worker);
    await boards.ensemble(kernel).run({}, { runId: "first" });
    const state = async (runId: string): Promise<string | undefined> => {
      const path = `/api/runs/w1%2F${runId}`;
      const body = await askJson<Partial<RunBody>>(url, path, { headers: asUser("vera") });
      return body.summary?.state;
    };
    await until(async () => ((await state("first")) === "done" ? true : undefined));
    line.stall();
    const text = "x".repeat(20_000);
    for (let i = 0; i < 30; i++)
      await boards.ensemble(kernel, () => text).run({}, { runId: `r${i}` });
    line.mend();
    for (let i = 0; i < 30; i++)
      await until(async () => ((await state(`r${i}`)) === "done" ? true : undefined));
  });
});
