import { expect } from "chai";
import { logOf } from "../../plugins/dashboard/logs.js";
import { entryLine, filtered, typesOf } from "../../../page/src/lib/run/event-lines.js";

const LOG = logOf(
  ["ensemble_started", { workflow: "SEQUENTIAL" }],
  ["task_started", { taskId: "draft", attempt: 1 }],
  ["task_started", { taskId: "check", contextTaskIds: ["draft"] }],
  ["run_warning", { message: "Slow exporter" }],
);

describe("lines of events", () => {
  it("have the fields of an entry, without those of all entries", () => {
    expect(LOG.slice(1, 3).map((one) => entryLine(one))).to.deep.equal([
      "attempt: 1",
      'contextTaskIds: ["draft"]',
    ]);
  });

  it("are shortened", () => {
    const [long] = logOf(["run_warning", { message: "x".repeat(9_999) }]);
    expect(long === undefined ? "" : entryLine(long)).to.have.lengthOf(240);
  });

  it("are counted by type, the most frequent first", () => {
    expect(typesOf(LOG)[0]).to.deep.equal({ type: "task_started", count: 2 });
    expect(typesOf(LOG)).to.have.lengthOf(3);
  });

  it("are found by type, by text and by task", () => {
    const numbers = (types: readonly string[], text: string, taskId?: string): readonly number[] =>
      filtered(LOG, { types: new Set(types), text, taskId }).map(({ n }) => n);
    expect(numbers([], "")).to.deep.equal([0, 1, 2, 3]);
    expect(numbers(["task_started"], "")).to.deep.equal([1, 2]);
    expect(numbers(["task_started"], "CHECK")).to.deep.equal([2]);
    expect(numbers([], "draft")).to.deep.equal([1, 2]);
    expect(numbers([], "", "draft")).to.deep.equal([1]);
  });
});
