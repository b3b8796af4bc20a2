import { expect } from "chai";
import { taskRows, type TaskFilter, type TaskOrder } from "../../../page/src/lib/task-rows.js";
import { taskTitle } from "../../../page/src/lib/task-words.js";
import { createRunState } from "../../../src/plugins/dashboard/protocol/run-state.js";
import { logOf } from "../../plugins/dashboard/logs.js";

const state = createRunState();
for (const entry of logOf(
  ["task_started", { taskId: "a", agentRole: "Writer" }],
  ["task_started", { taskId: "b", agentRole: "Editor" }],
  ["task_started", { taskId: "a.1", parentTaskId: "a", agentRole: "Clerk" }],
  ["task_completed", { taskId: "b" }],
))
  state.apply(entry);

const rows = (order: TaskOrder, filter: TaskFilter = {}): readonly string[] =>
  taskRows(state.view.tasks.values(), filter, order, 1_000).map(
    ({ task, depth }) => `${" ".repeat(depth)}${task.id}`,
  );

describe("rows of the table of tasks", () => {
  it("are in the order of the run, each followed by the tasks that it caused", () => {
    expect(rows("plan")).to.deep.equal(["a", " a.1", "b"]);
  });

  it("are sorted by the need for attention first, and by time", () => {
    expect(rows("state")).to.deep.equal(["a", "a.1", "b"]);
    expect(rows("time")).to.deep.equal(["a", "a.1", "b"]);
  });

  it("match every part of the filter", () => {
    expect(rows("plan", { state: "running" })).to.deep.equal(["a", " a.1"]);
    expect(rows("plan", { text: "EDIT" })).to.deep.equal(["b"]);
    expect(rows("plan", { kind: "delegated" })).to.deep.equal([" a.1"]);
    expect(rows("plan", { state: "running", text: "edit" })).to.deep.equal([]);
  });

  it("show the name of a task, or its description", () => {
    const titles = ["market-size", "phase/memo", "task-1", "way.1", "$loop:polish", "__END__"].map(
      (id) => taskTitle({ id, description: "Write it" }),
    );
    expect(titles).to.deep.equal([
      "market-size",
      "memo",
      "Write it",
      "Write it",
      "loop polish",
      "end",
    ]);
  });
});
