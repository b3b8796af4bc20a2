import type { ReviewDecision as Decision, ReviewRequest } from "agentensemble";
import {
  Agent,
  ReviewDecision,
  ReviewTimeoutError,
  Task,
  ReviewUnavailableError,
  ValidationError,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { review } from "agentensemble/review";
import { expect } from "chai";
import { runToEnd } from "../../support/kernel-fixtures.js";
import { person } from "./fixtures.js";

const asking = (question: object, seen: Decision[]): Task =>
  new Task({
    description: "Ask",
    handler: tool({
      name: "ask",
      description: "Asks",
      execute: async (_, ctx) =>
        void seen.push(await ctx.requestApproval(question as { description: string })),
    }),
  });

describe("requestApproval of a tool's context", () => {
  it("passes all fields on, and returns the decision to the tool", async () => {
    const seen: Decision[] = [];
    const { handler, asked } = person(ReviewDecision.exitEarly());
    const question = {
      description: "Really?",
      timeoutMs: 9,
      onTimeout: "FAIL",
      prompt: "Sure?",
      requiredRole: "boss",
    };
    const { output } = await runToEnd({ tasks: [asking(question, seen)], reviewHandler: handler });
    const { description: taskDescription, ...rest } = question;
    expect(asked[0]).to.include({ ...rest, taskDescription, timing: "DURING_EXECUTION" });
    expect([seen[0]?.type, output.exitReason]).to.deep.equal(["EXIT_EARLY", "COMPLETED"]);
  });

  it("does not need its `this`", async () => {
    const { handler } = person(ReviewDecision.continue());
    const ask = tool({
      name: "ask",
      description: "Asks",
      execute: async (_, { requestApproval }) => (await requestApproval({ description: "?" })).type,
    });
    const tasks = [new Task({ description: "Ask", handler: ask })];
    const { output } = await runToEnd({ tasks, reviewHandler: handler });
    expect(output.raw).to.equal("CONTINUE");
  });

  it("does not treat a default of CONTINUE as approval", async () => {
    const seen: Decision[] = [];
    const never = (): Promise<Decision> => new Promise(() => undefined);
    await runToEnd({
      tasks: [asking({ description: "Really?" }, seen)],
      reviewHandler: never,
      plugins: [review({ timeoutMs: 10, onTimeout: "CONTINUE" })],
    });
    expect(seen).to.deep.equal([{ type: "EXIT_EARLY", timedOut: true }]);
  });

  it("fails the task without an answer if the option requires it, else returns the decision to the tool", async () => {
    const never = (): Promise<Decision> => new Promise(() => undefined);
    const ask = tool({
      name: "ask",
      description: "Asks",
      execute: async (_, ctx) => (await ctx.requestApproval(silence)).type,
    });
    const careful = tool({
      name: "ask",
      description: "Asks",
      execute: (_, ctx) =>
        ctx.requestApproval(silence).then(
          ({ type }) => type,
          () => "left it",
        ),
    });
    const silence = { description: "Really?", timeoutMs: 10, onTimeout: "FAIL" } as const;
    const told: unknown[] = [];
    for (const used of [ask, careful]) {
      const model = new ScriptedModel([
        { toolCalls: [{ name: "ask", arguments: { input: "x" } }] },
        "done",
      ]);
      const tasks = [
        new Task({ description: "Do", agent: new Agent({ role: "r", goal: "g", tools: [used] }) }),
      ];
      const { error } = await runToEnd({ tasks, model, reviewHandler: never });
      told.push(
        ReviewTimeoutError.find(error)?.code ?? model.requests[1]?.messages.at(-1)?.content,
      );
    }
    expect(told).to.deep.equal(["AE_REVIEW_TIMEOUT", "left it"]);
  });

  it("refuses an invalid question, and a question without a reviewer", async () => {
    const handler = (_: ReviewRequest): Decision => ReviewDecision.continue();
    const { error } = await runToEnd({
      tasks: [asking({ description: "Really?", timeoutMs: -1 }, [])],
      reviewHandler: handler,
    });
    expect(ValidationError.find(error)?.message).to.include("Review timeoutMs");
    const { error: nobody } = await runToEnd({ tasks: [asking({ description: "Really?" }, [])] });
    expect(ReviewUnavailableError.find(nobody)?.message).to.include("Tool 'ask' requires approval");
  });

  it("accepts only functions as a tool's declaration of approval", () => {
    for (const field of ["needsApproval", "approvalDescription", "approvalRejection"])
      expect(() =>
        tool({ name: "t", description: "d", execute: () => "", [field]: "yes" }),
      ).to.throw(ValidationError, `Tool 't' ${field} must be a function`);
  });
});
