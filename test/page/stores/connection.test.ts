import { expect } from "chai";
import type { HelloFrame } from "../../../src/plugins/dashboard/protocol/messages.js";
import { createApi } from "../../../page/src/api.js";
import { createClockStore } from "../../../page/src/stores/clock-store.js";
import {
  createConnectionStore,
  type ConnectionStore,
} from "../../../page/src/stores/connection-store.js";
import { createFoundRunsStore } from "../../../page/src/stores/found-runs-store.js";
import { createRunsStore } from "../../../page/src/stores/runs-store.js";
import { createSessionStore, tokenInAddress } from "../../../page/src/stores/session-store.js";
import { summaryOf } from "../../plugins/dashboard/stores/summaries.js";
import { settled, TestBrowser } from "./environment.js";

const USER = { name: "maya", role: "operator" } as const;
const STATUS = { status: "UP", protocol: 1, user: USER };

function hello(runs: HelloFrame["runs"] = []): HelloFrame {
  return {
    type: "hello",
    protocol: 1,
    epoch: "e-1",
    serverTimeMs: 2_000_000,
    user: USER,
    runs,
    reviews: [],
    answered: [],
    conversations: 0,
    services: 0,
  };
}

const begun = (runId: string, day: number): ReturnType<typeof summaryOf> =>
  summaryOf(runId, { startedAt: `2026-01-0${day}T00:00:00.000Z` });

function connected(browser: TestBrowser): {
  readonly connection: ConnectionStore;
  readonly api: ReturnType<typeof createApi>;
  readonly session: ReturnType<typeof createSessionStore>;
  readonly clock: ReturnType<typeof createClockStore>;
} {
  const { env } = browser;
  const session = createSessionStore(env);
  const clock = createClockStore(env);
  const api = createApi({
    fetch: env.fetch,
    token: () => session.token.value,
    onUnauthorized: () => undefined,
  });
  return { connection: createConnectionStore({ env, api, session, clock }), api, session, clock };
}

describe("connection of the page", () => {
  it("is live after the first frame, by the clock of the server", async () => {
    const browser = new TestBrowser();
    browser.answer(/status/, STATUS);
    const { connection, session, clock } = connected(browser);
    connection.connect();
    await settled();
    expect(connection.send({ type: "ping" })).to.equal(false);
    browser.sockets[0]?.take(hello());
    expect(connection.state.value).to.deep.equal({ kind: "live" });
    expect(clock.now()).to.equal(2_000_000);
    expect(session.may("reviewer")).to.equal(true);
    expect(connection.send({ type: "ping" })).to.equal(true);
  });

  it("tries again after growing pauses, and names a server that is overloaded", async () => {
    const browser = new TestBrowser();
    const { connection } = connected(browser);
    connection.connect();
    await settled();
    expect(connection.state.value).to.include({ kind: "lost", isBusy: false });
    browser.answer(/status/, { error: "TOO_MANY_REQUESTS", message: "Later" }, 429);
    await browser.pass(500);
    expect(connection.state.value).to.include({ kind: "lost", isBusy: true });
    expect(browser.requests).to.have.lengthOf(2);
    await browser.pass(500);
    expect(browser.requests).to.have.lengthOf(2);
    browser.answer(/status/, STATUS);
    await browser.pass(500);
    expect(browser.requests).to.have.lengthOf(3);
    browser.sockets[0]?.take(hello());
    expect(connection.state.value.kind).to.equal("live");
    browser.sockets[0]?.end(1006);
    expect(connection.state.value.kind).to.equal("lost");
  });

  it("closes a connection without data", async () => {
    const browser = new TestBrowser();
    browser.answer(/status/, STATUS);
    const { connection } = connected(browser);
    connection.connect();
    await settled();
    browser.sockets[0]?.take(hello());
    await browser.pass(59_000);
    expect(connection.state.value.kind).to.equal("live");
    await browser.pass(1_000);
    expect(browser.sockets[0]?.isClosed).to.equal(true);
    expect(connection.state.value.kind).to.equal("lost");
  });

  it("requests a token if required, and a reload for another version", async () => {
    const browser = new TestBrowser();
    browser.answer(/status/, { error: "UNAUTHORIZED", message: "No" }, 401);
    const { connection, session } = connected(browser);
    session.setToken("wrong");
    connection.connect();
    await settled();
    expect(connection.state.value).to.deep.equal({ kind: "refused", wrongToken: true });
    expect(session.token.value).to.equal(undefined);
    browser.answer(/status/, { ...STATUS, protocol: 2 });
    connection.connect();
    await settled();
    expect(connection.state.value).to.deep.equal({ kind: "outdated", protocol: 2 });
  });

  it("removes the token from the URL", () => {
    expect(tokenInAddress("#t=a%20b&/reviews")).to.deep.equal({ token: "a b", rest: "#/reviews" });
    expect(tokenInAddress("#t=")).to.equal(undefined);
    expect(tokenInAddress("#/runs")).to.equal(undefined);
  });
});

describe("runs of the page", () => {
  it("are those of the first frame with later changes applied", async () => {
    const browser = new TestBrowser();
    browser.answer(/status/, STATUS);
    const { connection } = connected(browser);
    const runs = createRunsStore(connection);
    connection.connect();
    await settled();
    const [a, b] = [begun("a", 1), begun("b", 2)];
    browser.sockets[0]?.take(hello([a]));
    browser.sockets[0]?.take({
      type: "runs",
      upsert: [b],
      removed: [],
      conversations: 0,
      services: 0,
    });
    expect(runs.list.value.map(({ runId }) => runId)).to.deep.equal(["b", "a"]);
    browser.sockets[0]?.take({
      type: "runs",
      upsert: [],
      removed: ["a"],
      conversations: 0,
      services: 0,
    });
    expect(runs.summaryOf("a")).to.equal(undefined);
  });

  it("that match a filter are fetched again after changes, all together and page by page", async () => {
    const browser = new TestBrowser();
    browser.answer(/status/, STATUS);
    browser.answer(/api\/runs/, { runs: [begun("a", 1)], total: 2, next: "p2" });
    browser.answer(/before=p2/, { runs: [begun("b", 2)], total: 2 });
    const { connection, api } = connected(browser);
    const found = createFoundRunsStore({ connection, api, env: browser.env });
    connection.connect();
    await settled();
    browser.sockets[0]?.take(hello());
    found.find("state:failed heat");
    await settled();
    expect(found.current.value).to.include({
      filter: "state:failed heat",
      total: 2,
      hasMore: true,
    });
    expect(browser.requests.at(-2)).to.match(/limit=100&state=failed&text=heat/);
    expect(browser.requests.at(-1)).to.match(/limit=1&text=heat/);
    found.more();
    await settled();
    expect(found.current.value?.runs).to.have.lengthOf(2);
    const before = browser.requests.length;
    for (let i = 0; i < 5; i++)
      browser.sockets[0]?.take({
        type: "runs",
        upsert: [],
        removed: [],
        conversations: 0,
        services: 0,
      });
    await browser.pass(2_000);
    expect(browser.requests.length - before).to.equal(3);
    browser.answer(/api\/runs/, { error: "STORE_UNAVAILABLE", message: "No" }, 503);
    found.find("other");
    await settled();
    expect(found.current.value?.error?.code).to.equal("STORE_UNAVAILABLE");
    found.find(undefined);
    browser.sockets[0]?.take({
      type: "runs",
      upsert: [],
      removed: [],
      conversations: 0,
      services: 0,
    });
    const last = browser.requests.length;
    await browser.pass(5_000);
    expect(browser.requests).to.have.lengthOf(last);
  });
});
