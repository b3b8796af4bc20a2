import { expect } from "chai";
import type { KeptEntry } from "../../../../src/contracts/journal.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { entriesBefore } from "../../../../src/plugins/durability/shared/fork-entries.js";

function entry(key: string, task: string, kind = "model"): KeptEntry {
  return { key, task, kind, value: 1, at: "", execution: 1 } as KeptEntry;
}

describe("the entries of a run before a task", () => {
  const entries = [
    entry("1", "run", "run"),
    entry("2", "a@1"),
    entry("3", "a@2", "task"),
    entry("4", "b@1"),
    entry("5", "run", "run"),
    entry("6", "b@1", "task"),
    entry("7", "run", "run"),
    entry("8", "c@1"),
  ];
  const keysBefore = (from?: string): readonly string[] =>
    entriesBefore(entries, from, "r").map(({ key }) => key);

  it("are all without a task, else those of tasks that ended before it", () => {
    expect(keysBefore()).to.have.length(8);
    expect(keysBefore("b")).to.deep.equal(["1", "2", "3", "5"]);
    expect(keysBefore("c")).to.deep.equal(["1", "2", "3", "4", "5", "6", "7"]);
    expect(keysBefore("a")).to.deep.equal(["1"]);
  });

  it("are refused for a task that has none", () => {
    expect(() => keysBefore("d")).to.throw(ValidationError, "Run 'r' has no task 'd'.");
  });
});
