import {
  AgentEnsembleError,
  Ensemble,
  Review,
  ReviewDecision,
  ReviewHandler,
  Task,
  ValidationError,
  type StoredReview,
} from "agentensemble";
import { review, reviewInbox, type ReviewInbox } from "agentensemble/review";
import { expect } from "chai";
import { rejection, rejectionOf } from "../../support/rejection.js";
import { ReviewError } from "agentensemble";
import { pause } from "../../support/time.js";

const task = (description: string, o: object = {}): Task =>
  new Task({ description, handler: () => description, review: Review.required(), ...o });

async function waiting(inbox: ReviewInbox, count: number): Promise<void> {
  while (inbox.pending().length < count) await pause(1);
}

describe("ReviewHandler.autoApprove", () => {
  it("continues", async () => {
    await using ensemble = new Ensemble({
      tasks: [task("a")],
      reviewHandler: ReviewHandler.autoApprove(),
    });
    expect((await ensemble.run()).exitReason).to.equal("COMPLETED");
  });
});

describe("ReviewHandler.autoApproveWithDelay", () => {
  it("continues after a delay, and ends with the question", async () => {
    await using ensemble = new Ensemble({
      tasks: [task("a", { review: Review.of({ timeoutMs: 60_000 }) })],
      reviewHandler: ReviewHandler.autoApproveWithDelay(1),
    });
    expect((await ensemble.run()).exitReason).to.equal("COMPLETED");
    await using slow = new Ensemble({
      tasks: [task("a", { review: Review.of({ timeoutMs: 5 }) })],
      reviewHandler: ReviewHandler.autoApproveWithDelay(60_000),
    });
    expect((await slow.run()).exitReason).to.equal("TIMEOUT"); // an open timer would prevent mocha's end
  });

  it("refuses an early exit with other options than timedOut", () => {
    for (const odd of [null, true, { timedOut: "yes" }, { timeout: true }])
      expect(() => ReviewDecision.exitEarly(odd as never), JSON.stringify(odd)).to.throw(
        ValidationError,
        "ReviewDecision.exitEarly",
      ); // wrong on purpose
    expect(ReviewDecision.exitEarly({ timedOut: undefined }).timedOut).to.equal(false);
  });

  it("refuses an invalid delay", () => {
    const message = (delay: unknown): string => {
      try {
        ReviewHandler.autoApproveWithDelay(delay as number);
      } catch (error) {
        if (error instanceof ValidationError) return error.message;
      }
      return "accepted";
    };
    expect([message(undefined), message(null), message(-1), message(0)]).to.deep.equal([
      "delay must not be null",
      "delay must not be null",
      "delay must not be negative",
      "accepted",
    ]);
    for (const odd of [Number.NaN, "5", 3e9, Number.POSITIVE_INFINITY])
      expect(message(odd)).to.match(/^delay must be a number of milliseconds/);
  });
});

describe("reviewInbox", () => {
  it("keeps open reviews, oldest first, until each is answered once", async () => {
    const inbox = reviewInbox();
    const told: string[] = [];
    inbox.onRequest(({ taskDescription }) => told.push(taskDescription));
    await using ensemble = new Ensemble({
      tasks: [task("a"), task("b")],
      workflow: "PARALLEL",
      plugins: [review({ store: inbox })],
    });
    const running = ensemble.run();
    await waiting(inbox, 2);
    expect([inbox.pending().map(({ taskOutput }) => taskOutput), told]).to.deep.equal([
      ["a", "b"],
      ["a", "b"],
    ]);
    const [a, b] = inbox.pending() as [StoredReview, StoredReview];
    expect(inbox.resolve(b.reviewId, ReviewDecision.edit("better")).outcome).to.equal("resolved");
    expect([
      inbox.resolve(b.reviewId, ReviewDecision.exitEarly()).outcome,
      inbox.resolve("unknown", ReviewDecision.continue()),
    ]).to.deep.equal(["decided", { outcome: "unknown" }]);
    expect(inbox.pending()).to.deep.equal([a]);
    inbox.resolve(a.reviewId, ReviewDecision.continue());
    expect((await running).taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a", "better"]);
    expect(inbox.pending()).to.deep.equal([]);
  });

  it("refuses an invalid decision, and keeps the review open", async () => {
    const inbox = reviewInbox();
    await using ensemble = new Ensemble({
      tasks: [task("a")],
      plugins: [review({ store: inbox })],
    });
    const running = ensemble.run();
    await waiting(inbox, 1);
    const id = inbox.pending()[0]?.reviewId ?? "";
    for (const odd of [
      undefined,
      "CONTINUE",
      {},
      { type: "EDIT" },
      { type: "EXIT_EARLY", timedOut: "yes" },
    ])
      expect(() => inbox.resolve(id, odd as never)).to.throw(ValidationError);
    expect(inbox.resolve(id, ReviewDecision.continue()).outcome).to.equal("resolved");
    expect((await running).exitReason).to.equal("COMPLETED");
  });

  it("releases a review that has expired or whose run has ended", async () => {
    const inbox = reviewInbox();
    const controller = new AbortController();
    await using ensemble = new Ensemble({
      tasks: [task("a", { review: Review.of({ timeoutMs: 5 }) })],
      plugins: [review({ store: inbox })],
    });
    expect((await ensemble.run()).exitReason).to.equal("TIMEOUT");
    expect(inbox.pending()).to.deep.equal([]);
    await using cancelled = new Ensemble({
      tasks: [task("a")],
      plugins: [review({ store: inbox })],
    });
    const running = rejection(cancelled.run({}, { signal: controller.signal }));
    await waiting(inbox, 1);
    expect(inbox.pending()).to.have.length(1);
    controller.abort();
    expect(AgentEnsembleError.isInstance(await running)).to.equal(true);
    expect(inbox.pending()).to.deep.equal([]);
  });

  it("calls its listeners, also if one throws, and stops after their removal", async () => {
    const inbox = reviewInbox();
    const warned: string[] = [];
    const onWarning = ({ message }: Error): unknown => warned.push(message);
    process.on("warning", onWarning);
    let told = 0;
    const stop = inbox.onRequest(() => told++);
    inbox.onRequest(() => Promise.reject(new Error("the mail server is down")));
    inbox.onRequest(({ reviewId }) => {
      setImmediate(() => inbox.resolve(reviewId, ReviewDecision.continue()));
      throw new Error("odd");
    });
    await using ensemble = new Ensemble({
      tasks: [task("a")],
      plugins: [review({ store: inbox })],
    });
    await ensemble.run();
    stop();
    await ensemble.run();
    await pause(5);
    process.off("warning", onWarning);
    expect(told).to.equal(1);
    expect(warned.filter((message) => message.includes("the mail server is down"))).to.have.length(
      2,
    );
    expect(() => inbox.onRequest(undefined as never)).to.throw(ValidationError);
  });

  it("refuses a second question with the id of an open one: an answer must reach the correct run", async () => {
    const inbox = reviewInbox();
    await using ensemble = new Ensemble({
      tasks: [task("a")],
      plugins: [review({ store: inbox })],
    });
    const first = ensemble.run({}, { runId: "same" });
    await waiting(inbox, 1);
    const second = await rejectionOf(AgentEnsembleError, ensemble.run({}, { runId: "same" }));
    expect(ReviewError.find(second)?.message).to.include("is waiting already");
    inbox.resolve(inbox.pending()[0]?.reviewId ?? "", ReviewDecision.continue());
    expect((await first).exitReason).to.equal("COMPLETED");
  });
});
