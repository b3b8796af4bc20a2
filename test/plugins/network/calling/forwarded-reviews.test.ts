import { setImmediate as otherWork } from "node:timers/promises";
import { expect } from "chai";
import { ReviewDecision } from "../../../../src/contracts/review.js";
import { ReviewUnavailableError } from "../../../../src/contracts/state-errors.js";
import { ForwardedReviews } from "../../../../src/plugins/network/calling/forwarded-reviews.js";

interface Asked {
  readonly timeoutMs: number;
  readonly taskOutput: string;
  readonly requiredRole?: string;
}

function forwarded(
  answer: (signal: AbortSignal) => Promise<ReviewDecision>,
  decide: () => Promise<void> = async () => undefined,
) {
  const asked: Asked[] = [];
  const decided: string[] = [];
  const warnings: string[] = [];
  const gate = {
    canAsk: () => true,
    ask: (question: Asked, { signal }: { signal: AbortSignal }) => {
      asked.push(question);
      return answer(signal);
    },
  };
  const scope = {
    run: { find: () => gate },
    get: () => ({ now: () => new Date(0) }), // the clock
    emit: ({ message }: { message: string }) => void warnings.push(message),
  };
  const remote = {
    decide: async (_requestId: string, reviewId: string) => {
      await decide();
      decided.push(reviewId);
    },
  };
  const ctx = { scope, signal: new AbortController().signal };
  const reviews = new ForwardedReviews({
    ...{ remote, requestId: "r", ensemble: "team", ctx },
  } as never);
  return { reviews, asked, decided, warnings };
}

const question = { type: "review_requested", reviewId: "v", question: "Good?" };

describe("the reviews of a remote run that are forwarded", () => {
  it("require a reviewer", () => {
    for (const gate of [undefined, { canAsk: () => false }]) {
      const ctx = { scope: { run: { find: () => gate } } };
      expect(() => new ForwardedReviews({ ensemble: "team", ctx } as never)).to.throw(
        ReviewUnavailableError,
        "No reviewer can answer the reviews of ensemble 'team'",
      );
    }
  });

  it("are requested once, with the remaining time", async () => {
    const { reviews, asked, decided } = forwarded(async () => ReviewDecision.continue());
    for (const progress of [undefined, { type: "other" }, { ...question, question: 3 }])
      reviews.hear(progress);
    reviews.hear(question);
    reviews.hear(question);
    await otherWork();
    reviews.hear(question);
    reviews.hear({ ...question, reviewId: "w", leftMs: 1.5, output: "text", requiredRole: "lead" });
    reviews.hear({ ...question, reviewId: "x", expires: "1970-01-01T00:00:02Z", requiredRole: 3 });
    await otherWork();
    expect(decided).to.deep.equal(["v", "w", "x"]);
    expect(asked.map(({ timeoutMs }) => timeoutMs)).to.deep.equal([0, 2, 2_000]);
    expect(asked.map(({ requiredRole }) => requiredRole)).to.deep.equal([
      undefined,
      "lead",
      undefined,
    ]);
    reviews.end();
    reviews.hear({ ...question, reviewId: "late" });
    expect(asked).to.have.length(3);
  });

  it("are left to the remote run if no answer arrived in time", async () => {
    const late = { ...ReviewDecision.continue(), timedOut: true } as ReviewDecision;
    const { reviews, asked, decided } = forwarded(async () => late);
    reviews.hear(question);
    await otherWork();
    reviews.hear(question);
    expect([asked.length, decided.length]).to.deep.equal([1, 0]);
  });

  it("keep an unsent decision, and warn of it", async () => {
    let isDown = true;
    const { reviews, asked, decided, warnings } = forwarded(
      async () => ReviewDecision.continue(),
      async () => {
        if (isDown) throw new Error("down");
      },
    );
    reviews.hear(question);
    await otherWork();
    expect(warnings).to.deep.equal(["The answer to a review of 'team' failed: down"]);
    isDown = false;
    reviews.hear(question);
    await otherWork();
    expect([asked.length, decided]).to.deep.equal([1, ["v"]]);
  });

  it("end without a warning if another user answered the remote run", async () => {
    const { reviews, warnings } = forwarded(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("over")));
        }),
    );
    reviews.hear(question);
    reviews.hear({ type: "review_resolved", reviewId: "unknown" });
    reviews.hear({ type: "review_resolved", reviewId: "v" });
    reviews.hear({ ...question, reviewId: "w" });
    reviews.end();
    await otherWork();
    expect(warnings).to.deep.equal([]);
  });
});
