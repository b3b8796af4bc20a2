import { Ensemble, JournalError, Task } from "agentensemble";
import { durable, Journal, type DurablePlugin } from "agentensemble/durability";
import { expect } from "chai";
import type { Journal as JournalContract } from "../../../../src/contracts/journal.js";
import type {
  ErrorBody,
  RunActionsBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Dashboard } from "../../../../src/plugins/dashboard/dashboard.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage } from "./client.js";

/** A team whose second task fails until it is repaired. */
class FailingTeam {
  readonly journal: JournalContract = Journal.inMemory();
  readonly plugin: DurablePlugin = durable({ journal: this.journal });
  readonly ensemble: Ensemble;
  isBroken = true;
  firstCalls = 0;

  constructor(boards: Boards, board: Dashboard) {
    this.ensemble = new Ensemble({
      name: "team",
      kernel: boards.kernel(board, this.plugin),
      tasks: [
        new Task({ name: "first", description: "Begin", handler: () => `${++this.firstCalls}` }),
        new Task({
          name: "second",
          description: "End",
          handler: () => {
            if (this.isBroken) throw new Error("broken");
            return "whole";
          },
        }),
      ],
    });
  }
}

describe("a durable run on a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  async function opened(): Promise<{
    readonly team: FailingTeam;
    readonly actions: (runId: string) => Promise<RunActionsBody>;
    readonly post: (path: string, body: object) => Promise<{ status: number; body: ErrorBody }>;
  }> {
    const { board, url } = await boards.listening();
    const team = new FailingTeam(boards, board);
    return {
      team,
      actions: (runId) => askJson(url, `/api/runs/${runId}/actions`),
      post: async (path, body) => {
        const o = { method: "POST", headers: fromPage(url), body: JSON.stringify(body) };
        const { status, text } = await ask(url, path, o);
        return { status, body: JSON.parse(text) as ErrorBody };
      },
    };
  }

  /** Waits until the run has this status. */
  async function untilStatus(team: FailingTeam, runId: string, status: string): Promise<void> {
    while ((await team.plugin.runs.get(runId))?.status !== status)
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  it("can be resumed without repeating finished work", async () => {
    const { team, actions, post } = await opened();
    await team.ensemble.run({}, { runId: "r1" }).catch(() => undefined);
    const before = await actions("r1");
    expect(before.actions).to.include.members(["resume", "fork"]).and.not.include("settle");
    expect(before.kept).to.deep.include({ status: "failed", finishedTasks: 1 });
    team.isBroken = false;
    const { status, body } = await post("/api/runs/r1/resume", {});
    expect(status).to.equal(202);
    expect(body).to.deep.equal({ runId: "r1", status: "ACCEPTED" });
    await untilStatus(team, "r1", "completed");
    expect(team.firstCalls).to.equal(1);
    const again = await post("/api/runs/r1/resume", {});
    expect([again.status, again.body.error]).to.deep.equal([409, "RUN_COMPLETED"]);
    expect((await post("/api/runs/r1/resume", { force: true })).status).to.equal(400);
  });

  it("is forked from a task on, under a new id", async () => {
    const { team, post } = await opened();
    team.isBroken = false;
    await team.ensemble.run({}, { runId: "r2" });
    const { status, body } = await post("/api/runs/r2/fork", { from: "first", runId: "r3" });
    expect(status).to.equal(201);
    expect(body).to.deep.equal({ runId: "r3", forkedFrom: "r2" });
    expect((await post("/api/runs/r3/resume", {})).status).to.equal(202);
    await untilStatus(team, "r3", "completed");
    expect(team.firstCalls).to.equal(2);
    for (const [more, expected] of [
      [{ from: "none" }, 400],
      [{ runId: "r3" }, 400],
      [{ from: " " }, 400],
      [{ runId: 7 }, 400],
      [{ runId: "x".repeat(201) }, 400],
    ] as const)
      expect((await post("/api/runs/r2/fork", more)).status, JSON.stringify(more)).to.equal(
        expected,
      );
  });

  it("has its calls in doubt settled, with the result or by another attempt", async () => {
    const { team, actions, post } = await opened();
    const intent = (key: string) => ({
      key,
      kind: "intent" as const,
      task: "pay@1",
      value: { idempotencyKey: key, tool: "pay" },
    });
    const start = { runId: "r4", ensemble: "team", inputs: {}, inputsHash: "h", tags: {} };
    await team.ensemble.run({}, { runId: "other" }).catch(() => undefined); // boots the kernel
    await team.journal.create(start, [intent("r4/pay#1"), intent("r4/pay#2")], "a person");
    const { doubts, actions: possible } = await actions("r4");
    expect(possible).to.include("settle");
    expect(doubts.map(({ key, task, toolName }) => [key, task, toolName])).to.deep.equal([
      ["r4/pay#1", "pay@1", "pay"],
      ["r4/pay#2", "pay@1", "pay"],
    ]);
    const done = await post("/api/runs/r4/settle", { key: "r4/pay#1", result: "paid" });
    expect(done.body).to.deep.equal({ runId: "r4", key: "r4/pay#1", status: "SETTLED" });
    expect((await post("/api/runs/r4/settle", { key: "r4/pay#2", again: true })).status).to.equal(
      200,
    );
    expect((await actions("r4")).doubts).to.deep.equal([]);
    const twice = await post("/api/runs/r4/settle", { key: "r4/pay#1", result: "paid" });
    expect([twice.status, twice.body.error]).to.deep.equal([409, "NOT_IN_DOUBT"]);
    for (const body of [
      { key: "r4/pay#1" },
      { key: "r4/pay#1", result: "x", again: true },
      { key: "r4/pay#1", again: false },
      { key: "r4/pay#1", result: 1 },
      { key: " ", result: "x" },
    ])
      expect((await post("/api/runs/r4/settle", body)).status, JSON.stringify(body)).to.equal(400);
  });

  it("is not resumed while a process executes it", async () => {
    const { team, post } = await opened();
    await team.ensemble.run({}, { runId: "other" }).catch(() => undefined); // boots the kernel
    const claim = await team.journal.claim({
      start: { runId: "r5", ensemble: "team", inputs: {}, inputsHash: "h", tags: {} },
      owner: "another process",
      leaseMs: 60_000,
      signal: new AbortController().signal,
    });
    const { status, body } = await post("/api/runs/r5/resume", {});
    expect([status, body.error]).to.deep.equal([409, "RUN_IN_USE"]);
    await team.journal.release(claim, { status: "interrupted" });
  });

  it("is not resumed if no ensemble of the program has its name", async () => {
    const { team, post } = await opened();
    await team.ensemble.run({}, { runId: "other" }).catch(() => undefined); // boots the kernel
    const start = { runId: "r6", ensemble: "gone", inputs: {}, inputsHash: "h", tags: {} };
    await team.journal.create(start, [], "a person");
    const { status, body } = await post("/api/runs/r6/resume", {});
    expect([status, body.error]).to.deep.equal([422, "NOT_RUNNABLE"]);
    expect(body.message).to.include("gone");
  });

  it("is not resumed while the journal fails", async () => {
    const { team, post } = await opened();
    await team.ensemble.run({}, { runId: "r7" }).catch(() => undefined);
    team.journal.claim = () => Promise.reject(new JournalError("the disk is gone"));
    const { status, body } = await post("/api/runs/r7/resume", {});
    expect([status, body.error]).to.deep.equal([503, "STORE_UNAVAILABLE"]);
  });

  it("is refused if no journal contains it", async () => {
    const { board, url } = await boards.listening();
    const { runId } = await boards.ensemble(boards.kernel(board)).run();
    for (const [verb, body] of [
      ["resume", {}],
      ["fork", {}],
      ["settle", { key: "k", again: true }],
    ] as const) {
      const o = { method: "POST", headers: fromPage(url), body: JSON.stringify(body) };
      const known = await ask(url, `/api/runs/${runId}/${verb}`, o);
      expect([known.status, (JSON.parse(known.text) as ErrorBody).error]).to.deep.equal([
        409,
        "NOT_DURABLE",
      ]);
      expect((await ask(url, `/api/runs/none/${verb}`, o)).status).to.equal(404);
    }
  });
});
