import type { ReviewStore, StoredReview } from "agentensemble";
import { Ensemble, Kernel, Review, ReviewDecision, Task, Tokens } from "agentensemble";
import { reviewInbox } from "agentensemble/review";
import { reviewStoreContract } from "agentensemble/testing";
import { expect } from "chai";
import { failuresOf } from "./failures-of.js";

/** A store that counts as watched only with a listener, like a store for several processes. */
function listened(broken: Partial<ReviewStore> = {}): ReviewStore {
  const inbox = reviewInbox();
  let listeners = 0;
  return {
    ask: (request) => inbox.ask(request),
    pending: () => inbox.pending(),
    resolve: (id, decision) => inbox.resolve(id, decision),
    waitFor: (id, signal) => inbox.waitFor(id, signal),
    onRequest(fn) {
      listeners++;
      const stop = inbox.onRequest(fn);
      return () => {
        listeners--;
        stop();
      };
    },
    isWatched: () => listeners > 0,
    ...broken,
  };
}

reviewStoreContract("in memory", { create: () => ({ store: listened() }) });

/** Reviews that other objects of the same place also contain; the place is a map. */
function outliving(): { readonly store: ReviewStore; readonly reopen: () => ReviewStore } {
  const kept = new Map<string, StoredReview>();
  const open = (): ReviewStore => {
    const sound = listened();
    return {
      ...sound,
      ask: async (request) => {
        const known = kept.get(request.reviewId);
        if (known !== undefined) return known;
        kept.set(request.reviewId, await sound.ask(request));
        return request;
      },
      pending: () => [...kept.values()].filter(({ decision }) => decision === undefined),
      resolve: (id, decision) => {
        const review = kept.get(id);
        if (review === undefined) return { outcome: "unknown" };
        const decided = { ...review, decision };
        kept.set(id, decided);
        return { outcome: "resolved", review: decided };
      },
      howToAnswer: (id) => `answer ${id}`,
    };
  };
  return { store: open(), reopen: open };
}

describe("reviewStoreContract", () => {
  const breaches: Readonly<Record<string, readonly [string, () => ReviewStore]>> = {
    "the last answer instead of the first": [
      "accepts the first of several answers, and reports it to the others",
      () => {
        const sound = listened();
        return {
          ...sound,
          resolve: async (id, decision) => {
            const { review } = await sound.resolve(id, decision);
            return { outcome: "resolved", ...(review && { review: { ...review, decision } }) };
          },
        };
      },
    ],
    "reviews that wait forever": [
      "ends the wait at its signal, and closes a review after its deadline",
      () => {
        const sound = listened();
        return { ...sound, waitFor: (id) => sound.waitFor(id, new AbortController().signal) };
      },
    ],
    "answers that are not decisions": [
      "returns a decision to the waiting run, with its author and reason",
      () => {
        const sound = listened();
        return {
          ...sound,
          resolve: (id, { by: _, ...decision }) => sound.resolve(id, decision),
        };
      },
    ],
    "listeners that can't be removed": [
      "notifies listeners of each new review until they stop, also if a listener throws",
      () => {
        const sound = listened();
        return { ...sound, onRequest: (fn) => (sound.onRequest(fn), () => undefined) };
      },
    ],
    "lists with the newest review first": [
      "lists open reviews unchanged, oldest first",
      () => {
        const sound = listened();
        return { ...sound, pending: async () => [...(await sound.pending())].reverse() };
      },
    ],
  };
  for (const [breach, [expected, create]] of Object.entries(breaches))
    it(`detects ${breach}`, async function () {
      this.timeout(10_000);
      const failed = await failuresOf(() =>
        reviewStoreContract("under test", {
          create: () => {
            const store = create();
            return { store };
          },
        }),
      );
      expect(failed).to.include(expected);
    });

  it("accepts the view of another process", async () => {
    const failed = await failuresOf(() =>
      reviewStoreContract("under test", { create: outliving, reopens: true }),
    );
    expect(failed).to.not.include.members([
      "keeps open reviews for another process, and describes how to answer them",
      "returns the first request and its decision when the same review is requested again",
    ]);
  });

  it("refuses an unknown option", () => {
    expect(() => reviewStoreContract("odd", { creates: () => undefined } as never)).to.throw(
      "Did you mean 'create'?",
    );
  });
});

describe("Tokens.ReviewStore", () => {
  const task = (): Task =>
    new Task({ description: "a", handler: () => "a", review: Review.required() });

  it("is the inbox of every run of a kernel without a review handler, and any listener answers", async () => {
    await using kernel = new Kernel();
    const ensemble = new Ensemble({ tasks: [task()], kernel });
    await kernel.boot();
    const store = kernel.container.get(Tokens.ReviewStore);
    store.onRequest(({ reviewId }) => store.resolve(reviewId, ReviewDecision.edit("better")));
    expect((await ensemble.run()).raw).to.equal("better");
  });

  it("is not used if the ensemble has a review handler", async () => {
    const inbox = reviewInbox();
    const asked: string[] = [];
    inbox.onRequest(({ reviewId }) => void asked.push(reviewId));
    await using ensemble = new Ensemble({
      tasks: [task()],
      reviewHandler: () => ReviewDecision.continue(),
    });
    const output = await ensemble.run(
      {},
      { bindings: (bind) => void bind.single(Tokens.ReviewStore).toConstantValue(inbox) },
    );
    expect([output.raw, asked]).to.deep.equal(["a", []]);
  });

  it("of a run takes precedence over that of the kernel", async () => {
    const inbox = reviewInbox();
    inbox.onRequest(({ reviewId }) => inbox.resolve(reviewId, ReviewDecision.edit("mine")));
    await using ensemble = new Ensemble({ tasks: [task()] });
    const output = await ensemble.run(
      {},
      { bindings: (bind) => void bind.single(Tokens.ReviewStore).toConstantValue(inbox) },
    );
    expect(output.raw).to.equal("mine");
  });
});
