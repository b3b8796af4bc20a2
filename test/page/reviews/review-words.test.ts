import { expect } from "chai";
import {
  afterwards,
  decisionWord,
  endOf,
  kindOf,
  shareLeft,
  titleOf,
  wordsOf,
} from "../../../page/src/lib/reviews/review-words.js";
import { review } from "./a-review.js";

describe("words of a review", () => {
  it("distinguish four kinds of reviews", () => {
    const kinds = [
      review({ timing: "BEFORE_EXECUTION" }),
      review({ timing: "AFTER_EXECUTION" }),
      review({ timing: "DURING_EXECUTION", toolName: "pay", input: { amount: 1 } }),
      review({ timing: "DURING_EXECUTION", toolName: "human_input" }),
    ].map(kindOf);
    expect(kinds).to.deep.equal(["before", "after", "call", "question"]);
  });

  it("describe the effect of the time limit", () => {
    const call = { timing: "DURING_EXECUTION", input: {} } as const;
    expect(afterwards(review({ ...call, onTimeout: "EXIT_EARLY" }))).to.equal("not made");
    expect(afterwards(review({ onTimeout: "EXIT_EARLY" }))).to.equal("the run ends");
    expect(afterwards(review({ onTimeout: "CONTINUE" }))).to.equal("approved");
    expect(afterwards(review({ onTimeout: "FAIL" }))).to.equal("the task fails");
  });

  it("contain the author's question, otherwise the judged text", () => {
    expect(titleOf(review({ prompt: "Is it kind?" }))).to.equal("Is it kind?");
    expect(titleOf(review({}))).to.equal("Approve this output?");
    const call = review({
      timing: "DURING_EXECUTION",
      input: {},
      toolName: "pay",
      prompt: "A hint",
    });
    expect(titleOf({ ...call, taskDescription: "Pay 412 EUR?" })).to.equal("Pay 412 EUR?");
    expect(wordsOf(call).end).to.equal("Don’t make the call");
  });

  it("show the remaining time", () => {
    const timed = { deadline: "2026-01-01T00:01:00.000Z", timeoutMs: 60_000 };
    const at = (seconds: number): number | undefined =>
      shareLeft(timed, Date.parse("2026-01-01T00:00:00.000Z") + seconds * 1_000);
    expect([at(15), at(60), at(-5)]).to.deep.equal([0.75, 0, 1]);
    expect(shareLeft({ timeoutMs: 0 }, 0)).to.equal(undefined);
  });

  it("name decisions like the kernel, routes and time limits", () => {
    expect(["CONTINUE", "approve", "edit", "EXIT_EARLY", "FAIL"].map(decisionWord)).to.deep.equal([
      "approved",
      "approved",
      "approved with edit",
      "ended",
      "failed",
    ]);
    const answered = {
      reviewId: "r",
      runId: "run",
      taskId: "t",
      at: "",
      decision: "EDIT",
    } as const;
    expect(endOf({ ...answered, timedOut: false, by: "joel" })).to.equal(
      "Answered by joel: approved with edit",
    );
    expect(endOf({ ...answered, decision: "FAIL", timedOut: true })).to.equal(
      "Time limit reached: failed",
    );
  });
});
