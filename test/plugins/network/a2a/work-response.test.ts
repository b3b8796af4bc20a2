import { expect } from "chai";
import type { Artifact, Message, TaskStatus } from "@a2a-js/sdk";
import type { StoredReview } from "../../../../src/contracts/review.js";
import {
  dataPart,
  messageWith,
  textPart,
} from "../../../../src/plugins/network/shared/a2a/parts.js";
import {
  WORK_EXTENSION,
  ROLE,
  STATE,
} from "../../../../src/plugins/network/shared/a2a/protocol.js";
import {
  answerInMessage,
  reviewOf,
  reviewParts,
} from "../../../../src/plugins/network/shared/a2a/review-message.js";
import {
  hasEnded,
  responseOfMessage,
  responseOfTask,
} from "../../../../src/plugins/network/shared/a2a/work-response.js";

function message(...parts: Message["parts"]): Message {
  return messageWith({ messageId: "m", role: ROLE.AGENT, parts });
}

function status(state: TaskStatus["state"], text?: string): TaskStatus {
  const said = text === undefined ? undefined : message(textPart(text));
  return { state, message: said, timestamp: undefined };
}

function artifact(...parts: Message["parts"]): Artifact {
  return { parts } as unknown as Artifact; // nothing else is read
}

describe("the result in a task of an agent", () => {
  const none = { artifacts: [], metadata: undefined };

  it("is available after the task has ended", () => {
    expect(responseOfTask("r", { ...none, status: undefined }, 5)).to.equal(undefined);
    expect(hasEnded({ status: undefined })).to.equal(false);
    expect(hasEnded({ status: status(STATE.CANCELED) })).to.equal(true);
  });

  it("reports the reason if a task did not succeed", () => {
    const cases = [
      [STATE.CANCELED, "CANCELLED", "CANCELLED"],
      [STATE.REJECTED, "REJECTED", "DENIED"],
      [STATE.FAILED, "FAILED", "RUN_FAILED"],
    ] as const;
    for (const [state, ended, reason] of cases) {
      const response = responseOfTask("r", { ...none, status: status(state) }, 5);
      expect(response).to.include({ status: ended, reason, error: `The task is ${ended}` });
    }
    expect(responseOfTask("r", { ...none, status: status(STATE.FAILED, "Oh") }, 5)).to.include({
      error: "Oh",
    });
  });

  it("is the text of the artifacts, else of the message, else the data as JSON", () => {
    const completed = status(STATE.COMPLETED, "said");
    const data = [artifact(dataPart({ a: 1 }))];
    expect(responseOfTask("r", { ...none, status: completed }, 5)?.result).to.equal("said");
    const parsed = responseOfTask("r", { ...none, status: completed, artifacts: data }, 5);
    expect(parsed).to.deep.include({ result: '{"a":1}', parsed: { a: 1 }, durationMs: 5 });
  });

  it("contains the fields that the agent reports, except fields of a wrong type", () => {
    const usage = [
      {
        provider: "p",
        modelId: "m",
        source: "s",
        inputTokens: 3,
        calls: 2,
        cost: 4,
        currency: "EUR",
      },
      { provider: "p", modelId: "n", inputTokens: "many" },
      { provider: "p" },
      "none",
    ];
    const fields = {
      ...{ durationMs: 9, retryAfterMs: 7, attempt: 2, servedBy: "one", truncated: true, usage },
      reason: "BUDGET",
    };
    const metadata = { [WORK_EXTENSION]: fields };
    const response = responseOfTask("r", { ...none, metadata, status: status(STATE.FAILED) }, 5);
    expect(response).to.deep.include({
      ...{ durationMs: 9, retryAfterMs: 7, attempt: 2, servedBy: "one", truncated: true },
      reason: "BUDGET",
      usage: [usage[0], { provider: "p", modelId: "n" }],
    });
    const wrong = { [WORK_EXTENSION]: { servedBy: 1, attempt: "2", truncated: "yes", usage: 3 } };
    const plain = responseOfTask(
      "r",
      { ...none, metadata: wrong, status: status(STATE.FAILED) },
      5,
    );
    expect(plain).to.not.have.any.keys("servedBy", "attempt", "truncated", "usage");
  });
});

describe("the result of an agent that answers with a message", () => {
  it("is its text, or its data as JSON", () => {
    expect(responseOfMessage("r", message(textPart("a"), textPart("b")), 5)).to.deep.include({
      result: "a\nb",
      durationMs: 5,
    });
    const data = responseOfMessage("r", message(dataPart({ a: 1 })), 5);
    expect(data).to.deep.include({ result: '{"a":1}', parsed: { a: 1 } });
    expect(responseOfMessage("r", message(), 5)).to.include({ result: "" });
  });
});

describe("a review in a message", () => {
  const review = { reviewId: "v", taskDescription: "Write", taskOutput: "" } as StoredReview;

  it("contains the description of the task if it has no prompt", () => {
    const asked = reviewOf(message(...reviewParts(review)));
    expect(asked).to.deep.equal({ reviewId: "v", question: "Approve: Write" });
    const deadline = "2026-01-01T00:00:00Z";
    const whole = { ...review, prompt: "Good?", taskOutput: "text", deadline };
    expect(reviewOf(message(...reviewParts(whole)))).to.deep.equal({
      reviewId: "v",
      question: "Good?",
      output: "text",
      expires: deadline,
    });
    expect(reviewOf(message(dataPart({ reviewId: 1 })))).to.equal(undefined);
    expect(reviewOf(undefined)).to.equal(undefined);
  });

  it("is not answered by a message of another form", () => {
    const problemOf = (value: unknown): unknown => answerInMessage(message(dataPart(value)), "me");
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, "An answer needs a data part { reviewId, decision }"],
      [{ decision: "edit", other: 1 }, "Unknown field 'other'."],
      [{ decision: "edit", reviewId: 1 }, "reviewId must be a text, got: 1"],
      [{ decision: 2, reviewId: "v" }, "decision must be continue, edit or exit_early, got: 2"],
      [{ decision: "continue", reviewId: "v", revisedOutput: "x" }, "for the decision edit only"],
      [{ decision: "edit", reviewId: "v" }, "revis"],
    ];
    for (const [value, problem] of cases)
      expect(problemOf(value)).to.have.property("problem").that.includes(problem);
  });
});
