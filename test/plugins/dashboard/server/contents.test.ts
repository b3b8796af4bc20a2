import { request as httpRequest } from "node:http";
import { Agent, Ensemble, Review, Task, Tokens, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import type {
  BarsBody,
  EntriesBody,
  ErrorBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { DashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { Boards } from "./boards.js";
import { ChattyRun } from "./chatty-run.js";
import { ask, askJson, fromPage, SocketClient } from "./client.js";

const KEY = "sk-proj-0123456789abcdefghijklmnopqrstuv";

/**
 * A run with this word in all its texts. Returns all data that leaves the dashboard during and
 * after the run.
 */
async function everything(
  boards: Boards,
  word: string,
  o: DashboardOptions,
): Promise<readonly string[]> {
  const { board, url } = await boards.listening(o);
  const search = tool({
    name: "search",
    description: "Searches",
    input: z.object({ text: z.string() }),
    execute: () => `found ${word}`,
  });
  const run = new Ensemble({
    name: "team",
    kernel: boards.kernel(board),
    model: new ScriptedModel([
      { toolCalls: [{ name: "search", arguments: { text: word } }] },
      { chunks: ["I write ", `about ${word} here`] },
    ]),
    tasks: [
      new Task({
        name: "t",
        description: "Write about {topic}",
        expectedOutput: `Some ${word}`,
        tools: [search],
        agent: new Agent({ role: "Writer", goal: `Know ${word}`, background: word }),
        review: Review.required(`Is ${word} right?`),
      }),
      new Task({
        name: "u",
        description: "Break",
        handler: (): string => {
          throw new Error(`broken ${word}`);
        },
      }),
    ],
  }).stream({ topic: word });
  run.output.catch(() => undefined);
  const [page, viewer] = [new SocketClient(url), new SocketClient(url, [])];
  boards.later(() => page.close());
  boards.later(() => viewer.close());
  await page.frame("hello");
  page.send({ type: "subscribe", runId: run.id });
  page.send({ type: "watch", runId: run.id, tasks: ["t", "u"] });
  const { reviewId } = await viewer.frame("review_requested");
  const waiting = (await ask(url, "/api/reviews")).text;
  const body = JSON.stringify({ decision: "approve", comment: `well, ${word}` });
  await ask(url, `/api/reviews/${String(reviewId)}`, {
    method: "POST",
    headers: fromPage(url),
    body,
  });
  await run.output.catch(() => undefined);
  await viewer.frame("ensemble_completed");
  await page.frame((frame) => JSON.stringify(frame).includes("ensemble_completed"));
  const late = new SocketClient(url, []);
  boards.later(() => late.close());
  await late.frame("hello");
  const runPath = `/api/runs/${run.id}`;
  const paths = [
    ...["/api/runs", "/api/reviews", "/api/audit", runPath],
    ...["log", "log?slim=true", "tasks/t", "tasks/u", "bars", "events", "trace"].map(
      (part) => `${runPath}/${part}`,
    ),
  ];
  const answers = await Promise.all(
    paths.map(async (path) => `${path} ${(await ask(url, path)).text}`),
  );
  const frames = [page, viewer, late].map((client) => JSON.stringify(client.frames));
  return [waiting, ...answers, ...frames];
}

describe("the data that a dashboard sends", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("has the texts of a run by default", async () => {
    const texts = await everything(boards, "kingfisher", {});
    expect(texts.filter((text) => text.includes("kingfisher")).length).to.be.above(8);
  });

  it("contains names and numbers of a run, but no text, with contents: false", async () => {
    const texts = await everything(boards, "kingfisher", { contents: false, tokens: true });
    for (const text of texts) expect(text).not.to.include("kingfisher");
    expect(texts.join("")).to.include("Writer").and.include("search").and.include('"role"');
  });

  it("contains no key in inputs, prompts, arguments, results, answers, comments and errors", async () => {
    const texts = await everything(boards, KEY, { tokens: true });
    for (const text of texts) expect(text).not.to.include(KEY);
    expect(texts.join("")).to.include("[redacted]");
  });
});

describe("the data that a dashboard sends from its store", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("contains no text with contents: false, also of runs that were stored with contents", async () => {
    const store = RunStore.inMemory();
    const writing = await boards.listening({ store });
    const run = new Ensemble({
      kernel: boards.kernel(writing.board),
      tasks: [
        new Task({
          name: "u",
          description: "Write about {topic}",
          handler: (): string => {
            throw new Error("broken kingfisher");
          },
        }),
      ],
    }).stream({ topic: "kingfisher" });
    await run.output.catch(() => undefined);
    await writing.board.close();
    const textsOf = async (contents: boolean): Promise<string> => {
      const { url } = await boards.listening({ store, contents });
      const page = new SocketClient(url);
      boards.later(() => page.close());
      const paths = ["", `/${run.id}`, `/${run.id}/log`, `/${run.id}/tasks/u`, `/${run.id}/events`];
      const answers = await Promise.all(paths.map((path) => ask(url, `/api/runs${path}`)));
      for (const { status } of answers) expect(status).to.equal(200);
      return JSON.stringify([answers, await page.frame("hello")]);
    };
    expect(await textsOf(true)).to.include("broken kingfisher");
    expect(await textsOf(false)).not.to.include("kingfisher");
  });
});

describe("the data that a dashboard sends with a refusal", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  /** The refusals of a board whose store, panel and ensembles fail with this word in all their texts. */
  async function refusals(word: string, o: DashboardOptions): Promise<readonly ErrorBody[]> {
    const fail = (): Promise<never> => Promise.reject(new Error(`broken ${word}`));
    const store = { append: fail, put: fail, list: fail, get: fail, read: fail, remove: fail };
    const { board, url } = await boards.listening({ store, ...o });
    const panel = { name: "bad", title: "Bad", view: "json", read: fail } as const;
    const kernel = boards.kernel(board, {
      name: "panels",
      bind: (bind) => void bind.many(Tokens.DashboardPanel).toConstantValue(panel),
    });
    const [ready, unready] = [
      new Task({ description: `Do ${word} {topic}`, handler: () => "done" }),
      new Task({ description: `Do ${word}` }),
    ].map((task, i) => new Ensemble({ name: `team-${i}`, kernel, tasks: [task] }));
    for (const team of [ready, unready])
      if (team !== undefined) board.register(team.name ?? "", team);
    const runId = (await ready?.run({ topic: "x" }))?.runId ?? "";
    const post = (body: object): ReturnType<typeof ask> =>
      ask(url, "/api/runs", {
        method: "POST",
        headers: fromPage(url),
        body: JSON.stringify(body),
      });
    const answers = await Promise.all([
      ask(url, "/api/runs"),
      ask(url, "/api/runs/none"),
      ask(url, `/api/panels/bad?run=${runId}`),
      post({ ensemble: "team-0", inputs: {} }),
      post({ ensemble: "team-1" }),
    ]);
    return answers.map(({ text }) => JSON.parse(text) as ErrorBody);
  }

  it("contains no key", async () => {
    const bodies = await refusals(KEY, {});
    expect(bodies.map(({ error }) => error)).to.deep.equal([
      "STORE_UNAVAILABLE",
      "STORE_UNAVAILABLE",
      "PANEL_FAILED",
      "INPUTS_INVALID",
      "NOT_RUNNABLE",
    ]);
    for (const { message } of bodies) expect(message).to.include("[redacted]");
    expect(JSON.stringify(bodies)).not.to.include(KEY);
  });

  it("contains no text of the program with contents: false, only the names of refused inputs", async () => {
    const bodies = await refusals("kingfisher", { contents: false });
    expect(JSON.stringify(bodies)).not.to.include("kingfisher");
    expect(bodies[3]).to.deep.include({
      error: "INPUTS_INVALID",
      fields: { topic: "does not fit" },
    });
  });
});

describe("the answers of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are paged, slim or full, for a run and for one task", async () => {
    const { board, url } = await boards.listening();
    const run = new ChattyRun(boards, board);
    await run.add(30);
    await run.end();
    const log = `/api/runs/${run.id}/log`;
    const numbers: number[] = [];
    for (let after: number | undefined = -1; after !== undefined;) {
      const page: EntriesBody = await askJson(url, `${log}?limit=7&after=${after}&slim=true`);
      numbers.push(...page.entries.map(({ n }) => n));
      after = page.next;
    }
    expect(numbers).to.deep.equal(Array.from(numbers.keys()));
    expect(numbers.length).to.be.above(30);
    const task = await askJson<EntriesBody>(url, `/api/runs/${run.id}/tasks/only?limit=1`);
    expect(task.entries).to.have.lengthOf(1);
    expect(task.entries[0]).to.include({ taskId: "only", type: "task_started" });
    expect(task.next).to.equal(task.entries[0]?.n);
    const { rows } = await askJson<BarsBody>(url, `/api/runs/${run.id}/bars?from=0&to=1`);
    expect(rows).to.have.lengthOf(1);
    expect(rows[0]?.taskId).to.equal("only");
    expect(rows[0]?.bars.slice(0, 1)).to.deep.equal(["task"]);
    expect((await ask(url, `/api/runs/${run.id}/tasks/none`)).status).to.equal(404);
  });

  it("are paged in smaller parts if the texts are long", async () => {
    const { board, url } = await boards.listening();
    const text = "x".repeat(1024 * 1024);
    const { runId } = await new Ensemble({
      kernel: boards.kernel(board),
      workflow: "PARALLEL",
      tasks: Array.from(
        { length: 12 },
        (_, i) => new Task({ name: `t${i}`, description: "Write", handler: () => text }),
      ),
    }).run();
    const numbers: number[] = [];
    for (let after: number | undefined = -1; after !== undefined;) {
      const page = await ask(url, `/api/runs/${runId}/log?after=${after}`);
      expect(page.text.length).to.be.below(6 * 1024 * 1024);
      const { entries, next } = JSON.parse(page.text) as EntriesBody;
      numbers.push(...entries.map(({ n }) => n));
      after = next;
    }
    expect(numbers.length).to.be.above(24);
    expect(numbers).to.deep.equal(numbers.map((_, i) => i));
  });

  it("refuse invalid queries, and name the field", async () => {
    const { board, url } = await boards.listening();
    const { runId } = await boards.ensemble(boards.kernel(board)).run();
    for (const [path, field] of [
      ["/api/runs?limit=0", "limit"],
      ["/api/runs?limit=x", "limit"],
      ["/api/runs?before=x", "page"],
      ["/api/runs?tag=acme", "tag"],
      ["/api/runs?from=yesterday", "from"],
      ["/api/runs?state=open", "state"],
      ["/api/reviews?state=open", "state"],
      [`/api/runs/${runId}/log?after=-2`, "after"],
      [`/api/runs/${runId}/bars?from=3&to=2`, "to"],
      ["/api/audit?before=x", "before"],
    ] as const) {
      const { status, text } = await ask(url, path);
      expect(status, path).to.equal(400);
      expect(JSON.parse(text), path).to.have.property("message").that.includes(field);
    }
  });

  it("filter the list of runs by state, ensemble, tag and text", async () => {
    const { board, url } = await boards.listening();
    const kernel = boards.kernel(board);
    const run = (name: string, customer: string): Promise<unknown> =>
      new Ensemble({
        name,
        kernel,
        tasks: [new Task({ description: "x", handler: () => "x" })],
      }).run({}, { tags: { customer } });
    await run("one", "acme");
    await run("two", "acme");
    await run("two", "other: b");
    const totalOf = async (query: string): Promise<number> =>
      (await askJson<{ total: number }>(url, `/api/runs?${query}`)).total;
    expect(await totalOf("")).to.equal(3);
    expect(await totalOf("state=done&limit=1")).to.equal(3);
    expect(await totalOf("state=failed")).to.equal(0);
    expect(await totalOf("ensemble=two")).to.equal(2);
    expect(await totalOf("ensemble=two&tag=customer:acme")).to.equal(1);
    expect(await totalOf("tag=customer:other:%20b")).to.equal(1);
    expect(await totalOf("text=TWO")).to.equal(2);
  });

  it("are compressed if they are large and the client accepts this", async () => {
    const { board, url } = await boards.listening();
    const run = new ChattyRun(boards, board);
    await run.add(30);
    const path = `/api/runs/${run.id}/log`;
    const packed = await ask(url, path, { headers: { "accept-encoding": "gzip, br" } });
    expect(packed.headers["content-encoding"]).to.equal("gzip");
    const plain = await ask(url, path, { headers: { "accept-encoding": "gzip;q=0" } });
    expect(plain.headers["content-encoding"]).to.equal(undefined);
    expect(plain.text).to.equal(packed.text);
    await run.end();
  });

  it("include the trace of an ended run as a file", async () => {
    const audited: string[] = [];
    const { board, url } = await boards.listening({
      onAudit: ({ action }) => void audited.push(action),
    });
    const run = new ChattyRun(boards, board);
    await run.add(1);
    const path = `/api/runs/${run.id}/trace`;
    expect((await ask(url, path)).status).to.equal(409);
    await run.end();
    const { headers, text } = await ask(url, path);
    expect(headers["content-disposition"]).to.equal(`attachment; filename="${run.id}.trace.json"`);
    expect(JSON.parse(text)).to.include({ ensembleId: run.id });
    expect(audited).to.deep.equal(["export"]);
  });

  it("stream the entries of a run, continue after the last one, and end with the run", async () => {
    const { board, url } = await boards.listening();
    const run = new ChattyRun(boards, board);
    await run.add(3);
    const path = `/api/runs/${run.id}/events`;
    const live = ask(url, path);
    await run.add(3);
    await run.end();
    const { text, headers } = await live;
    expect(headers["content-type"]).to.equal("text/event-stream");
    const events = text.trimEnd().split("\n\n");
    const ids = events.map((event) => Number(/^id: (\d+)\nevent: \w+\ndata: \{/.exec(event)?.[1]));
    expect(ids).to.deep.equal(Array.from(ids.keys()));
    expect(events.at(-1)).to.include("event: ensemble_completed");
    const resumed = await ask(url, path, { headers: { "last-event-id": String(ids.length - 3) } });
    expect(resumed.text.trimEnd().split("\n\n")).to.deep.equal(events.slice(-2));
  });

  it("count open streams, without closed ones", async () => {
    const { board, url } = await boards.listening({}, { limits: { sockets: 1 } });
    const run = new ChattyRun(boards, board);
    await run.add(1);
    const path = `/api/runs/${run.id}/events`;
    const { hostname, port } = new URL(url);
    const first = httpRequest({ host: hostname, port, path, agent: false });
    first.on("error", () => undefined);
    await new Promise<void>((resolve) =>
      first.on("response", (response) => response.once("data", () => resolve())).end(),
    );
    expect((await ask(url, path)).status).to.equal(503);
    first.destroy();
    const ended = run.end();
    let status = 503;
    while (status === 503) ({ status } = await ask(url, path));
    expect(status).to.equal(200);
    await ended;
  });
});
