import type { EnsembleOutput, ReviewStore } from "agentensemble";
import {
  Ensemble,
  Review,
  ReviewDecision,
  ReviewError,
  Task,
  ValidationError,
} from "agentensemble";
import { review, reviewInbox } from "agentensemble/review";
import { expect } from "chai";
import { runToEnd } from "../../support/kernel-fixtures.js";

/** A store with some of its methods replaced. */
function store(changes: Partial<ReviewStore>, inbox = reviewInbox()): ReviewStore {
  return {
    ask: (request) => inbox.ask(request),
    pending: () => inbox.pending(),
    resolve: (id, decision) => inbox.resolve(id, decision),
    waitFor: (id, signal) => inbox.waitFor(id, signal),
    onRequest: (fn) => inbox.onRequest(fn),
    isWatched: () => true,
    ...changes,
  };
}

const reviewed = (given: ReviewStore, timeoutMs = 30): Ensemble =>
  new Ensemble({
    tasks: [
      new Task({ description: "Write", handler: () => "draft", review: Review.of({ timeoutMs }) }),
    ],
    plugins: [review({ store: given })],
  });

async function end(ensemble: Ensemble, signal?: AbortSignal): Promise<EnsembleOutput> {
  await using team = ensemble;
  return await team.run({}, { throwOnError: false, signal });
}

describe("a review whose store has faults", () => {
  it("ends in time if the store never accepts the question", async () => {
    const output = await end(reviewed(store({ ask: () => new Promise<never>(() => undefined) })));
    expect(output.exitReason).to.equal("TIMEOUT");
  });

  it("ends in time if the store has lost the deadline", async () => {
    for (const deadline of [undefined, "soon"]) {
      const inbox = reviewInbox();
      const lost = { ask: (request: object) => inbox.ask({ ...request, deadline } as never) };
      const output = await end(reviewed(store(lost, inbox)));
      expect(output.exitReason, deadline).to.equal("TIMEOUT");
    }
  });

  it("is still answered if the store has lost the deadline", async () => {
    const inbox = reviewInbox();
    inbox.onRequest(({ reviewId }) =>
      setImmediate(() => inbox.resolve(reviewId, ReviewDecision.edit("better"))),
    );
    const lost = { ask: (request: object) => inbox.ask({ ...request, deadline: "soon" } as never) };
    expect((await end(reviewed(store(lost, inbox), 60_000))).raw).to.equal("better");
  });

  it("fails if the store returns no review", async () => {
    const { error } = await runToEnd({
      tasks: [
        new Task({ description: "Write", handler: () => "draft", review: Review.required() }),
      ],
      plugins: [review({ store: store({ ask: () => undefined as never }) })],
    });
    expect(ReviewError.find(error)?.message).to.include(
      "The review store did not store the review",
    );
  });

  it("is refused if the store lacks a method", () => {
    for (const name of ["ask", "pending", "resolve", "waitFor", "onRequest", "isWatched"])
      expect(() => review({ store: store({ [name]: undefined }) }), name).to.throw(ValidationError);
  });
});

describe("a run that ends while its review is being stored", () => {
  it("leaves no open review", async () => {
    const inbox = reviewInbox();
    const controller = new AbortController();
    const asked: string[] = [];
    inbox.onRequest(({ reviewId }) => {
      asked.push(reviewId);
      controller.abort();
    });
    const output = await end(reviewed(inbox), controller.signal);
    expect(output.exitReason).to.equal("CANCELLED");
    expect(inbox.pending()).to.deep.equal([]);
    const late = inbox.resolve(asked[0] ?? "", ReviewDecision.continue());
    expect(late.outcome).to.equal("over");
  });

  it("leaves no review that the store adds later", async () => {
    const inbox = reviewInbox();
    const controller = new AbortController();
    let keep = (): void => undefined;
    const kept = new Promise<void>((resolve) => (keep = resolve));
    const slow = store(
      {
        ask: async (request) => {
          controller.abort();
          await kept;
          return inbox.ask(request);
        },
      },
      inbox,
    );
    await end(reviewed(slow), controller.signal);
    keep();
    await new Promise(setImmediate);
    expect(inbox.pending()).to.deep.equal([]);
  });
});
