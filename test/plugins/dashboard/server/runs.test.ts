import { expect } from "chai";
import type {
  EntriesBody,
  RunBody,
  RunListBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ask, askJson, fromPage, SocketClient } from "./client.js";
import { Boards } from "./boards.js";

describe("the runs of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are listed, with their state and their log", async () => {
    const { board, url } = await boards.listening();
    const { runId } = await boards.ensemble(boards.kernel(board)).run();
    const { runs, total } = await askJson<RunListBody>(url, "/api/runs");
    expect(total).to.equal(1);
    expect(runs[0]).to.include({ runId, ensemble: "team", state: "done" });
    const { snapshot, summary } = await askJson<RunBody>(url, `/api/runs/${runId}`);
    expect(summary).to.deep.equal(runs[0]);
    expect(snapshot.n).to.equal(summary.n);
    const { entries } = await askJson<EntriesBody>(url, `/api/runs/${runId}/log`);
    expect(entries.map(({ n }) => n)).to.deep.equal(Array.from(entries.keys()));
    expect(entries.at(-1)?.type).to.equal("ensemble_completed");
  });

  it("arrive over the socket without a gap while they are in progress", async () => {
    const { board, url } = await boards.listening();
    const page = new SocketClient(url);
    boards.later(() => page.close());
    await page.frame("hello");
    const run = boards.ensemble(boards.kernel(board)).stream();
    await page.frame("runs");
    page.send({ type: "subscribe", runId: run.id });
    const last = await page.frame(
      ({ type, events }) =>
        type === "events" &&
        (events as readonly { readonly type: string }[]).at(-1)?.type === "ensemble_completed",
    );
    const numbers = page.frames
      .filter(({ type }) => type === "events")
      .flatMap(({ events }) => (events as readonly { readonly n: number }[]).map(({ n }) => n));
    expect(numbers).to.deep.equal(Array.from({ length: Number(last["to"]) + 1 }, (_, n) => n));
  });

  it("are cancelled by operators, also if code started them", async () => {
    const { board, url } = await boards.listening();
    const run = boards.ensemble(boards.kernel(board), () => new Promise(() => undefined)).stream();
    run.output.catch(() => undefined);
    for await (const { type } of run.events) if (type === "task_started") break;
    const path = `/api/runs/${run.id}/cancel`;
    const o = { method: "POST", headers: fromPage(url), body: '{"reason":"too dear"}' };
    expect((await ask(url, path, o)).status).to.equal(202);
    const error: unknown = await run.output.catch((e: unknown) => e);
    expect(error).to.have.property("message").that.includes("too dear");
    expect((await ask(url, path, o)).status).to.equal(409);
  });
});
