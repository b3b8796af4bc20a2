import { join } from "node:path";
import { Ensemble, Kernel, Task, ValidationError } from "agentensemble";
import { recordTo } from "agentensemble/replay";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import type { Explanation } from "../../../../src/contracts/ensemble-options.js";
import type { Plugin } from "../../../../src/contracts/plugin.js";
import type {
  EnsembleBody,
  EnsembleListBody,
  RunAcceptedBody,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import type {
  ErrorBody,
  RunActionsBody,
  RunBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Dashboard } from "../../../../src/plugins/dashboard/dashboard.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage, SocketClient } from "./client.js";

const KEY = "sk-proj-0123456789abcdefghijklmnopqrstuv";

/** A team that writes about a topic. */
function team(
  boards: Boards,
  board: Dashboard,
  model: ScriptedModel,
  more: { readonly plugins?: readonly Plugin[] } = {},
): Ensemble {
  return new Ensemble({
    name: "writers",
    kernel: boards.kernel(board, ...(more.plugins ?? [])),
    model,
    captureMode: "FULL",
    inputs: { language: "English" },
    tasks: [new Task({ name: "write", description: "Write about {topic} in {language}" })],
  });
}

/** An unknown option. */
const UNKNOWN: object = { colour: "red" };

interface Sent<T> {
  readonly status: number;
  readonly body: T;
}

async function post<T = ErrorBody>(
  url: string,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent<T>> {
  const { status, text } = await ask(url, path, {
    method: "POST",
    headers: { ...fromPage(url), ...headers },
    body: JSON.stringify(body),
  });
  return { status, body: JSON.parse(text) as T }; // the caller names its form
}

/** Waits until a run has ended, and returns it. */
async function ended(boards: Boards, url: string, runId: string): Promise<RunBody> {
  const page = new SocketClient(url);
  boards.later(() => page.close());
  await page.frame("hello");
  for (;;) {
    const body = await askJson<RunBody>(url, `/api/runs/${runId}`);
    const state = body.summary?.state;
    if (state !== undefined && state !== "running" && state !== "waiting") return body;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("the ensembles of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are listed with a form of their template variables, or of their inputType", async () => {
    const { board, url } = await boards.listening();
    const typed = new Ensemble({
      name: "typed",
      kernel: boards.kernel(board),
      inputType: z.object({ count: z.number().int(), password: z.string() }),
      tasks: [new Task({ description: "Count", handler: () => "1" })],
    });
    board.register("writers", team(boards, board, new ScriptedModel([])), { title: "Writers" });
    board.register("typed", typed);
    const { ensembles } = await askJson<EnsembleListBody>(url, "/api/ensembles");
    expect(ensembles[0]).to.deep.include({
      name: "writers",
      title: "Writers",
      tasks: 1,
      filled: { language: "English" },
      answers: [],
    });
    expect(ensembles[0]?.inputs).to.deep.include({ required: ["topic"] });
    expect(ensembles[1]?.inputs).to.have.nested.property("properties.password.type", "string");
    const one = await askJson<EnsembleBody>(url, "/api/ensembles/writers");
    expect(one.dag.tasks.map(({ id }) => id)).to.deep.equal(["write"]);
    expect(await askJson(url, "/api/ensembles/none")).to.include({ error: "ENSEMBLE_NOT_FOUND" });
  });

  it("are registered under their own names, once, with options that have an effect", () => {
    const board = boards.board({ port: false });
    const writers = team(boards, board, new ScriptedModel([]));
    const nameless = new Ensemble({ tasks: [new Task({ description: "x", handler: () => "" })] });
    board.register("nameless", nameless);
    for (const [name, runnable, options, pattern] of [
      ["other", writers, {}, /differs from the name/],
      ["nameless", nameless, {}, /already/],
      ["has space", nameless, {}, /letters/],
      ["x", {}, {}, /ensemble/],
      ["x", nameless, UNKNOWN, /colour/],
      ["x", nameless, { title: " " }, /title/],
      ["x", nameless, { recording: "file" }, /without create/],
    ] as const)
      expect(
        () => board.register(name, runnable as typeof writers, options),
        String(pattern),
      ).to.throw(ValidationError, pattern);
  });

  it("receive the dashboard's plugin if their kernel has not booted, and are refused otherwise", async () => {
    const { board, url } = await boards.listening();
    const fresh = new Ensemble({
      name: "fresh",
      tasks: [new Task({ description: "x", handler: () => "" })],
    });
    boards.later(() => fresh.dispose());
    board.register("fresh", fresh);
    const { runId } = await fresh.run();
    expect((await ask(url, `/api/runs/${runId}`)).status).to.equal(200);
    const kernel = new Kernel();
    boards.later(() => kernel.dispose());
    const booted = boards.ensemble(kernel);
    await booted.run();
    expect(() => board.register("team", booted)).to.throw(ValidationError, /booted/);
    expect((await askJson<EnsembleListBody>(url, "/api/ensembles")).ensembles).to.have.lengthOf(1);
  });

  it("are explained without a model call", async () => {
    const { board, url } = await boards.listening();
    const model = new ScriptedModel([]);
    board.register("writers", team(boards, board, model));
    const path = "/api/ensembles/writers/explain";
    const { status, body } = await post<Explanation>(url, path, {
      inputs: { topic: `swifts ${KEY}` },
    });
    expect(status).to.equal(200);
    expect(body.tasks[0]?.userPrompt).to.include("swifts").and.not.include(KEY);
    expect(model.requests).to.have.lengthOf(0);
    const refused = await post(url, path, { inputs: {} });
    expect([refused.status, refused.body.error]).to.deep.equal([422, "INPUTS_INVALID"]);
    expect(refused.body["fields"]).to.deep.equal({ topic: "is missing" });
    expect((await post(url, path, { inputs: [] })).status).to.equal(400);
    expect((await post(url, path, { topic: "swifts" })).status).to.equal(400);
    expect((await post(url, "/api/ensembles/none/explain", {})).status).to.equal(404);
  });

  it("are explained without texts with contents: false", async () => {
    const { board, url } = await boards.listening({ contents: false });
    board.register("writers", team(boards, board, new ScriptedModel([])));
    const { body } = await post<Explanation>(url, "/api/ensembles/writers/explain", {
      inputs: { topic: "swifts" },
    });
    expect(body.tasks[0]).to.deep.include({ taskId: "write", userPrompt: "", description: "" });
    expect(JSON.stringify(await askJson(url, "/api/ensembles/writers"))).to.not.include(
      "Write about",
    );
  });
});

describe("a run that is started on a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("is accepted, shown on the board, and recorded in the audit", async () => {
    const { board, url } = await boards.listening();
    board.register("writers", team(boards, board, new ScriptedModel(["About swifts"])));
    const { status, body } = await post<RunAcceptedBody>(url, "/api/runs", {
      inputs: { topic: "swifts" },
      tags: { customer: "acme" },
      timeoutMs: 60_000,
    });
    expect(status).to.equal(202);
    expect(body).to.include({ status: "ACCEPTED", ensemble: "writers", tasks: 1 });
    const { summary } = await ended(boards, url, body.runId);
    expect(summary).to.deep.include({ state: "done", tags: { customer: "acme" } });
    const audit = await askJson<{ entries: readonly object[] }>(url, "/api/audit");
    expect(audit.entries[0]).to.include({ action: "start", subject: body.runId, user: "local" });
  });

  it("is refused for invalid fields, each with its reason", async () => {
    const { board, url } = await boards.listening();
    const empty = await post(url, "/api/runs", {});
    expect([empty.status, empty.body.error]).to.deep.equal([503, "NOT_CONFIGURED"]);
    const typed = new Ensemble({
      name: "typed",
      kernel: boards.kernel(board),
      inputType: z.object({ count: z.number(), deep: z.object({ name: z.string() }) }),
      tasks: [new Task({ description: "Count", handler: () => "1" })],
    });
    board.register("typed", typed);
    const refused = await post(url, "/api/runs", { inputs: { count: "many", deep: {} } });
    expect([refused.status, refused.body.error]).to.deep.equal([422, "INPUTS_INVALID"]);
    expect(refused.body["fields"]).to.have.all.keys("count", "deep.name");
    for (const [body, status] of [
      [{ ensemble: "none" }, 404],
      [{ ensemble: 7 }, 400],
      [{ inputs: "text" }, 400],
      [{ tags: { a: 1 } }, 400],
      [{ timeoutMs: 0 }, 400],
      [{ timeoutMs: "1" }, 400],
      [{ captureMode: 3 }, 400],
      [{ color: "red" }, 400],
    ] as const)
      expect((await post(url, "/api/runs", body)).status, JSON.stringify(body)).to.equal(status);
    board.register("writers", team(boards, board, new ScriptedModel([])));
    expect((await post(url, "/api/runs", { inputs: {} })).status, "which one?").to.equal(400);
  });

  it("is refused as not runnable for a problem of the ensemble itself", async () => {
    const { board, url } = await boards.listening();
    const broken = new Ensemble({
      name: "broken",
      kernel: boards.kernel(board),
      tasks: [new Task({ description: "Nobody does this" })],
    });
    board.register("broken", broken);
    const { status, body } = await post(url, "/api/runs", {});
    expect([status, body.error]).to.deep.equal([422, "NOT_RUNNABLE"]);
  });

  it("is returned again for a repetition with the same key, and refused with another body", async () => {
    const { board, url } = await boards.listening();
    board.register("writers", team(boards, board, new ScriptedModel(["One", "Two"])));
    const key = { "idempotency-key": "order 1" };
    const first = { inputs: { topic: "swifts" } };
    const [a, b] = await Promise.all([
      post<RunAcceptedBody>(url, "/api/runs", first, key),
      post<RunAcceptedBody>(url, "/api/runs", first, key),
    ]);
    expect(a.body.runId).to.equal(b.body.runId);
    const { entries } = await askJson<{ entries: readonly object[] }>(url, "/api/audit");
    expect(entries, "one line for one run").to.have.lengthOf(1);
    const other = await post(url, "/api/runs", { inputs: { topic: "rooks" } }, key);
    expect([other.status, other.body.error]).to.deep.equal([409, "IDEMPOTENCY_CONFLICT"]);
    expect((await post(url, "/api/runs", first, { "idempotency-key": " " })).status).to.equal(400);
    const refused = await post(url, "/api/runs", {}, { "idempotency-key": "order 2" });
    expect(refused.status).to.equal(422);
    const again = await post(url, "/api/runs", first, { "idempotency-key": "order 2" });
    expect(again.status, "a refused key may be used again").to.equal(202);
  });

  it("is refused at the limit of concurrent runs, and accepted after a run has ended", async () => {
    const { board, url } = await boards.listening({ maxConcurrentRuns: 1 });
    let go = (): void => undefined;
    const held = new Promise<string>((resolve) => (go = () => resolve("done")));
    board.register(
      "team",
      boards.ensemble(boards.kernel(board), () => held),
    );
    const first = await post<RunAcceptedBody>(url, "/api/runs", {});
    expect(first.status).to.equal(202);
    const second = await post(url, "/api/runs", {});
    expect([second.status, second.body.error]).to.deep.equal([429, "CONCURRENCY_LIMIT"]);
    go();
    await ended(boards, url, first.body.runId);
    for (;;) if ((await post(url, "/api/runs", {})).status === 202) break;
  });
});

describe("a run that is repeated on a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("uses the same or changed inputs, and new answers", async () => {
    const { board, url } = await boards.listening();
    const model = new ScriptedModel(["One", "Two", "Three"]);
    const writers = team(boards, board, model);
    const { runId } = await writers.run({ topic: `swifts ${KEY}` }, { tags: { customer: "acme" } });
    const early = await post(url, `/api/runs/${runId}/again`, {});
    expect([early.status, early.body.error]).to.deep.equal([409, "NOT_REPLAYABLE"]);
    board.register("writers", writers);
    const same = await post<RunAcceptedBody>(url, `/api/runs/${runId}/again`, {});
    expect(same.status).to.equal(202);
    const { summary } = await ended(boards, url, same.body.runId);
    expect(summary).to.deep.include({ state: "done", tags: { customer: "acme" } });
    expect(JSON.stringify(model.requests[1]), "the key is an input too").to.include(KEY);
    const other = await post<RunAcceptedBody>(url, `/api/runs/${runId}/again`, {
      inputs: { topic: "rooks" },
    });
    await ended(boards, url, other.body.runId);
    expect(JSON.stringify(model.requests[2])).to.include("rooks");
  });

  it("has the answers of a trace or a recording, without costs", async () => {
    const { board, url } = await boards.listening();
    const file = join(temporaryFolder(), "recording.jsonl");
    const model = new ScriptedModel(["One"]);
    const recorded = team(boards, board, model, { plugins: [recordTo(file)] });
    const { runId } = await recorded.run({ topic: "swifts" });
    board.register("writers", recorded, {
      recording: file,
      create: ({ plugins }) =>
        new Ensemble({
          name: "writers",
          model,
          inputs: { language: "English" },
          plugins,
          tasks: [new Task({ name: "write", description: "Write about {topic} in {language}" })],
        }),
    });
    const actions = await askJson<RunActionsBody>(url, `/api/runs/${runId}/actions`);
    expect(actions.actions).to.have.members(["again", "replay", "baseline", "remove", "export"]);
    expect(actions.answers).to.deep.equal(["trace", "recording"]);
    for (const answersFrom of [runId, "recording"])
      for (const [path, inputs] of [
        [`/api/runs/${runId}/again`, undefined],
        ["/api/runs", { topic: "swifts" }],
      ] as const) {
        const { status, body } = await post<RunAcceptedBody>(url, path, { answersFrom, inputs });
        expect(status, answersFrom).to.equal(202);
        expect((await ended(boards, url, body.runId)).summary.state, answersFrom).to.equal("done");
      }
    const changed = await post<RunAcceptedBody>(url, `/api/runs/${runId}/again`, {
      answersFrom: runId,
      inputs: { topic: "rooks" },
    });
    expect((await ended(boards, url, changed.body.runId)).summary.state).to.equal("failed");
    expect(model.requests, "no model was called again").to.have.lengthOf(1);
    const { entries } = await askJson<{ entries: readonly object[] }>(url, "/api/audit");
    expect(entries[0]).to.include({ action: "replay" });
  });

  it("of an earlier program is replayed from its trace or the recording, and calls the model for missing answers", async () => {
    const file = join(temporaryFolder(), "recording.jsonl");
    const folder = temporaryFolder();
    const store = RunStore.file(folder);
    const first = boards.board({ port: false, store });
    const recorded = team(boards, first, new ScriptedModel(["One"]), { plugins: [recordTo(file)] });
    const { runId } = await recorded.run({ topic: "swifts" });
    await first.close();

    const again = RunStore.file(folder);
    const { board, url } = await boards.listening({ store: again });
    const model = new ScriptedModel(["Two", "Three"]);
    board.register("writers", team(boards, board, model), {
      recording: file,
      create: ({ plugins }) =>
        new Ensemble({
          name: "writers",
          model,
          inputs: { language: "English" },
          plugins,
          tasks: [new Task({ name: "write", description: "Write about {topic} in {language}" })],
        }),
    });
    const { answers } = await askJson<RunActionsBody>(url, `/api/runs/${runId}/actions`);
    expect(answers).to.deep.equal(["trace", "recording"]);
    const replay = async (body: object): Promise<RunBody> => {
      const o = { answersFrom, ...body };
      const accepted = await post<RunAcceptedBody>(url, `/api/runs/${runId}/again`, o);
      expect(accepted.status).to.equal(202);
      return ended(boards, url, accepted.body.runId);
    };
    let answersFrom = runId;
    for (const [index, from] of [runId, "recording"].entries()) {
      answersFrom = from;
      expect((await replay({})).summary.state, from).to.equal("done");
      expect((await replay({ inputs: { topic: "rooks" } })).summary.state).to.equal("failed");
      expect(model.requests).to.have.lengthOf(index);
      const live = await replay({ inputs: { topic: "rooks" }, onMiss: "live" });
      expect([live.summary.state, model.requests.length]).to.deep.equal(["done", index + 1]);
    }
    const trace = await askJson<{ readonly captureMode: string }>(url, `/api/runs/${runId}/trace`);
    expect(trace.captureMode).to.equal("FULL");
  });

  it("is refused if the requirements of a replay are not met", async () => {
    const { board, url } = await boards.listening();
    const writers = team(boards, board, new ScriptedModel(["One"]));
    const { runId } = await writers.run({ topic: "swifts" });
    board.register("writers", writers);
    const path = `/api/runs/${runId}/again`;
    for (const [body, status] of [
      [{ answersFrom: "recording" }, 409],
      [{ answersFrom: runId }, 409],
      [{ answersFrom: "none" }, 409],
      [{ answersFrom: 1 }, 400],
      [{ onMiss: "live" }, 400],
      [{ onMiss: "maybe", answersFrom: runId }, 400],
      [{ inputs: null }, 400],
    ] as const)
      for (const route of [path, "/api/runs"])
        expect((await post(url, route, body)).status, JSON.stringify(body)).to.equal(status);
    expect((await post(url, "/api/runs/none/again", {})).status).to.equal(404);
    const { actions } = await askJson<RunActionsBody>(url, `/api/runs/${runId}/actions`);
    expect(actions).to.include("again").and.not.include("replay");
  });
});

describe("a run that can't be started", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("frees its slot if it throws immediately", async () => {
    const { board, url } = await boards.listening({ maxConcurrentRuns: 1 });
    const real = team(boards, board, new ScriptedModel(["One"]));
    board.register("writers", {
      run: () => {
        throw new Error("broken");
      },
      explain: (inputs) => real.explain(inputs),
      toDag: () => real.toDag(),
    });
    for (let i = 0; i < 3; i++) {
      const { status } = await post(url, "/api/runs", { inputs: { topic: "swifts" } });
      expect(status).to.equal(202);
    }
  });
});

describe("the actions of a user on a run", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("depend on the role, and on the state of the run", async () => {
    const users = (["viewer", "operator"] as const).map((role) => ({
      name: role,
      role,
      token: `token of the ${role}`,
    }));
    const { board, url } = await boards.listening({ users });
    let go = (): void => undefined;
    const held = new Promise<string>((resolve) => (go = () => resolve("done")));
    const run = boards.ensemble(boards.kernel(board), () => held).stream();
    for await (const { type } of run.events) if (type === "task_started") break;
    const actionsOf = async (role: string): Promise<readonly string[]> => {
      const headers = { authorization: `Bearer token of the ${role}` };
      return (await askJson<RunActionsBody>(url, `/api/runs/${run.id}/actions`, { headers }))
        .actions;
    };
    expect(await actionsOf("operator")).to.have.members(["cancel", "export"]);
    expect(await actionsOf("viewer")).to.deep.equal(["export"]);
    go();
    await run.output;
    expect(await actionsOf("operator")).to.have.members(["export", "baseline", "remove"]);
    const headers = { authorization: "Bearer token of the viewer" };
    expect(await askJson(url, "/api/runs/none/actions", { headers })).to.include({
      error: "RUN_NOT_FOUND",
    });
  });
});
