import { expect } from "chai";
import type { WholeRun } from "../../../../src/plugins/dashboard/stores/whole-run.js";
import { conversationText } from "../../../../src/plugins/dashboard/exports/conversation-text.js";

describe("a conversation as Markdown", () => {
  const summary = { ensemble: "", runId: "r_1", startedAt: "2026-01-01", state: "done" };
  const run = {
    view: { summary, tasks: new Map([["a", { role: "Writer", description: "Write *this*" }]]) },
    entries: [
      { type: "ensemble_started" },
      { type: "task_started", taskId: "a" },
      { type: "task_input", taskId: "a", userPrompt: "``` code", systemPrompt: "" },
      { type: "tool_called", taskId: "a", toolName: "look", outcome: "ok", toolResult: "found" },
      { type: "something_else", taskId: "a" },
      { type: "review_resolved", taskId: "b", decision: "continue" },
      { type: "delegation_started", taskId: "b", request: { mode: "handoff" }, workerRole: "W" },
    ],
  } as unknown as WholeRun;

  it("contains the texts of each task in code blocks, and names unknown tasks by their id", () => {
    const text = conversationText(run);
    expect(text).to.match(/^# Run\n\nRun r\\_1, 2026-01-01, done\n/);
    expect(text).to.contain("## a\n\nWriter: Write \\*this\\*\n\n### Attempt 1\n");
    expect(text).to.contain("### Prompt\n\n````text\n``` code\n````\n").and.not.contain("System");
    expect(text).to.contain("### Result (ok)\n\n```text\nfound\n```");
    expect(text).to.contain("## b\n\n:\n\n### Review: continue\n\n### Transfer to W\n");
  });

  it("contains the conversation of one task on request", () => {
    const named = { ...run, view: { ...run.view, summary: { ...summary, ensemble: "Team" } } };
    const text = conversationText(named as unknown as WholeRun, "b");
    expect(text)
      .to.match(/^# Team\n/)
      .and.not.contain("## a");
  });
});
