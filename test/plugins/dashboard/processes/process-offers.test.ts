import { createHash } from "node:crypto";
import {
  Agent,
  Conversation,
  definePlugin,
  Ensemble,
  Review,
  Task,
  Tokens,
  type Plugin,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type {
  EnsembleBody,
  EnsembleListBody,
  PanelBody,
  PanelListBody,
  RunAcceptedBody,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import type {
  ConversationListBody,
  ThreadBody,
  ThreadListBody,
} from "../../../../src/plugins/dashboard/protocol/thread-bodies.js";
import type { AuditEntry } from "../../../../src/contracts/run-store.js";
import type { ErrorBody, RunBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Dashboard } from "../../../../src/plugins/dashboard/dashboard.js";
import type { DashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import { offersIn } from "../../../../src/plugins/dashboard/processes/process-offers.js";
import { AlertServer } from "../server/alert-server.js";
import { Boards } from "../server/boards.js";
import { ask, askJson, SocketClient } from "../server/client.js";

const FAST = { reconnectMs: 20, maxReconnectMs: 50, heartbeatMs: 50, flushMs: 5 };
const WORKER = { name: "worker", role: "reporter", token: "token of the worker" } as const;
const PEOPLE = [
  { name: "anna", role: "operator", token: "token of anna" },
  { name: "vera", role: "viewer", token: "token of vera" },
] as const;

const as = (name: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer token of ${name}`,
  "content-type": "application/json",
});

/** Repeats a request until its answer matches. */
async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const ratings: Plugin = definePlugin({
  name: "ratings",
  bind: (bind) => {
    bind.many(Tokens.DashboardPanel).toConstantValue({
      name: "ratings",
      title: "Ratings",
      view: "table",
      read: (runId) => [{ runId, stars: 5 }],
    });
  },
});

describe("ensembles that other processes offer on a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  async function opened(o: DashboardOptions = {}): Promise<string> {
    return (await boards.listening({ users: [...PEOPLE, WORKER], ...o }, { limits: FAST })).url;
  }

  function reporter(url: string, process = "w1"): Dashboard {
    const reportTo = { url, token: WORKER.token, process };
    return boards.board({ port: false, reportTo }, { limits: FAST });
  }

  const get = <T>(url: string, path: string, user = "vera"): Promise<T> =>
    askJson<T>(url, path, { headers: as(user) });

  async function post<T = ErrorBody>(
    url: string,
    path: string,
    body: object,
    headers = as("anna"),
  ): Promise<{ readonly status: number; readonly body: T }> {
    const o = { method: "POST", headers, body: JSON.stringify(body) };
    const { status, text } = await ask(url, path, o);
    return { status, body: JSON.parse(text) as T }; // the caller names its form
  }

  /** A process with an ensemble that writes about a topic. */
  async function writers(url: string): Promise<Ensemble> {
    const worker = reporter(url);
    const ensemble = new Ensemble({
      name: "writers",
      kernel: boards.kernel(worker, ratings),
      model: new ScriptedModel(["About it"], { onExhausted: "repeat-last" }),
      tasks: [new Task({ name: "write", description: "Write about {topic}" })],
    });
    worker.register("writers", ensemble, { title: "Writers" });
    await ensemble.run({ topic: "swifts" }, { runId: "r1" }); // the kernel starts, and connects
    const list = (): Promise<EnsembleListBody> => get(url, "/api/ensembles");
    await until(list, ({ ensembles }) => ensembles.length === 1);
    return ensemble;
  }

  it("can be previewed and started in their process", async () => {
    const url = await opened();
    await writers(url);
    const { ensembles } = await get<EnsembleListBody>(url, "/api/ensembles");
    expect(ensembles[0]).to.deep.include({
      name: "w1/writers",
      process: "w1",
      title: "Writers",
      tasks: 1,
    });
    const path = "/api/ensembles/w1%2Fwriters";
    const one = await get<EnsembleBody>(url, path);
    expect([one.ensemble.name, one.ensemble.process]).to.deep.equal(["w1/writers", "w1"]);
    expect(one.dag.tasks.map(({ id }) => id)).to.deep.equal(["write"]);
    const explained = await post<{ readonly tasks: readonly object[] }>(url, `${path}/explain`, {
      inputs: { topic: "rooks" },
    });
    expect([explained.status, explained.body.tasks.length]).to.deep.equal([200, 1]);
    const refused = await post(url, "/api/runs", { ensemble: "w1/writers" });
    expect([refused.status, refused.body.error]).to.deep.equal([422, "INPUTS_INVALID"]);
    const body = { ensemble: "w1/writers", inputs: { topic: "rooks" } };
    expect((await post(url, "/api/runs", body, as("vera"))).status).to.equal(403);
    const key = { ...as("anna"), "idempotency-key": "once" };
    const accepted = await post<RunAcceptedBody>(url, "/api/runs", body, key);
    expect(accepted.status).to.equal(202);
    expect(accepted.body).to.include({ ensemble: "w1/writers", status: "ACCEPTED", tasks: 1 });
    expect(accepted.body.runId).to.match(/^w1\//);
    const started = (): Promise<RunBody> =>
      get(url, `/api/runs/${encodeURIComponent(accepted.body.runId)}`);
    expect((await started()).summary.process, "it is on the board at once").to.equal("w1");
    await until(started, ({ summary }) => summary.state === "done");
    const again = await post<RunAcceptedBody>(url, "/api/runs", body, key);
    expect(again.body.runId, "the same key").to.equal(accepted.body.runId);
    const other = { ...body, inputs: { topic: "owls" } };
    expect((await post(url, "/api/runs", other, key)).status).to.equal(409);
    const { entries } = await get<{ readonly entries: readonly AuditEntry[] }>(
      url,
      "/api/audit",
      "anna",
    );
    expect(entries.find(({ action }) => action === "start")).to.include({
      user: "anna",
      subject: accepted.body.runId,
      detail: "w1/writers",
    });
  });

  it("are listed with the ensembles of the board, which the board itself starts", async () => {
    const { board, url } = await boards.listening({ users: [...PEOPLE, WORKER] }, { limits: FAST });
    board.register("team", boards.ensemble(boards.kernel(board)));
    await writers(url);
    const { ensembles } = await get<EnsembleListBody>(url, "/api/ensembles");
    expect(ensembles.map(({ name }) => name)).to.deep.equal(["team", "w1/writers"]);
    for (const body of [{ ensemble: "team" }, {}]) {
      const accepted = await post<RunAcceptedBody>(url, "/api/runs", body);
      expect([accepted.status, accepted.body.ensemble]).to.deep.equal([202, "team"]);
    }
    expect((await post(url, "/api/runs", { ensemble: "w2/writers" })).status).to.equal(404);
    expect(
      (await ask(url, "/api/ensembles/w2%2Fwriters", { headers: as("vera") })).status,
    ).to.equal(404);
  });

  it("include panels of their runs", async () => {
    const url = await opened();
    await writers(url);
    const list = (): Promise<PanelListBody> => get(url, "/api/panels?run=w1%2Fr1");
    const { panels } = await until(list, (body) => body.panels.length > 0);
    expect(panels).to.deep.equal([{ name: "ratings", title: "Ratings", view: "table" }]);
    const panel = await get<PanelBody>(url, "/api/panels/ratings?run=w1%2Fr1");
    expect(panel.data).to.deep.equal([{ runId: "r1", stars: 5 }]);
    expect(await get<PanelListBody>(url, "/api/panels")).to.deep.equal({ panels: [] });
    expect(await get(url, "/api/panels/none?run=w1%2Fr1")).to.include({ error: "PANEL_NOT_FOUND" });
  });

  it("include threads of conversations, for the owner of the board", async () => {
    const url = await opened({
      users: undefined,
      authenticate: (request) => {
        const token = request.headers.get("authorization");
        if (token === `Bearer ${WORKER.token}`) return WORKER;
        const owner = request.headers.get("x-owner");
        return { name: "vera", role: "viewer", ...(owner !== null && { owner }) };
      },
    });
    const worker = reporter(url);
    const chat = new Conversation({
      agent: new Agent({ role: "Support", goal: "Answers" }),
      model: new ScriptedModel(["Hello"], { onExhausted: "repeat-last" }),
      kernel: boards.kernel(worker),
    });
    boards.later(() => chat.dispose());
    const turn = await chat.thread("t 1", { owner: "ada" }).send("I am Ada");
    await chat.thread("t2", { owner: "bob" }).send("I am Bob");
    worker.registerConversation("support", chat, { title: "Support" }); // after it has connected
    const list = (): Promise<ConversationListBody> => get(url, "/api/conversations");
    const { conversations } = await until(list, (body) => body.conversations.length > 0);
    expect(conversations).to.deep.equal([{ name: "w1/support", process: "w1", title: "Support" }]);
    const path = "/api/conversations/w1%2Fsupport/threads";
    const page = await get<ThreadListBody>(url, `${path}?limit=1`);
    expect(page.threads.map(({ id }) => id)).to.deep.equal(["t2"]);
    const rest = await get<ThreadListBody>(url, `${path}?limit=1&after=${page.next}`);
    expect(rest.threads.map(({ id }) => id)).to.deep.equal(["t 1"]);
    const { messages } = await get<ThreadBody>(url, `${path}/t%201?owner=ada`);
    expect(messages.map(({ text, runId }) => [text, runId])).to.deep.equal([
      ["I am Ada", `w1/${turn.turnId}`],
      ["Hello", `w1/${turn.turnId}`],
    ]);
    const owned = { headers: { "x-owner": "bob" } };
    const own = await askJson<ThreadListBody>(url, path, owned);
    expect(own.threads.map(({ id }) => id)).to.deep.equal(["t2"]);
    expect((await ask(url, `${path}/t%201?owner=ada`, owned)).status).to.equal(404);
    const client = new SocketClient(url, ["agentensemble.v1"], {
      headers: { authorization: "Bearer x" },
    });
    boards.later(() => client.close());
    expect(await client.frame("hello")).to.include({ conversations: 1 });
  });

  it("are removed while the process is disconnected", async () => {
    const url = await opened();
    const worker = reporter(url);
    const team = boards.ensemble(boards.kernel(worker));
    worker.register("team", team);
    await team.run();
    const list = (): Promise<EnsembleListBody> => get(url, "/api/ensembles");
    await until(list, ({ ensembles }) => ensembles.length === 1);
    await worker.close();
    await until(list, ({ ensembles }) => ensembles.length === 0);
    const answer = await ask(url, "/api/ensembles/w1%2Fteam", { headers: as("vera") });
    expect([answer.status, answer.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 503 && text.includes("PROCESS_AWAY"),
    );
  });

  it("contain no texts on a board without contents", async () => {
    const url = await opened({ contents: false });
    const worker = reporter(url);
    const chat = new Conversation({
      agent: new Agent({ role: "Support", goal: "Answers" }),
      model: new ScriptedModel(["Hello"]),
      kernel: boards.kernel(worker, ratings),
      captureMode: "FULL",
    });
    boards.later(() => chat.dispose());
    worker.registerConversation("support", chat, { title: "A title" });
    const turn = await chat.thread("t1").send("I am Ada");
    const list = (): Promise<ConversationListBody> => get(url, "/api/conversations");
    await until(list, (body) => body.conversations.length > 0);
    const path = "/api/conversations/w1%2Fsupport/threads/t1";
    const { thread, messages } = await get<ThreadBody>(url, path);
    expect(thread).to.include({ id: "t1", turns: 1 }).and.not.have.property("title");
    expect(messages.map(({ text }) => text)).to.deep.equal(["", ""]);
    const runId = encodeURIComponent(`w1/${turn.turnId}`);
    expect(await get(url, `/api/panels?run=${runId}`)).to.deep.equal({ panels: [] });
    const trace = (): Promise<ErrorBody> => get(url, `/api/runs/${runId}/trace`);
    expect((await until(trace, ({ error }) => error !== "RUN_NOT_FOUND")).error).to.equal(
      "TRACE_NOT_FOUND",
    );
  });

  it("omits items without a name, or with fields of other types", () => {
    const whole = { name: "a", workflow: "SEQUENTIAL", tasks: 1, inputs: {}, filled: {} };
    const { ensembles, conversations } = offersIn(
      {
        ensembles: [
          { ...whole, description: "Does it", answers: ["trace", "x"] },
          { ...whole, name: "a/b" },
          { ...whole, title: 7 },
          { ...whole, workflow: 7 },
          { ...whole, inputs: [] },
          { ...whole, filled: undefined },
          { ...whole, tasks: -1 },
          { ...whole, description: 7 },
          "none",
        ],
        conversations: [{ name: "c", title: "C" }, { name: 7 }, null],
      },
      "w1",
    );
    expect(ensembles).to.deep.equal([
      { ...whole, name: "w1/a", process: "w1", description: "Does it", answers: ["trace"] },
    ]);
    expect(conversations).to.deep.equal([{ name: "w1/c", process: "w1", title: "C" }]);
    expect(offersIn({}, "w1")).to.deep.equal({ ensembles: [], conversations: [] });
  });
});

describe("alerts about runs of other processes", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are sent by the board, with the ids of the board", async () => {
    const server = await AlertServer.open(boards);
    const { url } = await boards.listening(
      { users: [...PEOPLE, WORKER], alerts: [server.options()] },
      { limits: FAST },
    );
    const reportTo = { url, token: WORKER.token, process: "w1" };
    const worker = boards.board({ port: false, reportTo }, { limits: FAST });
    const kernel = boards.kernel(worker);
    const fail = (): never => {
      throw new Error("the printer burns");
    };
    await boards
      .ensemble(kernel, fail)
      .run({}, { runId: "r1" })
      .catch(() => undefined);
    const [failed] = await server.arrived(1);
    expect(failed?.body).to.deep.include({
      type: "failed",
      runId: "w1/r1",
      process: "w1",
      state: "failed",
      link: `${url}#/runs/w1%2Fr1`,
    });
    const team = new Ensemble({
      name: "asks",
      kernel,
      tasks: [new Task({ description: "Do", handler: () => "x", review: Review.required() })],
    });
    const handle = team.stream({}, { runId: "r2" });
    handle.output.catch(() => undefined);
    const waiting = (await server.arrived(2))[1]?.body;
    expect(waiting).to.include({ type: "waiting", runId: "w1/r2", ensemble: "asks" });
    expect(waiting?.["reviewId"]).to.match(/^w1\//);
    const id = encodeURIComponent(String(waiting?.["reviewId"]));
    expect(waiting?.["link"]).to.equal(`${url}#/reviews/${id}`);
    handle.cancel("enough");
    await handle.output.catch(() => undefined);
  });

  it("are not sent for events that are reported much later, and keep their ids if they are repeated", async () => {
    const server = await AlertServer.open(boards);
    const { url } = await boards.listening(
      { users: [...PEOPLE, WORKER], alerts: [server.options()] },
      { limits: FAST },
    );
    const client = new SocketClient(`${url}ws?role=reporter&to=`, undefined, {
      headers: { authorization: `Bearer ${WORKER.token}` },
    });
    boards.later(() => client.close());
    await new Promise((resolve) => client.socket.once("open", resolve));
    client.send({ type: "report", protocol: 1, process: "w1", instance: "a" });
    await client.frame("reported");
    const report = (runId: string, at: string): void =>
      client.send({
        type: "events",
        runId,
        to: 2,
        events: [
          { n: 0, at, type: "ensemble_started", runId, workflow: "SEQUENTIAL", totalTasks: 0 },
          { n: 1, at, type: "run_failed", code: "AE_TASK_EXECUTION", message: "no" },
          { n: 2, at, type: "ensemble_completed", exitReason: "ERROR" },
        ],
      });
    report("old", new Date(Date.now() - 2 * 3_600_000).toISOString());
    const now = new Date().toISOString();
    report("new", now);
    const [alert] = await server.arrived(1);
    expect(alert?.body).to.include({ runId: "w1/new", type: "failed" });
    const id = createHash("sha256")
      .update(JSON.stringify(["w1/new", 2, now]))
      .digest("hex");
    expect(alert?.headers["x-agentensemble-delivery"]).to.equal(id);
    expect(server.received).to.have.lengthOf(1);
  });
});
