import { expect } from "chai";
import { ForwardedQuestions } from "../../src/service/forwarded-questions.js";

const asked = {
  ...{ type: "review_requested", reviewId: "v", taskId: "a", timeoutMs: 0 },
  ...{ taskDescription: "Write", taskOutput: "text" },
};

function published(isForwarded: boolean, event: object): object {
  const messages: object[] = [];
  const clock = { now: () => new Date(0), monotonicMs: () => 0 };
  const publish = (message: object): void => void messages.push(message);
  const questions = new ForwardedQuestions({ clock, isForwarded, publish });
  questions.ask({ ...asked, ...event } as never);
  questions.resolved("unknown");
  questions.close();
  expect(messages).to.have.length(1);
  return messages[0] ?? {};
}

describe("the questions of a run for its caller", () => {
  const place = { type: "review_requested", reviewId: "v", taskId: "a" };

  it("are listed only if the caller does not answer", () => {
    expect(published(false, {})).to.deep.equal(place);
  });

  it("contain only the requested fields, and texts that fit into a message", () => {
    const plain = { ...place, question: "Approve: Write", output: "text" };
    expect(published(true, {})).to.deep.equal(plain);
    const whole = {
      prompt: "Good?",
      requiredRole: "lead",
      timeoutMs: 5,
      taskOutput: "x".repeat(601),
    };
    expect(published(true, whole)).to.deep.equal({
      ...place,
      question: "Good?",
      output: "x".repeat(600),
      truncated: true,
      requiredRole: "lead",
      leftMs: 5,
    });
  });
});
