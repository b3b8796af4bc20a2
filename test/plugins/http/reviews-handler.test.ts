import type { Principal, ReviewStore, StoredReview } from "agentensemble";
import { Agent, Ensemble, Review, Task, tool, ValidationError } from "agentensemble";
import { reviewsHandler, runHandler, type ReviewsHandlerOptions } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { until } from "../../support/time.js";
import { authenticate, serve, type Ask, type Service } from "./service.js";

const REVIEWS = "/api/chat/reviews";

interface Listed {
  readonly reviews: readonly (StoredReview & { readonly mayAnswer: boolean })[];
}

describe("a handler of reviews", () => {
  const made: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });

  /** An ensemble whose runs ask, a handler for its runs and one for its reviews. */
  const office = async (tasks: readonly Task[], store: ReviewStore = reviewInbox()) => {
    const team = new Ensemble({
      model: new ScriptedModel(() => "draft"),
      tasks,
      plugins: [review({ store })],
    });
    const runs = runHandler(team, { authenticate });
    const reviews = reviewsHandler({ store, authenticate, runs: [runs] });
    const service = await serve((request) =>
      new URL(request.url).pathname.startsWith(REVIEWS) ? reviews(request) : runs(request),
    );
    made.push(service, team);
    return { service, reviews };
  };
  const start = (service: Service, by = "ada"): ReturnType<Service["ask"]> =>
    service.ask("/api/run", { by, body: {} });
  const listed = async (service: Service, by: string): Promise<Listed["reviews"]> =>
    ((await service.ask(REVIEWS, { by })).body as Listed).reviews;
  const waiting = async (service: Service, count = 1): Promise<string> => {
    let last: string | undefined;
    await until(async () => {
      const reviews = await listed(service, "root");
      last = reviews[count - 1]?.reviewId;
      return reviews.length === count;
    });
    return last ?? "";
  };
  const answer = (service: Service, id: string, body: unknown, o: Ask = {}) =>
    service.ask(`${REVIEWS}/${encodeURIComponent(id)}`, { body, ...o });
  const finance = Review.of({ prompt: "Good?", requiredRole: "finance", timeoutMs: 0 });
  const plain = Review.of({ prompt: "Good?", timeoutMs: 0 });
  const task = (r: Review): Task => new Task({ description: "Write it", review: r });

  it("lists the reviews that a principal may read, and whether it may answer", async () => {
    const { service } = await office([task(finance)]);
    const run = start(service);
    const id = await waiting(service);
    const seenBy = async (by: string) =>
      (await listed(service, by)).map(({ reviewId, mayAnswer }) => [reviewId, mayAnswer]);
    expect(await seenBy("ada")).to.deep.equal([[id, false]]);
    expect(await seenBy("bob")).to.deep.equal([]);
    for (const name of ["cleo", "max"]) expect(await seenBy(name)).to.deep.equal([[id, true]]);
    expect(await seenBy("rev")).to.deep.equal([]);
    expect(await seenBy("vic")).to.deep.equal([]);
    expect(await seenBy("root")).to.deep.equal([[id, true]]);
    const [ofAda] = await listed(service, "ada");
    expect(ofAda).to.include({ prompt: "Good?", taskOutput: "draft" });
    expect(ofAda).to.not.have.property("taskDescription");
    expect((await listed(service, "root"))[0]).to.have.property("taskDescription");
    expect((await answer(service, id, { decision: "continue" })).status).to.equal(403);
    expect((await answer(service, id, { decision: "continue" }, { by: "bob" })).status).to.equal(
      404,
    );
    expect((await answer(service, id, { decision: "continue" }, { by: "cleo" })).status).to.equal(
      200,
    );
    expect((await run).status).to.equal(200);
  });

  it("accepts each decision once, in lower or upper case, from any sender", async () => {
    for (const [body, raw, exitReason] of [
      [{ decision: "continue", comment: "fine" }, "draft", "COMPLETED"],
      [{ decision: "EDIT", text: "better" }, "better", "COMPLETED"],
      [{ decision: "Edit", revisedOutput: "best" }, "best", "COMPLETED"],
      [{ decision: "exit_early" }, "draft", "USER_EXIT_EARLY"],
    ] as const) {
      const { service } = await office([task(plain)]);
      const run = start(service);
      const id = await waiting(service);
      const [first, second] = [await answer(service, id, body), await answer(service, id, body)];
      const decision = body.decision.toUpperCase();
      expect(first).to.deep.equal({
        status: 200,
        body: { reviewId: id, decision, status: "APPLIED" },
      });
      expect(second.status).to.equal(409);
      expect(second.body).to.include({ by: "ada", decision });
      expect(second.body).to.have.nested.property("error.code", "REVIEW_RESOLVED");
      expect((await run).body).to.have.deep.property("output", { raw, exitReason });
    }
  });

  it("accepts one of two concurrent answers", async () => {
    const { service } = await office([task(plain)]);
    const run = start(service);
    const id = await waiting(service);
    const answers = await Promise.all(
      ["ada", "rev", "root"].map((by) =>
        answer(service, id, { decision: "edit", text: `by ${by}` }, { by }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await run).body).to.have.nested.property(
      "output.raw",
      `by ${["ada", "rev", "root"][winner] ?? ""}`,
    );
  });

  it("refuses an invalid answer, and the review remains open", async () => {
    const { service } = await office([task(plain)]);
    const run = start(service);
    const id = await waiting(service);
    for (const body of [
      {},
      { decision: "maybe" },
      { decision: "edit" },
      { decision: "edit", text: 7 },
      { decision: "edit", text: "a", revisedOutput: "b" },
      { decision: "continue", text: "a" },
      { decision: "continue", comment: {} },
      { decision: "continue", by: "root" },
      [],
    ])
      expect((await answer(service, id, body)).status, JSON.stringify(body)).to.equal(400);
    expect(await listed(service, "ada")).to.have.length(1);
    const unknown = await answer(service, "no such", { decision: "continue" });
    expect(unknown.status).to.equal(404);
    expect(unknown.body).to.have.nested.property("error.code", "REVIEW_NOT_FOUND");
    await answer(service, id, { decision: "continue" });
    await run;
  });

  it("refuses an invalid edit before it reaches the run", async () => {
    const store = reviewInbox();
    const typed = new Task({
      description: "Count",
      outputType: z.object({ count: z.number() }),
      review: plain,
    });
    const team = new Ensemble({
      model: new ScriptedModel(() => '{"count":1}'),
      tasks: [typed],
      plugins: [review({ store })],
    });
    const reviews = reviewsHandler({ store, authenticate });
    const service = await serve(reviews);
    made.push(service, team);
    const run = team.run();
    const id = await waiting(service);
    const as = { by: "root" };
    const wrong = await answer(service, id, { decision: "edit", text: '{"count":"x"}' }, as);
    expect(wrong.status).to.equal(422);
    expect(wrong.body).to.have.nested.property("error.code", "EDIT_INVALID");
    const fits = await answer(service, id, { decision: "edit", text: '{"count":2}' }, as);
    expect(fits.status).to.equal(200);
    expect((await run).raw).to.equal('{"count":2}');
  });

  it("checks complete inputs in edits of tool calls", async () => {
    const store = reviewInbox();
    const sent: string[] = [];
    const mail = tool({
      name: "mail",
      description: "Sends",
      input: z.object({ to: z.string(), body: z.string() }),
      requireApproval: true,
      execute: ({ body }) => void sent.push(body),
    });
    const calls = { toolCalls: [{ name: "mail", arguments: { to: "x", body: "draft" } }] };
    const model = new ScriptedModel([calls, "done"]);
    const agent = new Agent({ role: "Clerk", goal: "g", tools: [mail], model });
    const team = new Ensemble({
      tasks: [new Task({ description: "Mail it", agent })],
      plugins: [review({ store })],
    });
    const service = await serve(reviewsHandler({ store, authenticate }));
    made.push(service, team);
    const run = team.run();
    const id = await waiting(service);
    const edit = (text: string) => answer(service, id, { decision: "edit", text }, { by: "root" });
    expect((await edit('{"to":7}')).status).to.equal(422);
    expect((await edit("plain text for the body")).status).to.equal(200);
    await run;
    expect(sent).to.deep.equal(["plain text for the body"]);
  });

  it("answers 410 after the deadline or the end of the run", async () => {
    const { service } = await office([task(Review.of({ timeoutMs: 1_000 }))]);
    const run = start(service);
    const id = await waiting(service);
    expect((await run).body).to.have.nested.property("output.exitReason", "TIMEOUT");
    const late = await answer(service, id, { decision: "continue" });
    expect(late.status).to.equal(410);
    expect((await answer(service, id, { decision: "continue" }, { by: "bob" })).status).to.equal(
      404,
    );
  });

  it("shows reviews without a role to reviewers without an owner", async () => {
    const { service } = await office([task(plain)]);
    const run = start(service);
    const id = await waiting(service);
    expect(await listed(service, "rev")).to.have.length(1);
    expect((await listed(service, "rev"))[0]).to.have.property("taskDescription", "Write it");
    expect((await answer(service, id, { decision: "continue" }, { by: "rev" })).status).to.equal(
      200,
    );
    await run;
    const rev: Principal = { name: "rev", role: "reviewer", owner: "acme" };
    const store = reviewInbox();
    store.ask({
      reviewId: "r",
      runId: "run",
      taskId: "t",
      agentRole: "a",
      taskDescription: "d",
      taskOutput: "o",
      timing: "AFTER_EXECUTION",
      requestedAt: "2026-01-01T00:00:00.000Z",
      timeoutMs: 0,
      onTimeout: "FAIL",
    });
    const handler = reviewsHandler({ store, authenticate: () => rev, path: "/api/reviews" });
    const answered = await handler(new Request("http://host/api/reviews"));
    expect(await answered.json()).to.deep.equal({ reviews: [] });
  });

  it("watches its store until it is closed", async () => {
    let watchers = 0;
    const inbox = reviewInbox();
    const store: ReviewStore = {
      ask: (request) => inbox.ask(request),
      pending: () => inbox.pending(),
      resolve: (id, decision) => inbox.resolve(id, decision),
      waitFor: (id, signal) => inbox.waitFor(id, signal),
      isWatched: () => watchers > 0,
      onRequest: () => {
        watchers++;
        return () => void watchers--;
      },
    };
    const handler = reviewsHandler({ store, authenticate });
    expect(store.isWatched()).to.equal(true);
    handler.close();
    expect(store.isWatched()).to.equal(false);
  });

  it("refuses invalid options", () => {
    for (const o of [
      { authenticate },
      { authenticate, store: {} },
      { authenticate, store: reviewInbox(), runs: {} },
      { authenticate, store: reviewInbox(), runs: [{}] },
      { authenticate, store: reviewInbox(), role: "x" },
      { store: reviewInbox() },
    ])
      expect(() => reviewsHandler(o as ReviewsHandlerOptions)).to.throw(ValidationError);
  });
});
