// The built-in reviews and those of another package, on the same tasks.
import type { EnsembleOptions, ReviewHandler, ReviewRequest } from "agentensemble";
import { Agent, Review, ReviewDecision, Task, tool, ValidationError } from "agentensemble";
import { review as builtIn, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { review } from "./review.js";
import { expectSameEnd, type Case } from "./same-end.js";

const EVENTS = ["review_requested", "review_resolved"] as const;
const draft = (more: object = {}): Task =>
  new Task({ description: "Draft", handler: () => "draft", ...more });
const required = (more: object = {}): Task => draft({ review: Review.required("Good?"), ...more });
const next = new Task({ description: "Next", handler: () => "next" });
const silent: ReviewHandler = () => new Promise(() => undefined);

/** A draft and a following task, with a handler that answers. */
const asked =
  (subject: Task, answer: ReviewDecision | ReviewHandler, more: EnsembleOptions = {}) =>
  (): EnsembleOptions => ({
    tasks: [subject, next],
    reviewHandler: typeof answer === "function" ? answer : () => answer,
    ...more,
  });

/** A review without an answer in time. */
const late = (onTimeout: "CONTINUE" | "EXIT_EARLY" | "FAIL"): Case["options"] =>
  asked(required({ review: Review.of({ timeoutMs: 20, onTimeout }) }), silent);

const { continue: goOn, edit, exitEarly } = ReviewDecision;
const before = { beforeReview: Review.required() };
const UNAVAILABLE = ["AE_TASK_EXECUTION", "AE_REVIEW_UNAVAILABLE"];
const FAILED = ["AE_TASK_EXECUTION", "AE_REVIEW"];

const send = tool({
  name: "send",
  description: "Sends",
  requireApproval: true,
  execute: (input) => `sent ${input}`,
});
/** A tool call that waits for approval; the answer is the text of the tool. */
const approved =
  (answer: ReviewDecision): Case["options"] =>
  () => ({
    model: new ScriptedModel((request) => {
      const said = request.messages.find(({ role }) => role === "tool");
      return said === undefined
        ? { toolCalls: [{ name: "send", arguments: { input: "a" } }] }
        : JSON.stringify(said.content);
    }),
    tasks: [
      new Task({ description: "Send", agent: new Agent({ role: "r", goal: "g", tools: [send] }) }),
    ],
    reviewHandler: () => answer,
  });

const CASES: Readonly<Record<string, Case>> = {
  "an output that passes": {
    options: asked(required(), goOn({ by: "ana", comment: "fine" })),
    outputs: ["draft", "next"],
  },
  "an output that is edited": {
    options: asked(required(), edit("better")),
    outputs: ["better", "next"],
  },
  "an output that ends the run": { options: asked(required(), exitEarly()), outputs: ["draft"] },
  "a task that may begin": { options: asked(draft(before), goOn()), outputs: ["draft", "next"] },
  "a task that may not begin": { options: asked(draft(before), exitEarly()), outputs: [] },
  "a policy for every output": {
    options: asked(draft(), edit("better"), { reviewPolicy: "AFTER_EVERY_TASK" }),
    outputs: ["better", "better"],
  },
  "a policy for the last output": {
    options: asked(draft(), edit("better"), { reviewPolicy: "AFTER_LAST_TASK" }),
    outputs: ["draft", "better"],
  },
  "a task without a matching policy": {
    options: asked(draft({ review: Review.skip() }), edit("better"), {
      reviewPolicy: "AFTER_EVERY_TASK",
    }),
    outputs: ["draft", "better"],
  },
  "a time-out with CONTINUE": { options: late("CONTINUE"), outputs: ["draft", "next"] },
  "a time-out with EXIT_EARLY": { options: late("EXIT_EARLY"), outputs: ["draft"] },
  "a time-out with FAIL": {
    options: late("FAIL"),
    codes: ["AE_TASK_EXECUTION", "AE_REVIEW_TIMEOUT"],
    outputs: [],
  },
  "a handler that throws": {
    options: asked(required(), () => {
      throw new Error("no terminal");
    }),
    codes: FAILED,
    outputs: [],
  },
  "a handler that returns no decision": {
    options: asked(required(), (() => "yes") as never),
    codes: FAILED,
    outputs: [],
  },
  "no reviewer for an output": {
    options: () => ({ tasks: [next, required()] }),
    codes: UNAVAILABLE,
    outputs: ["next"],
  },
  "no reviewer before a task": {
    options: () => ({ tasks: [draft(before)] }),
    codes: UNAVAILABLE,
    outputs: [],
  },
  "no reviewer for the policy": {
    options: () => ({ tasks: [draft()], reviewPolicy: "AFTER_EVERY_TASK" }),
    codes: UNAVAILABLE,
    outputs: [],
  },
  "a tool call that is approved": { options: approved(goOn()), outputs: ['"sent a"'] },
  "a tool call that is edited": { options: approved(edit("b")), outputs: ['"sent b"'] },
  "a tool call that is refused": { options: approved(exitEarly({ comment: "no" })) },
};

describe("reviews of another package", () => {
  for (const [name, subject] of Object.entries(CASES))
    it(`end a run like the built-in reviews: ${name}`, async () => {
      await expectSameEnd(subject, [builtIn(), review()], EVENTS);
    });

  it("wait in a store if the run has no handler", async () => {
    const stored = (make: typeof builtIn | typeof review) => {
      const store = reviewInbox();
      store.onRequest(({ reviewId, taskOutput }: Pick<ReviewRequest, "reviewId" | "taskOutput">) =>
        setImmediate(() => store.resolve(reviewId, edit(`${taskOutput}, signed`))),
      );
      return make({ store });
    };
    const subject: Case = {
      options: () => ({ tasks: [required(), next] }),
      outputs: ["draft, signed", "next"],
    };
    await expectSameEnd(subject, [stored(builtIn), stored(review)], EVENTS);
  });

  it("refuse invalid options", () => {
    for (const make of [builtIn, review])
      expect(() => make({ timeoutMs: -1 })).to.throw(ValidationError, "review timeoutMs");
  });
});
