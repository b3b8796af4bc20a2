import { expect } from "chai";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import { tagCosts } from "../../../page/src/lib/run/tag-costs.js";

function run(runId: string, tags: Readonly<Record<string, string>>, cost: number): RunSummary {
  return {
    runId,
    ensemble: "e",
    workflow: "SEQUENTIAL",
    state: "done",
    startedAt: "",
    n: 1,
    inputs: {},
    tags,
    counts: { idle: 0, running: 0, waiting: 0, done: 1, failed: 0, stopped: 0 },
    totals: { inputTokens: 1, outputTokens: 2, unknownCalls: 0, cost, calls: 1, tools: 0 },
  };
}

describe("costs by tag", () => {
  it("add up the runs that have a tag of the run, and the run itself once", () => {
    const own = run("a", { customer: "acme", stage: "test" }, 1);
    const lines = tagCosts(own.tags, own, [
      run("a", own.tags, 99),
      run("b", { customer: "acme" }, 2),
      run("c", { customer: "other" }, 4),
    ]);
    expect(lines.map(({ name, cost, calls }) => [name, cost, calls])).to.deep.equal([
      ["customer=acme", 3, 2],
      ["stage=test", 1, 1],
    ]);
    expect(tagCosts({}, own, [])).to.deep.equal([]);
  });
});
