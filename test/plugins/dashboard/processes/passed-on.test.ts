import { expect } from "chai";
import type {
  ErrorBody,
  RunActionsBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { DashboardParts } from "../../../../src/plugins/dashboard/dashboard.js";
import { Boards } from "../server/boards.js";
import { ask, SocketClient, type Frame } from "../server/client.js";

const USERS = [
  { name: "anna", role: "operator", token: "token of anna" },
  { name: "worker", role: "reporter", token: "token of the worker" },
] as const;
const HEADERS = { authorization: "Bearer token of anna", "content-type": "application/json" };
const RUN = "/api/runs/w1%2Fr1";

/** The answer for a page. */
interface Got {
  readonly status: number;
  readonly body: ErrorBody & Partial<RunActionsBody>;
}

describe("a request that a board forwards to a process", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  /** A process with an ended run `r1`, whose answers are those of the test. */
  async function process(
    limits: DashboardParts["limits"] = {},
  ): Promise<{ readonly url: string; readonly process: SocketClient }> {
    const { url } = await boards.listening({ users: USERS }, { limits });
    const headers = { authorization: "Bearer token of the worker" };
    const client = new SocketClient(`${url}ws?role=reporter&to=`, undefined, { headers });
    boards.later(() => client.close());
    await new Promise((resolve) => client.socket.once("open", resolve));
    client.send({ type: "report", protocol: 1, process: "w1", instance: "a" });
    await client.frame("reported");
    const at = "2026-01-01T00:00:00.000Z";
    const started = { runId: "r1", workflow: "SEQUENTIAL", totalTasks: 0, startedAt: at };
    const events = [
      { n: 0, at, type: "ensemble_started", ...started },
      { n: 1, at, type: "ensemble_completed", exitReason: "COMPLETED" },
    ];
    client.send({ type: "events", runId: "r1", to: 1, events });
    for (let status = 0; status !== 200;) ({ status } = await ask(url, RUN, { headers: HEADERS }));
    return { url, process: client };
  }

  async function got(url: string, path: string, body?: object): Promise<Got> {
    const sent = body && { method: "POST", body: JSON.stringify(body) };
    const { status, text } = await ask(url, path, { headers: HEADERS, ...sent });
    return { status, body: JSON.parse(text) as Got["body"] }; // the route's, or an error
  }

  /** Answers the next request with these fields, and returns the request. */
  async function answer(client: SocketClient, fields: object): Promise<Frame> {
    const request = await client.frame("request");
    client.frames.splice(client.frames.indexOf(request), 1);
    client.send({ type: "answer", id: request["id"], ...fields });
    return request;
  }

  it("has the ids and the name of the process, and the answer has those of the board", async () => {
    const { url, process: client } = await process();
    const forked = got(url, `${RUN}/fork`, { from: "write" });
    const body = JSON.stringify({ runId: "r2", forkedFrom: "r1" });
    const request = await answer(client, { status: 201, body });
    expect(request).to.deep.include({
      method: "POST",
      path: "/api/runs/r1/fork",
      body: { from: "write" },
      user: { name: "anna", role: "operator" },
    });
    expect(await forked).to.deep.equal({
      status: 201,
      body: { runId: "w1/r2", forkedFrom: "w1/r1" },
    });
    const again = got(url, `${RUN}/again`, { answersFrom: "w1/r1" });
    const asked = await answer(client, { status: 409, body: '{"error":"NOT_REPLAYABLE"}' });
    expect(asked["body"]).to.deep.equal({ answersFrom: "r1" });
    expect((await again).status).to.equal(409);
  });

  it("is refused with the refusal of the process, and for an invalid answer", async () => {
    const { url, process: client } = await process();
    for (const [fields, status, error] of [
      [
        { status: 404, body: '{"error":"TRACE_NOT_FOUND","message":"none"}' },
        404,
        "TRACE_NOT_FOUND",
      ],
      [{ status: 404, body: "not JSON" }, 502, "PROCESS_FAILED"],
      [{ status: 404, body: "[1]" }, 502, "PROCESS_FAILED"],
      [{ status: 99, body: '{"error":"X"}' }, 502, "X"],
    ] as const) {
      const trace = got(url, `${RUN}/trace`);
      await answer(client, fields);
      const refused = await trace;
      expect([refused.status, refused.body.error]).to.deep.equal([status, error]);
    }
    const cancelled = got(url, `${RUN}/cancel`, {});
    await answer(client, { status: 202, body: "not JSON" });
    expect((await cancelled).body.error).to.equal("PROCESS_FAILED");
  });

  it("adds the fields of the process to the answer of the board", async () => {
    const { url, process: client } = await process();
    const both = got(url, `${RUN}/actions`);
    const there = { runId: "r1", actions: ["fork", "remove"], answers: ["trace"], doubts: [] };
    await answer(client, { status: 200, body: JSON.stringify(there) });
    const { body } = await both;
    expect(body.actions).to.have.members(["fork", "export", "baseline", "remove"]);
    expect(body).to.deep.include({ runId: "w1/r1", answers: ["trace"] });
    const alone = got(url, `${RUN}/actions`);
    await answer(client, { status: 503, body: "{}" });
    expect((await alone).body.actions).to.have.members(["export", "baseline", "remove"]);
    expect((await got(url, "/api/runs/w1%2Fnone/actions")).status).to.equal(404);
  });

  it("waits until its time limit only, and ignores a late answer", async () => {
    const { url, process: client } = await process({ processAnswerMs: 20 });
    const late = await got(url, `${RUN}/cancel`, {});
    expect([late.status, late.body.error]).to.deep.equal([504, "PROCESS_SILENT"]);
    await answer(client, { status: 202, body: '{"runId":"r1"}' });
    expect((await got(url, RUN)).status).to.equal(200);
  });

  it("is refused while the process has as many open requests as allowed", async () => {
    const { url } = await process();
    const open = Array.from({ length: 101 }, () => got(url, `${RUN}/cancel`, {}));
    const first = await Promise.race(open);
    expect([first.status, first.body.error]).to.deep.equal([503, "PROCESS_BUSY"]);
    await boards.end(); // the process disconnects, and its requests end
    const rest = await Promise.allSettled(open);
    expect(rest).to.have.lengthOf(101);
  });

  it("ends when the process disconnects", async () => {
    const { url, process: client } = await process();
    const cancelled = got(url, `${RUN}/cancel`, {});
    await client.frame("request");
    await client.close();
    const { status, body } = await cancelled;
    expect([status, body.error]).to.deep.equal([503, "PROCESS_AWAY"]);
  });
});
