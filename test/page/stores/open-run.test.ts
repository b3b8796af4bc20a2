import { expect } from "chai";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { ServerFrame } from "../../../src/plugins/dashboard/protocol/messages.js";
import { createRunState } from "../../../src/plugins/dashboard/protocol/run-state.js";
import { createApi, type Api } from "../../../page/src/api.js";
import type { ConnectionStore } from "../../../page/src/stores/connection-store.js";
import { createOpenRunStore, type OpenRunStore } from "../../../page/src/stores/open-run-store.js";
import {
  createRunLogStore,
  MOST_ENTRIES,
  type RunLogStore,
} from "../../../page/src/stores/run-log-store.js";
import {
  createTaskDetailStore,
  type TaskDetailStore,
} from "../../../page/src/stores/task-detail-store.js";
import { entry } from "../../plugins/dashboard/logs.js";
import { settled, TestBrowser } from "./environment.js";

const STARTED = { runId: "r", workflow: "SEQUENTIAL", totalTasks: 1 };
const TASK = { taskId: "t", agentRole: "Writer", taskDescription: "Write", taskIndex: 1 };
/** A run whose task has begun. */
const BEGUN = [entry(0, "ensemble_started", STARTED), entry(1, "task_started", TASK)];

/** The stores of a page with an open run, with a connection whose frames the test sends. */
class LookingPage {
  readonly browser = new TestBrowser();
  readonly sent: Record<string, unknown>[] = [];
  readonly openRun: OpenRunStore;
  readonly runLog: RunLogStore;
  readonly detail: TaskDetailStore;
  isConnected = true;
  readonly #listeners: ((frame: ServerFrame) => void)[] = [];

  constructor() {
    const { env } = this.browser;
    const api: Api = createApi({
      fetch: env.fetch,
      token: () => undefined,
      onUnauthorized: () => undefined,
    });
    const line = {
      onFrame: (fn: (frame: ServerFrame) => void) => void this.#listeners.push(fn),
      send: (frame: Record<string, unknown>) => {
        if (this.isConnected) this.sent.push(frame);
        return this.isConnected;
      },
    };
    const connection = line as unknown as ConnectionStore; // the fields that the stores use
    this.openRun = createOpenRunStore({ connection, api, env });
    this.runLog = createRunLogStore({ api, env, openRun: this.openRun });
    this.detail = createTaskDetailStore({ connection, api, env, openRun: this.openRun });
  }

  frame(frame: object): void {
    for (const listener of this.#listeners) listener(frame as ServerFrame); // as the server sends it
  }

  events(...events: readonly LogEntry[]): void {
    const to = events.findLast(({ type }) => type !== "token")?.n ?? 0;
    this.frame({ type: "events", runId: "r", to, events });
  }

  /** The server has the run up to these entries. */
  has(entries: readonly LogEntry[], epoch = "e1"): void {
    const state = createRunState();
    for (const one of entries) state.apply(one);
    this.browser.answer(/runs\/r$/, { snapshot: state.snapshot(), epoch });
  }

  async opened(entries: readonly LogEntry[] = BEGUN): Promise<void> {
    this.has(entries);
    this.openRun.open("r");
    await settled();
  }

  get summary(): string {
    const state = this.openRun.state.value;
    return state.kind === "ready"
      ? `${state.run.view.n} ${state.run.view.summary.state}`
      : state.kind;
  }

  get requests(): readonly string[] {
    return this.browser.requests;
  }
}

describe("the open run of the page", () => {
  it("is fetched, and then receives later entries", async () => {
    const page = new LookingPage();
    page.openRun.open("r");
    expect(page.openRun.state.value).to.deep.equal({ kind: "loading", runId: "r" });
    page.events(entry(2, "run_warning", { message: "early" })); // before the answer
    await page.opened([]);
    page.openRun.open(undefined);
    await page.opened();
    expect(page.summary).to.equal("1 running");
    expect(page.sent.at(-1)).to.deep.equal({
      type: "subscribe",
      runId: "r",
      after: 1,
      epoch: "e1",
    });
    page.events(
      entry(2, "task_completed", { ...TASK, output: "", durationMs: 1 }),
      entry(2, "token", { taskId: "t", token: "x" }),
      entry(3, "ensemble_completed", { exitReason: "COMPLETED" }),
    );
    expect(page.summary).to.equal("3 done");
    page.frame({ type: "events", runId: "other", to: 9, events: [entry(9, "run_warning")] });
    expect(page.summary).to.equal("3 done");
  });

  it("is missing, or can't be fetched until another attempt", async () => {
    const page = new LookingPage();
    page.browser.answer(/runs\/r$/, { error: "RUN_NOT_FOUND" }, 404);
    page.openRun.open("r");
    await settled();
    expect(page.summary).to.equal("missing");
    page.browser.answer(/runs\/r$/, { error: "STORE_UNAVAILABLE" }, 503);
    page.openRun.reload();
    await settled();
    expect(page.summary).to.equal("failed");
    page.has(BEGUN);
    page.openRun.reload();
    await settled();
    expect(page.summary).to.equal("1 running");
  });

  it("remains visible while the program does not answer", async () => {
    const page = new LookingPage();
    await page.opened();
    page.browser.env.fetch = () => Promise.reject(new TypeError("unreachable"));
    page.openRun.reload();
    await settled();
    expect(page.summary).to.equal("1 running");
  });

  it("continues after its last entry after an interruption, and is fetched again after a restart", async () => {
    const page = new LookingPage();
    await page.opened();
    const count = page.requests.length;
    page.frame({ type: "hello", epoch: "e1" });
    await settled();
    expect([page.requests.length, page.sent.at(-1)?.["after"]]).to.deep.equal([count, 1]);
    page.has([...BEGUN, entry(2, "run_warning", { message: "again" })], "e2");
    page.frame({ type: "hello", epoch: "e2" });
    await settled();
    expect([page.summary, page.sent.at(-1)?.["epoch"]]).to.deep.equal(["2 running", "e2"]);
  });

  it("is fetched once if the connection opens during the request", async () => {
    const page = new LookingPage();
    page.has(BEGUN);
    page.openRun.open("r");
    page.frame({ type: "hello", epoch: "e1" });
    await settled();
    expect(page.requests).to.deep.equal(["/api/runs/r"]);
    expect(page.sent).to.deep.equal([{ type: "subscribe", runId: "r", after: 1, epoch: "e1" }]);
  });

  it("is subscribed to after the connection opens, and fetched again if the first attempt failed", async () => {
    const page = new LookingPage();
    page.isConnected = false;
    await page.opened();
    page.isConnected = true;
    page.frame({ type: "hello", epoch: "e1" });
    expect(page.sent).to.deep.equal([{ type: "subscribe", runId: "r", after: 1, epoch: "e1" }]);
    const other = new LookingPage();
    other.browser.answer(/runs\/r$/, { error: "UNAUTHORIZED" }, 401);
    other.openRun.open("r");
    await settled();
    other.has(BEGUN);
    other.frame({ type: "hello", epoch: "e1" });
    await settled();
    expect(other.summary).to.equal("1 running");
  });

  it("catches up with a snapshot if it was too slow", async () => {
    const page = new LookingPage();
    await page.opened();
    const heard: number[] = [];
    page.openRun.onEntries((entries) => heard.push(entries.length));
    page.has([...BEGUN, entry(2, "run_warning", { message: "m" })]);
    page.frame({ type: "resync", runId: "other", n: 7 });
    page.frame({ type: "resync", runId: "r", n: 2 });
    await settled();
    const state = page.openRun.state.value;
    expect(state.kind === "ready" && state.run.caughtUpAt).to.equal(2);
    expect(heard, "listeners are informed that entries are missing").to.deep.equal([0]);
  });

  it("is replaced by the next: the answer to an earlier request has no effect", async () => {
    const page = new LookingPage();
    page.has(BEGUN);
    page.openRun.open("r");
    page.browser.answer(/runs\/other$/, { error: "RUN_NOT_FOUND" }, 404);
    page.openRun.open("other");
    await settled();
    expect(page.openRun.state.value).to.deep.equal({ kind: "missing", runId: "other" });
    expect(page.sent[0]).to.deep.equal({ type: "unsubscribe", runId: "r" });
    page.openRun.open(undefined);
    expect(page.summary).to.equal("none");
    page.frame({ type: "hello", epoch: "e3" });
    page.openRun.reload();
    await settled();
    expect(page.requests.filter((path) => path.endsWith("/other"))).to.have.lengthOf(1);
  });
});

describe("the log of the open run", () => {
  const warning = (n: number): LogEntry => entry(n, "run_warning", { message: `m${n}` });

  it("is fetched page by page, and then receives new entries", async () => {
    const page = new LookingPage();
    await page.opened([...BEGUN, warning(2)]);
    page.browser.answer(/log\?after=-1&/, { entries: BEGUN, next: 1 });
    page.browser.answer(/log\?after=1&/, { entries: [warning(2)] });
    page.runLog.follow("r");
    await settled();
    expect(page.runLog.current.value?.entries.map(({ n }) => n)).to.deep.equal([0, 1, 2]);
    expect(page.runLog.current.value?.state).to.equal("ready");
    page.events(warning(2), warning(3), entry(3, "token", { taskId: "t", token: "x" }));
    page.events(entry(3, "token", { taskId: "t", token: "y" }));
    expect(page.runLog.current.value?.entries.map(({ n }) => n)).to.deep.equal([0, 1, 2, 3]);
  });

  it("fetches the missing entries between its last entry and the next", async () => {
    const page = new LookingPage();
    await page.opened();
    page.browser.answer(/log\?after=-1&/, { entries: BEGUN });
    page.runLog.follow("r");
    await settled();
    page.browser.answer(/log\?after=1&/, { entries: [warning(2), warning(3), warning(4)] });
    page.events(warning(4));
    await settled();
    expect(page.runLog.current.value?.entries.map(({ n }) => n)).to.deep.equal([0, 1, 2, 3, 4]);
    page.browser.answer(/log\?after=4&/, { entries: [warning(5)] });
    page.frame({ type: "resync", runId: "r", n: 5 });
    await settled();
    expect(page.runLog.current.value?.entries.at(-1)?.n).to.equal(5);
  });

  it("reports a failure, and retries on request", async () => {
    const page = new LookingPage();
    await page.opened();
    page.runLog.retry(); // no run is subscribed to yet
    page.browser.answer(/log/, { error: "STORE_UNAVAILABLE" }, 503);
    page.runLog.follow("r");
    await settled();
    expect(page.runLog.current.value).to.include({ state: "failed" });
    expect(page.runLog.current.value?.error?.code).to.equal("STORE_UNAVAILABLE");
    page.browser.answer(/log/, { entries: BEGUN });
    page.runLog.retry();
    await settled();
    expect(page.runLog.current.value).to.include({ state: "ready", error: undefined });
  });

  it("drops the entries of another run, and receives none without a viewer", async () => {
    const page = new LookingPage();
    await page.opened();
    page.browser.answer(/runs\/r\/log/, { entries: BEGUN });
    page.browser.answer(/runs\/s\/log/, { entries: [entry(0, "ensemble_started", STARTED)] });
    page.runLog.follow("r");
    page.runLog.follow("s"); // while the first is fetched
    await settled();
    expect(page.runLog.current.value?.runId).to.equal("s");
    expect(page.runLog.current.value?.entries).to.have.lengthOf(1);
    page.runLog.follow(undefined);
    page.events(warning(2));
    expect(page.runLog.current.value?.entries).to.have.lengthOf(1);
  });

  it("ends with the maximum number of entries that a page keeps", async () => {
    const page = new LookingPage();
    await page.opened();
    const many = Array.from({ length: MOST_ENTRIES + 1 }, (_, n) => entry(n, "run_warning"));
    page.browser.answer(/log/, { entries: many, next: MOST_ENTRIES });
    page.runLog.follow("r");
    await settled();
    expect(page.runLog.current.value).to.include({ isCut: true, state: "ready" });
    expect(page.runLog.current.value?.entries).to.have.lengthOf(MOST_ENTRIES);
  });
});

describe("the watched task of the page", () => {
  const input = entry(2, "task_input", { taskId: "t", toolNames: [] });

  async function watched(): Promise<LookingPage> {
    const page = new LookingPage();
    await page.opened([...BEGUN, input]);
    page.browser.answer(/tasks\/t$/, { entries: [BEGUN[1]], next: 1 });
    page.browser.answer(/tasks\/t\?after=1$/, { entries: [input] });
    page.detail.watch("r", "t");
    page.frame({ type: "pong" });
    await settled();
    return page;
  }

  it("is fetched after the answer to its ping, since full entries then arrive", async () => {
    const page = new LookingPage();
    await page.opened([...BEGUN, input]);
    page.browser.answer(/tasks\/t$/, { entries: [BEGUN[1], input] });
    page.detail.watch("r", "t");
    page.detail.watch("r", "t"); // no second time
    expect(page.sent.slice(-2)).to.deep.equal([
      { type: "watch", runId: "r", tasks: ["t"] },
      { type: "ping" },
    ]);
    page.events(entry(3, "tool_started", { taskId: "t", callId: "c" }));
    expect(page.detail.current.value).to.deep.include({ state: "loading", entries: [] });
    page.frame({ type: "pong" });
    await settled();
    expect(page.detail.current.value?.entries.map(({ n }) => n)).to.deep.equal([1, 2]);
    expect(page.detail.current.value?.state).to.equal("ready");
  });

  it("shows all pages, and entries that arrive afterwards", async () => {
    const page = await watched();
    page.events(
      entry(3, "tool_started", { taskId: "t", callId: "c" }),
      entry(4, "run_warning", { message: "of no task" }),
    );
    expect(page.detail.current.value?.entries.map(({ n }) => n)).to.deep.equal([1, 2, 3]);
  });

  it("shows the answer while it is written only", async () => {
    const page = await watched();
    const token = (text: unknown, more: object = {}): LogEntry =>
      entry(2, "token", { taskId: "t", token: text, ...more });
    page.browser.nowMs = 5_000;
    page.events(token("One"), token(" two"), token(7));
    expect(page.detail.current.value).to.include({ writing: "One two", writingSinceMs: 5_000 });
    page.browser.nowMs = 6_000;
    page.events(token("New", { begins: true }));
    expect(page.detail.current.value).to.include({ writing: "New", writingSinceMs: 6_000 });
    page.events(entry(3, "llm_iteration_completed", { taskId: "t", iteration: 0 }));
    expect(page.detail.current.value).to.include({ writing: "", writingSinceMs: undefined });
  });

  it("is fetched again after a new connection, and keeps its content if the request fails", async () => {
    const page = await watched();
    page.browser.answer(/tasks\/t/, { error: "STORE_UNAVAILABLE" }, 503);
    page.frame({ type: "hello", epoch: "e1" });
    page.frame({ type: "pong" });
    await settled();
    expect(page.detail.current.value).to.include({ state: "ready" });
    expect(page.detail.current.value?.entries).to.have.lengthOf(2);
  });

  it("reports a first fetch that fails", async () => {
    const page = new LookingPage();
    await page.opened();
    page.browser.answer(/tasks/, { error: "TASK_NOT_FOUND" }, 404);
    page.detail.watch("r", "t");
    page.frame({ type: "pong" });
    await settled();
    expect(page.detail.current.value?.state).to.equal("failed");
    expect(page.detail.current.value?.error?.code).to.equal("TASK_NOT_FOUND");
  });

  it("is not requested before its start", async () => {
    const page = new LookingPage();
    const plan = { taskId: "later", agentRole: "", taskDescription: "" };
    const dag = {
      tasks: [
        { id: "later", description: "Later", agentRole: "", dependsOn: [], parallelGroup: 0 },
      ],
      edges: [],
      agents: [],
      parallelGroups: [],
      criticalPath: [],
      workflow: "SEQUENTIAL",
    };
    await page.opened([BEGUN[0] ?? entry(0, ""), entry(1, "run_planned", { inputs: {}, dag })]);
    page.isConnected = false;
    page.detail.watch("r", plan.taskId);
    await settled();
    expect(page.detail.current.value).to.deep.include({ state: "ready", entries: [] });
    expect(page.requests.some((path) => path.includes("/tasks/"))).to.equal(false);
  });

  it("is no longer watched when another task or none is watched", async () => {
    const page = await watched();
    page.detail.watch("r", "u");
    expect(page.detail.current.value).to.deep.include({ taskId: "u", entries: [] });
    page.frame({ type: "pong" });
    page.detail.watch(undefined, undefined);
    expect(page.sent.at(-1)).to.deep.equal({ type: "watch", runId: "r", tasks: [] });
    expect(page.detail.current.value).to.equal(undefined);
    page.frame({ type: "pong" });
    await settled();
    expect(page.detail.current.value).to.equal(undefined);
  });
});
