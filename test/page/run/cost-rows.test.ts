import { expect } from "chai";
import {
  budgetParts,
  costLines,
  taskCostLines,
  wastedOf,
} from "../../../page/src/lib/run/cost-rows.js";

function row(name: string, cost: number, more = {}) {
  return { name, cost, inputTokens: 10, outputTokens: 5, unknownCalls: 0, calls: 1, ...more };
}

function task(id: string, cost: number) {
  const { name: _, ...sums } = row(id, cost);
  return { id, ...sums, wastedTokens: 3, wastedCost: 0.5 };
}

describe("costs of a run", () => {
  it("list the highest first, with its share of the largest", () => {
    const lines = costLines([row("a", 1), row("b", 4), row("unused", 0, { calls: 0 })]);
    expect(lines.map(({ name, share }) => [name, share])).to.deep.equal([
      ["b", 1],
      ["a", 0.25],
    ]);
  });

  it("are sorted by tokens if nothing has a price", () => {
    const lines = costLines([row("a", 0), row("b", 0, { inputTokens: 25 })]);
    expect(lines.map(({ name, share }) => [name, share])).to.deep.equal([
      ["b", 1],
      ["a", 0.5],
    ]);
  });

  it("count calls of unknown usage separately", () => {
    expect(costLines([row("a", 0, { unknownCalls: 1 })])[0]?.unknownCalls).to.equal(1);
  });

  it("of many tasks end with the sum of the remaining tasks", () => {
    const tasks = Array.from({ length: 30 }, (_, i) => task(`t${i}`, 30 - i));
    const lines = taskCostLines(tasks, 10);
    expect(lines).to.have.lengthOf(10);
    const last = lines.at(-1);
    expect(last?.name).to.equal("21 other tasks");
    expect(last?.taskId).to.equal(undefined);
    expect(lines.reduce((sum, { cost }) => sum + cost, 0)).to.equal((30 * 31) / 2);
    expect(last?.wastedTokens).to.equal(63);
    expect(wastedOf(tasks)).to.deep.equal({ tokens: 90, cost: 15 });
  });

  it("show a budget as parts of its limit that never exceed it", () => {
    expect(budgetParts({ allowed: 100, used: 25, reserved: 50 })).to.deep.equal({
      used: 0.25,
      reserved: 0.5,
      left: 0.25,
    });
    expect(budgetParts({ allowed: 100, used: 90, reserved: 50 }).reserved).to.be.closeTo(0.1, 1e-9);
    expect(budgetParts({ allowed: 0, used: 0, reserved: 0 }).used).to.equal(1);
  });
});
