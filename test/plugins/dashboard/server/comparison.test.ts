import { join } from "node:path";
import { Ensemble, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type {
  CompareBody,
  ErrorBody,
  RunBaselineBody,
  RunListBody,
  SearchBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Dashboard } from "../../../../src/plugins/dashboard/dashboard.js";
import type { DashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage, SocketClient } from "./client.js";

/** Runs a team of two tasks, whose second output is given. Returns the id of the run. */
async function runTeam(boards: Boards, board: Dashboard, output: string): Promise<string> {
  const team = new Ensemble({
    name: "team",
    kernel: boards.kernel(board),
    model: new ScriptedModel(["The swift is a bird", output]),
    tasks: [
      new Task({ name: "find", description: "Find a bird" }),
      new Task({ name: "tell", description: "Tell of {topic}" }),
    ],
  });
  return (await team.run({ topic: "swifts" })).runId;
}

/** The place of the runs: in memory only, or also in a store. */
const PLACES: Readonly<Record<string, () => DashboardOptions>> = {
  "in memory": () => ({}),
  "in a folder": () => ({ store: RunStore.file(join(temporaryFolder(), "runs")) }),
};

/** A store on a busy machine is waited for. */
const PATIENT = { limits: { storeMs: 30_000, closeMs: 30_000 } };

for (const [place, options] of Object.entries(PLACES))
  describe(`runs ${place} are compared`, () => {
    const boards = new Boards();
    afterEach(() => boards.end());
    const change = async (url: string, method: string, path: string): Promise<number> =>
      (await ask(url, path, { method, headers: fromPage(url), body: method === "PUT" ? "{}" : "" }))
        .status;

    it("task by task, with outputs and differences", async () => {
      const { board, url } = await boards.listening(options(), PATIENT);
      const a = await runTeam(boards, board, "It sleeps on the wing");
      const b = await runTeam(boards, board, "It never lands");
      const body = await askJson<CompareBody>(url, `/api/compare?a=${a}&b=${b}`);
      expect(body.a.runId).to.equal(a);
      expect(body.counts).to.deep.equal({ same: 1, changed: 1, added: 0, removed: 0 });
      const tell = body.tasks.find((task) => task.a?.taskId === "tell");
      expect(tell?.changes).to.deep.equal(["output"]);
      expect(tell?.b?.output).to.equal("It never lands");
      for (const path of [`/api/compare?a=${a}&b=none`, `/api/compare?a=none&b=${b}`])
        expect((await askJson<ErrorBody>(url, path)).error).to.equal("RUN_NOT_FOUND");
      for (const path of [`/api/compare?a=${a}`, "/api/compare", `/api/compare?a=&b=${b}`])
        expect((await ask(url, path)).status, path).to.equal(400);
    });

    it("with the baseline of their ensemble, which has one at a time", async () => {
      const { board, url } = await boards.listening(options(), PATIENT);
      const a = await runTeam(boards, board, "It sleeps on the wing");
      const b = await runTeam(boards, board, "It never lands");
      const baselines = async (): Promise<readonly string[]> =>
        (await askJson<RunListBody>(url, "/api/runs")).runs.flatMap(({ runId, baseline }) =>
          baseline === true ? [runId] : [],
        );
      expect(await askJson<RunBaselineBody>(url, `/api/runs/${b}/baseline`)).to.deep.equal({});
      expect(await change(url, "PUT", `/api/runs/${a}/baseline`)).to.equal(204);
      expect(await baselines()).to.deep.equal([a]);
      const since = await askJson<RunBaselineBody>(url, `/api/runs/${b}/baseline`);
      expect(since.baseline).to.include({ runId: a, baseline: true });
      expect(since.counts).to.deep.equal({ same: 1, changed: 1, added: 0, removed: 0 });
      const own = await askJson<RunBaselineBody>(url, `/api/runs/${a}/baseline`);
      expect(own).to.not.have.property("counts");
      expect(await change(url, "PUT", `/api/runs/${b}/baseline`)).to.equal(204);
      expect(await baselines()).to.deep.equal([b]);
      expect(await change(url, "DELETE", `/api/runs/${b}/baseline`)).to.equal(204);
      expect(await baselines()).to.deep.equal([]);
      expect(await change(url, "PUT", "/api/runs/none/baseline")).to.equal(404);
    });

    it("until they are removed, with a message to open pages", async () => {
      const { board, url } = await boards.listening(options(), PATIENT);
      const runId = await runTeam(boards, board, "It never lands");
      const page = new SocketClient(url);
      boards.later(() => page.close());
      await page.frame("hello");
      expect(await change(url, "DELETE", `/api/runs/${runId}`)).to.equal(204);
      await page.frame(({ removed }) => Array.isArray(removed) && removed.includes(runId));
      expect((await askJson<RunListBody>(url, "/api/runs")).total).to.equal(0);
      expect(await change(url, "DELETE", `/api/runs/${runId}`)).to.equal(404);
      const audit = await askJson<{ entries: readonly object[] }>(url, "/api/audit");
      expect(audit.entries[0]).to.include({ action: "remove", subject: runId, user: "local" });
    });

    it("by a search text", async () => {
      const { board, url } = await boards.listening(options(), PATIENT);
      const runId = await runTeam(boards, board, `${"far ".repeat(50)}It NEVER\nlands (ever)`);
      const search = (q: string, run = runId): Promise<SearchBody> =>
        askJson(url, `/api/search?q=${encodeURIComponent(q)}&run=${run}`);
      const { hits, more } = await search("never\nlands (ever");
      expect(more).to.equal(false);
      expect(hits.map(({ where, taskId }) => `${taskId ?? ""} ${where}`)).to.deep.equal([
        "tell answer",
        "tell output",
      ]);
      const [{ excerpt, from, to } = { excerpt: "", from: 0, to: 0 }] = hits;
      expect(excerpt.slice(from, to)).to.equal("NEVER lands (ever");
      expect(excerpt).to.match(/^…/);
      expect((await search("swifts")).hits.map(({ where }) => where)).to.include.members([
        "task",
        "user-prompt",
      ]);
      expect((await search("nobody has this")).hits).to.deep.equal([]);
      expect(await search("bird", "none")).to.include({ error: "RUN_NOT_FOUND" });
      for (const q of ["", "%20", "x".repeat(201)])
        expect((await ask(url, `/api/search?q=${q}&run=${runId}`)).status).to.equal(400);
    });
  });

describe("texts of all runs", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  for (const [place, options] of Object.entries(PLACES))
    it(`are searched in the newest runs first, at most five in each, ${place}`, async () => {
      const { board, url } = await boards.listening(options(), PATIENT);
      const a = await runTeam(boards, board, "It sleeps on the wing");
      const b = await runTeam(boards, board, "It never lands");
      const search = (query: string): Promise<SearchBody> => askJson(url, `/api/search?${query}`);
      const places = async (query: string): Promise<readonly string[]> =>
        (await search(query)).hits.map((hit) => `${hit.runId} ${hit.taskId} ${hit.where}`);
      expect(await places("q=never%20lands")).to.deep.equal([
        `${b} tell answer`,
        `${b} tell output`,
      ]);
      expect(await places("q=FIND&limit=1")).to.include.members([
        `${a} find name`,
        `${b} find name`,
      ]);
      const all = await search("q=i");
      expect(all.more).to.equal(true);
      expect(all.hits.map(({ runId }) => runId)).to.deep.equal([b, b, b, b, b, a, a, a, a, a]);
      expect(await places("q=lands&ensemble=other")).to.deep.equal([]);
      expect((await ask(url, "/api/search?q=x&state=broken")).status).to.equal(400);
      expect((await ask(url, "/api/search?q=x&run=")).status).to.equal(400);
    });
});

describe("a run that has not ended", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("can't be removed or be a baseline", async () => {
    const { board, url } = await boards.listening();
    let go = (): void => undefined;
    const held = new Promise<string>((resolve) => (go = () => resolve("done")));
    const run = boards.ensemble(boards.kernel(board), () => held).stream();
    for await (const { type } of run.events) if (type === "task_started") break;
    for (const [method, path] of [
      ["DELETE", `/api/runs/${run.id}`],
      ["PUT", `/api/runs/${run.id}/baseline`],
    ] as const) {
      const o = { method, headers: fromPage(url), body: method === "PUT" ? "{}" : "" };
      const { status, text } = await ask(url, path, o);
      expect([status, (JSON.parse(text) as ErrorBody).error], path).to.deep.equal([
        409,
        "RUN_NOT_ENDED",
      ]);
    }
    go();
    await run.output;
  });

  it("stays in memory as a baseline when other runs are dropped", async () => {
    const { board, url } = await boards.listening();
    const kernel = boards.kernel(board);
    const { runId } = await boards.ensemble(kernel).run();
    await ask(url, `/api/runs/${runId}/baseline`, {
      method: "PUT",
      headers: fromPage(url),
      body: "{}",
    });
    for (let i = 0; i < 101; i++) await boards.ensemble(kernel).run();
    expect((await ask(url, `/api/runs/${runId}`)).status).to.equal(200);
    expect((await askJson<RunListBody>(url, "/api/runs?limit=200")).total).to.equal(100);
  });
});

describe("a search of a long run", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("ends at 200 places and reports that there are more", async () => {
    const { board, url } = await boards.listening();
    const tasks = Array.from(
      { length: 201 },
      (_, i) => new Task({ name: `t${i}`, description: "Look", handler: () => "found it" }),
    );
    const team = new Ensemble({ kernel: boards.kernel(board), tasks });
    const { runId } = await team.run();
    const body = await askJson<SearchBody>(url, `/api/search?q=found%20it&run=${runId}`);
    expect([body.hits.length, body.more]).to.deep.equal([200, true]);
  });
});

describe("a store of runs that fails", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("is answered with 503 and its reason, on every route that reads it", async () => {
    const fail = (): Promise<never> => Promise.reject(new Error("the disk is away"));
    const store = { append: fail, put: fail, list: fail, get: fail, read: fail, remove: fail };
    const { url } = await boards.listening({ store });
    for (const path of ["/api/runs", "/api/runs/r", "/api/runs/r/log", "/api/compare?a=r&b=s"]) {
      const { status, text } = await ask(url, path);
      const body = JSON.parse(text) as ErrorBody;
      expect([status, body.error], path).to.deep.equal([503, "STORE_UNAVAILABLE"]);
      expect(body.message).to.include("the disk is away");
    }
  });

  it("is answered with 409 if it is read-only", async () => {
    const folder = temporaryFolder();
    const first = await boards.listening({ store: RunStore.file(folder) });
    const runId = await runTeam(boards, first.board, "It never lands");
    await first.board.close();
    const { url } = await boards.listening({ store: RunStore.readOnly([folder]) });
    for (const [method, path] of [
      ["DELETE", `/api/runs/${runId}`],
      ["PUT", `/api/runs/${runId}/baseline`],
    ] as const) {
      const o = { method, headers: fromPage(url), body: method === "PUT" ? "{}" : "" };
      const { status, text } = await ask(url, path, o);
      expect([status, (JSON.parse(text) as ErrorBody).error], path).to.deep.equal([
        409,
        "READ_ONLY",
      ]);
    }
  });
});
