import { expect } from "chai";
import { submittedProgress } from "../../src/cli/submitted-progress.js";

/** The printed lines for messages about a run. */
function linesOf(...messages: readonly unknown[]): readonly string[] {
  const lines: string[] = [];
  const show = submittedProgress("november", {
    paintMessage: (_style, text) => text,
    message: async (text) => void lines.push(text),
  });
  for (const each of messages) show(each);
  return lines;
}

describe("the progress of a submitted run", () => {
  it("is printed in the same form as the progress of `run`", () => {
    const task = { taskId: "soup", agentRole: "Cook", taskIndex: 1, totalTasks: 2 };
    const call = { type: "tool_called", taskId: "soup", agentRole: "Cook", toolName: "search" };
    const done = { tokenCount: 30, toolCallCount: 2, durationMs: 1_500 };
    expect(
      linesOf(
        { type: "task_started", ...task },
        { ...call, outcome: "SUCCESS", durationMs: 20 },
        { ...call, outcome: "FAILURE", durationMs: 20 },
        { type: "task_completed", ...task, ...done },
        { type: "task_failed", taskId: "bread", agentRole: "Cook", durationMs: 40 },
      ),
    ).to.deep.equal([
      "start [1/2] soup (Cook)",
      "  tool soup (Cook) search 20 ms ok",
      "  tool soup (Cook) search 20 ms failed",
      "done  soup (Cook): 1.5 s, 30 tokens, 2 tool calls",
      "fail  bread (Cook) after 40 ms",
    ]);
  });

  it("names each question once, with the command that shows it", () => {
    const asked = { type: "review_requested", reviewId: "r1", taskId: "soup" };
    expect(linesOf(asked, asked)).to.deep.equal([
      "wait  soup: a person is asked; see agentensemble reviews list",
    ]);
  });

  it("ignores unknown messages, and accepts messages with missing or additional fields", () => {
    expect(
      linesOf(
        ...[undefined, null, 3, "text", [], {}, { type: 7 }, { type: "toString" }],
        ...[{ type: "run_failed" }, { type: "ensemble_completed" }, { type: "usage_recorded" }],
      ),
    ).to.deep.equal([]);
    const odd = { taskId: 3, agentRole: "\u001b[31mCook", taskIndex: "1", durationMs: "long" };
    expect(linesOf({ type: "task_completed", ...odd })).to.have.length(1);
    expect(linesOf({ type: "task_started", ...odd })).to.deep.equal(["start  (Cook)"]);
  });
});
