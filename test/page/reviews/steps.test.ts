import { expect } from "chai";
import { logOf } from "../../plugins/dashboard/logs.js";
import { askedAt, contextOf, outputStep, stepsOf } from "../../../page/src/lib/reviews/steps.js";

const LOG = logOf(
  ["task_started", { taskId: "settle", contextTaskIds: ["classify", 7] }],
  [
    "llm_iteration_completed",
    { agentRole: "Clerk", durationMs: 90, responseText: "I look it up." },
  ],
  [
    "tool_called",
    { toolName: "get_order", toolArguments: "{}", toolResult: "412 EUR", durationMs: 4 },
  ],
  ["llm_iteration_completed", { responseText: "" }],
  ["guardrail_refused", { guardrailName: "polite", message: "Too short." }],
  ["review_requested", { reviewId: "r1" }],
  ["llm_iteration_completed", { responseText: "Later." }],
);

describe("steps that led to a review", () => {
  it("are answers, tool calls and refusals before it", () => {
    const steps = stepsOf(LOG, askedAt(LOG, "r1") ?? 0, 9);
    expect(steps.map(({ kind, title, text }) => [kind, title, text])).to.deep.equal([
      ["model", "Answer", "I look it up."],
      ["tool", "get_order", "412 EUR"],
      ["refused", "Guardrail refused", "Too short."],
    ]);
    expect(steps[0]).to.include({ detail: "Clerk", durationMs: 90 });
  });

  it("are limited to the last ones", () => {
    expect(stepsOf(LOG, 99, 1).map(({ text }) => text)).to.deep.equal(["Later."]);
    expect(askedAt(LOG, "r2")).to.equal(undefined);
  });

  it("begin with the outputs of the tasks before", () => {
    expect(contextOf(LOG)).to.deep.equal(["classify"]);
    const [done] = logOf([
      "task_completed",
      { agentRole: "Triage", taskOutput: { raw: "Broken." } },
    ]);
    expect(outputStep("classify", done === undefined ? [] : [done])).to.include({
      title: "classify",
      detail: "Triage",
      text: "Broken.",
    });
    expect(outputStep("classify", LOG)).to.equal(undefined);
    expect(contextOf([])).to.deep.equal([]);
  });
});
