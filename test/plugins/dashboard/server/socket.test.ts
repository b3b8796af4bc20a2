import { Agent, Ensemble, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { LogEntry } from "../../../../src/contracts/run-store.js";
import type { RunBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { LIMITS } from "../../../../src/plugins/dashboard/server/limits.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { Boards } from "./boards.js";
import { ChattyRun } from "./chatty-run.js";
import { askJson, SocketClient, type Frame } from "./client.js";

/** The entries of a run that a page received, in order. */
function entriesOf(page: SocketClient, runId: string): readonly LogEntry[] {
  return page.frames.flatMap((frame) =>
    frame.type === "events" && frame["runId"] === runId
      ? (frame["events"] as readonly LogEntry[])
      : [],
  );
}

/** The page has all entries up to this one. */
function reaches(runId: string, n: number): (frame: Frame) => boolean {
  return (frame) => frame.type === "events" && frame["runId"] === runId && frame["to"] === n;
}

describe("the socket of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());
  const connected = async (url: string, o = {}): Promise<SocketClient> => {
    const page = new SocketClient(url, undefined, o);
    boards.later(() => page.close());
    await page.frame("hello");
    return page;
  };
  const bodyOf = (url: string, runId: string): Promise<RunBody> =>
    askJson<RunBody>(url, `/api/runs/${runId}`);

  it("continues a run after any entry, without a gap", async () => {
    const { board, url } = await boards.listening();
    const { runId } = await boards.ensemble(boards.kernel(board)).run();
    const { summary, epoch } = await bodyOf(url, runId);
    const last = summary.n;
    for (let after = -1; after < last; after++) {
      const page = await connected(url);
      page.send({ type: "subscribe", runId, after, epoch });
      await page.frame(reaches(runId, last));
      expect(entriesOf(page, runId).map(({ n }) => n)).to.deep.equal(
        Array.from({ length: last - after }, (_, i) => after + 1 + i),
      );
    }
  });

  it("asks a page to fetch the state if its position is unknown or too old", async () => {
    const { board, url } = await boards.listening({}, { limits: { missedEntries: 5 } });
    const run = new ChattyRun(boards, board);
    await run.add(20);
    const { summary, epoch } = await bodyOf(url, run.id);
    const last = summary.n;
    for (const [place, n] of [
      [{ runId: run.id, after: last, epoch: "another" }, last],
      [{ runId: run.id, after: last + 1, epoch }, last],
      [{ runId: run.id, after: last - 6, epoch }, last],
      [{ runId: run.id, after: -2, epoch }, last],
      [{ runId: run.id, after: 0.5, epoch }, last],
      [{ runId: "unknown" }, -1],
    ] as const) {
      const page = await connected(url);
      page.send({ type: "subscribe", ...place });
      expect(await page.frame("resync"), JSON.stringify(place)).to.include({ n });
    }
    const page = await connected(url);
    page.send({ type: "subscribe", runId: run.id, after: last - 5, epoch });
    await page.frame(reaches(run.id, last));
    await run.end();
  });

  it("gives a page that connects late the state of the server, field by field", async () => {
    const { board, url } = await boards.listening();
    const run = new ChattyRun(boards, board);
    await run.add(50);
    const { snapshot, epoch } = await bodyOf(url, run.id);
    const state = createRunState({ snapshot });
    const page = await connected(url);
    page.send({ type: "subscribe", runId: run.id, after: snapshot.n, epoch });
    await run.add(50);
    await run.end();
    const whole = await bodyOf(url, run.id);
    await page.frame(reaches(run.id, whole.summary.n));
    for (const entry of entriesOf(page, run.id)) state.apply(entry);
    expect(JSON.parse(JSON.stringify(state.snapshot()))).to.deep.equal(whole.snapshot);
  });

  it("stops sending to a page that does not read, and asks it to fetch the state later", async () => {
    const limits = { bufferedBytes: 512 * 1024, flushMs: 1 };
    const { board, url, sockets } = await boards.served({ limits });
    const run = new ChattyRun(boards, board);
    await run.add(1);
    const [slow, quick] = [await connected(url), await connected(url)];
    for (const page of [slow, quick]) page.send({ type: "subscribe", runId: run.id });
    await slow.frame("events");
    slow.socket.pause();
    let most = 0;
    for (let i = 0; i < 30; i++) {
      await run.add(2_000);
      const { summary } = await bodyOf(url, run.id);
      await quick.frame(reaches(run.id, summary.n));
      most = Math.max(most, sockets[0]?.writableLength ?? 0);
    }
    expect(most).to.be.within(limits.bufferedBytes, 2 * limits.bufferedBytes);
    expect(LIMITS.bufferedBytes).to.equal(1024 * 1024); // so that at most 2 MiB wait
    const { summary } = await bodyOf(url, run.id);
    slow.socket.resume();
    await slow.frame("resync");
    expect(slow.frames.filter(({ type }) => type === "resync")).to.have.lengthOf(1);
    const { snapshot, epoch } = await bodyOf(url, run.id);
    const seen = entriesOf(slow, run.id).length;
    expect(seen).to.be.below(summary.n);
    slow.send({ type: "subscribe", runId: run.id, after: snapshot.n, epoch });
    await run.end();
    const whole = await bodyOf(url, run.id);
    await slow.frame(reaches(run.id, whole.summary.n));
    const state = createRunState({ snapshot });
    for (const entry of entriesOf(slow, run.id).slice(seen)) state.apply(entry);
    expect(JSON.parse(JSON.stringify(state.snapshot()))).to.deep.equal(whole.snapshot);
  });

  it("sends full entries and streamed text only to watchers of a task", async () => {
    const { board, url } = await boards.listening();
    let begin = (): void => undefined;
    const held = new Promise<string>((resolve) => (begin = () => resolve("go")));
    const chunks = Array.from({ length: 40 }, (_, i) => `word${i} `);
    const run = new Ensemble({
      kernel: boards.kernel(board),
      model: new ScriptedModel([{ chunks, delayMs: 5 }]),
      tasks: [
        new Task({ name: "first", description: "Hold", handler: () => held }),
        new Task({
          name: "write",
          description: "Write",
          expectedOutput: "a secret plan",
          agent: new Agent({ role: "Writer", goal: "g" }),
        }),
      ],
    }).stream();
    const [near, far] = [await connected(url), await connected(url)];
    for (const page of [near, far]) {
      page.send({ type: "subscribe", runId: run.id });
      await page.frame("events");
    }
    near.send({ type: "watch", runId: run.id, tasks: ["write"] });
    near.send({ type: "ping" });
    await near.frame("pong"); // the frame before was taken
    begin();
    await run.output;
    const { summary } = await bodyOf(url, run.id);
    for (const page of [near, far]) await page.frame(reaches(run.id, summary.n));
    const inputOf = (page: SocketClient): LogEntry | undefined =>
      entriesOf(page, run.id).find(
        ({ type, taskId }) => type === "task_input" && taskId === "write",
      );
    expect(inputOf(near)).to.have.property("expectedOutput", "a secret plan");
    expect(inputOf(far)).not.to.have.property("expectedOutput");
    expect(JSON.stringify(far.frames)).not.to.include("secret plan");
    const numbers = entriesOf(near, run.id).flatMap(({ type, n }) => (type === "token" ? [] : [n]));
    expect(numbers).to.deep.equal(Array.from({ length: summary.n + 1 }, (_, n) => n));
    expect(entriesOf(far, run.id).some(({ type }) => type === "token")).to.equal(false);
  });

  it("shows the text of the model while it is written", async () => {
    const { board, url } = await boards.listening({ tokens: true }, { limits: { flushMs: 1 } });
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const model = new ScriptedModel([{ chunks: ["Swifts sleep ", "while they fly. ", "end"] }]);
    const slow = Object.assign(Object.create(model) as ScriptedModel, {
      async *stream(...asked: Parameters<ScriptedModel["stream"]>) {
        for await (const chunk of model.stream(...asked)) {
          yield chunk;
          if (chunk.type === "text" && chunk.text.startsWith("while")) await held;
        }
      },
    });
    const run = new Ensemble({
      kernel: boards.kernel(board),
      model: slow,
      tasks: [
        new Task({ name: "t", description: "Write", agent: new Agent({ role: "W", goal: "g" }) }),
      ],
    }).stream();
    const page = await connected(url);
    page.send({ type: "subscribe", runId: run.id });
    page.send({ type: "watch", runId: run.id, tasks: ["t"] });
    await page.frame((frame) => JSON.stringify(frame).includes("Swifts sleep while they"));
    const pieces = entriesOf(page, run.id).filter(({ type }) => type === "token");
    expect(pieces[0]).to.include({ taskId: "t", begins: true });
    goOn();
    await run.output;
  });

  it("ignores unknown messages, and answers pings", async () => {
    const { url } = await boards.listening();
    const page = await connected(url);
    for (const frame of [
      { type: "of a later version" },
      {},
      { type: "watch", runId: "unknown", tasks: "all" },
      { type: "subscribe" },
      { type: "subscribe", runId: 7, after: "x" },
      { type: "unsubscribe", runId: "unknown" },
    ])
      page.send(frame);
    page.send({ type: "ping" });
    await page.frame("pong");
    expect(page.frames.map(({ type }) => type)).to.deep.equal(["hello", "pong"]);
  });

  it("sends pings, and drops a client that does not answer", async () => {
    const now = new Date("2026-01-02T03:04:05.000Z");
    const { url } = await boards.listening(
      {},
      { limits: { heartbeatMs: 10 }, clock: { now: () => now, monotonicMs: () => 0 } },
    );
    const [alive, dead] = [await connected(url), await connected(url, { autoPong: false })];
    expect(await dead.code()).to.equal(1006);
    expect(await alive.frame("heartbeat")).to.include({ serverTimeMs: now.getTime() });
    expect(alive.closed).to.equal(undefined);
  });

  it("sends changed summaries, and the ids of removed runs", async () => {
    const { board, url } = await boards.listening();
    const page = await connected(url);
    const { runId } = await boards.ensemble(boards.kernel(board)).run();
    const done = await page.frame(
      ({ type, upsert }) =>
        type === "runs" && (upsert as readonly { readonly state: string }[])[0]?.state === "done",
    );
    expect(done["upsert"]).to.have.nested.property("[0].runId", runId);
    const kernel = boards.kernel(board);
    for (let i = 0; i < 100; i++) await boards.ensemble(kernel).run();
    const gone = await page.frame(
      ({ type, removed }) => type === "runs" && (removed as readonly string[]).length > 0,
    );
    expect(gone["removed"]).to.deep.equal([runId]);
  });

  it("finds runs of its store that are no longer in memory", async () => {
    const store = RunStore.inMemory({ maxRuns: 1_000 });
    const { board, url } = await boards.listening({ store });
    const kernel = boards.kernel(board);
    const { runId } = await boards.ensemble(kernel).run();
    const before = await bodyOf(url, runId);
    for (let i = 0; i < 100; i++) await boards.ensemble(kernel).run();
    while ((await store.get(runId))?.state !== "done") await new Promise(setImmediate);
    const stored = await bodyOf(url, runId);
    expect(stored.snapshot).to.deep.equal(before.snapshot);
    const page = await connected(url);
    page.send({ type: "subscribe", runId, after: -1, epoch: stored.epoch });
    expect(await page.frame("resync")).to.include({ runId, n: stored.snapshot.n });
  });
});
