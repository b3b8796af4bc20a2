import { expect } from "chai";
import type { StoredReview } from "../../../src/contracts/review.js";
import type { ServerFrame } from "../../../src/plugins/dashboard/protocol/messages.js";
import { createApi } from "../../../page/src/api.js";
import { createClockStore } from "../../../page/src/stores/clock-store.js";
import type { ConnectionStore } from "../../../page/src/stores/connection-store.js";
import { createReviewsStore } from "../../../page/src/stores/reviews-store.js";
import { createRunsStore } from "../../../page/src/stores/runs-store.js";
import { createSessionStore } from "../../../page/src/stores/session-store.js";
import { summaryOf } from "../../plugins/dashboard/stores/summaries.js";
import { TestBrowser } from "./environment.js";

const USER = { name: "maya", role: "reviewer" } as const;

/** A connection whose frames the test sends. */
function lines(): { readonly connection: ConnectionStore; send(frame: ServerFrame): void } {
  const listeners: ((frame: ServerFrame) => void)[] = [];
  const connection = { onFrame: (fn: (frame: ServerFrame) => void) => void listeners.push(fn) };
  return {
    connection: connection as unknown as ConnectionStore, // the stores only listen
    send: (frame) => listeners.forEach((listener) => listener(frame)),
  };
}

const hello = (more: Partial<Extract<ServerFrame, { type: "hello" }>> = {}): ServerFrame => ({
  type: "hello",
  protocol: 1,
  epoch: "e",
  serverTimeMs: 0,
  user: USER,
  runs: [],
  reviews: [],
  answered: [],
  conversations: 0,
  services: 0,
  ...more,
});

describe("stores of the page", () => {
  it("have the runs newest first, and none of an earlier start of the server", () => {
    const { connection, send } = lines();
    const runs = createRunsStore(connection);
    expect(runs.isKnown.value).to.equal(false);
    const run = (id: string, day: number) =>
      summaryOf(id, { startedAt: `2026-01-0${day}T00:00:00.000Z` });
    send(hello({ runs: [run("a", 1), run("b", 2)], conversations: 2, services: 1 }));
    expect([runs.isKnown.value, runs.conversations.value]).to.deep.equal([true, 2]);
    send({ type: "runs", upsert: [run("c", 3)], removed: ["a"], conversations: 2, services: 1 });
    expect(runs.conversations.value).to.equal(2);
    expect(runs.list.value.map(({ runId }) => runId)).to.deep.equal(["c", "b"]);
    expect(runs.summaryOf("a")).to.equal(undefined);
    send(hello({ runs: [run("d", 1)] }));
    expect(runs.list.value.map(({ runId }) => runId)).to.deep.equal(["d"]);
  });

  it("sort waiting reviews by deadline, those without one last", async () => {
    const browser = new TestBrowser();
    const api = createApi({
      fetch: browser.env.fetch,
      token: () => undefined,
      onUnauthorized: () => undefined,
    });
    const { connection, send } = lines();
    const reviews = createReviewsStore(connection, api);
    const review = (reviewId: string, deadline?: string): StoredReview =>
      ({ reviewId, ...(deadline !== undefined && { deadline }) }) as StoredReview; // the order requires no other field
    send(hello({ reviews: [review("late")] }));
    const pending = [review("none"), review("b", "2026-01-02"), review("a", "2026-01-01")];
    send({ type: "reviews", pending, answered: [] });
    expect(reviews.pending.value.map(({ reviewId }) => reviewId)).to.deep.equal(["a", "b", "none"]);
    browser.answer(/reviews/, { error: "REVIEW_RESOLVED", message: "Too late" }, 409);
    let code = "";
    await reviews.answer("w/1", { decision: "approve" }).catch((error: { code: string }) => {
      ({ code } = error);
    });
    expect([code, browser.requests]).to.deep.equal(["REVIEW_RESOLVED", ["/api/reviews/w%2F1"]]);
  });

  it("contain the permissions of the user, and keep the token for the tab", () => {
    const browser = new TestBrowser();
    const session = createSessionStore(browser.env);
    expect(session.may("viewer")).to.equal(false);
    session.setUser(USER);
    expect(
      ["viewer", "reviewer", "operator"].map((role) => session.may(role as "viewer")),
    ).to.deep.equal([true, true, false]);
    session.setToken("secret");
    expect(createSessionStore(browser.env).token.value).to.equal("secret");
    session.setToken(undefined);
    expect(createSessionStore(browser.env).token.value).to.equal(undefined);
  });

  it("contain the time of the server, second by second", async () => {
    const browser = new TestBrowser();
    const clock = createClockStore(browser.env);
    clock.adjust(5_000_000);
    await browser.pass(2_500);
    expect([clock.now(), clock.seconds.value]).to.deep.equal([5_002_500, 5_002_000]);
  });
});
