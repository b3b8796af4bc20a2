import { expect } from "chai";
import type { StoredReview } from "../../../../src/contracts/review.js";
import { ReviewDecision } from "../../../../src/contracts/review.js";
import { ReviewDesk } from "../../../../src/plugins/network/a2a-server/review-desk.js";

const decision = ReviewDecision.continue();
const viewer = { id: "v", role: "viewer" } as const;

function deskWith(...reviews: readonly object[]): ReviewDesk {
  return new ReviewDesk({
    pending: async () => reviews,
    resolve: async (reviewId: string) => ({
      outcome: reviewId === "none" ? "unknown" : "decided",
      ...(reviewId === "old" && { review: { runId: "other" } }),
    }),
  } as never);
}

describe("the reviews of the runs of callers", () => {
  const place = { runId: "r", reviewId: "v" };

  it("are unknown without a store", async () => {
    const desk = new ReviewDesk(undefined);
    expect(await desk.pendingOf("r")).to.equal(undefined);
    expect(await desk.answer(place, decision, viewer as never)).to.equal("unknown");
    desk.on("r", () => undefined)();
    desk.close();
  });

  it("are answered by callers with the role, and for their own run", async () => {
    const answer = (review: object, principal: object = viewer): Promise<string> =>
      deskWith({ reviewId: "v", runId: "r", ...review }).answer(
        place,
        decision,
        principal as never,
      );
    expect(await answer({})).to.equal("decided");
    expect(await answer({ runId: "other" })).to.equal("unknown");
    expect(await answer({ requiredRole: "lead" })).to.equal("denied");
    expect(await answer({ requiredRole: "lead" }, { role: "operator" })).to.equal("decided");
    for (const role of ["lead", "*"]) {
      const principal = { ...viewer, reviewRoles: [role] };
      expect(await answer({ requiredRole: "lead" }, principal), role).to.equal("decided");
    }
    const clerk = { ...viewer, reviewRoles: ["clerk"] };
    expect(await answer({ requiredRole: "lead" }, clerk)).to.equal("denied");
  });

  it("of another run are unknown, even after their end", async () => {
    const answer = (reviewId: string): Promise<string> =>
      deskWith().answer({ runId: "r", reviewId }, decision, viewer as never);
    expect(await answer("old")).to.equal("unknown");
    expect(await answer("none")).to.equal("unknown");
    expect(await answer("mine")).to.equal("decided");
  });

  it("are sent to the watchers of the run, while they watch", () => {
    let hear: ((review: StoredReview) => void) | undefined;
    const store = {
      onRequest: (fn: typeof hear) => {
        hear = fn;
        return () => void (hear = undefined);
      },
    };
    const desk = new ReviewDesk(store as never);
    const seen: string[] = [];
    const ends = ["a", "b"].map((name) => desk.on("r", () => void seen.push(name)));
    hear?.({ runId: "r" } as StoredReview);
    hear?.({ runId: "other" } as StoredReview);
    ends[0]?.();
    hear?.({ runId: "r" } as StoredReview);
    expect(seen).to.deep.equal(["a", "b", "b"]);
    ends[1]?.();
    expect(hear).to.equal(undefined);
  });
});
