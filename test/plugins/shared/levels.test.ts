import { expect } from "chai";
import { ValidationError } from "../../../src/contracts/errors.js";
import { criticalPathOf, levelsOf } from "../../../src/plugins/shared/levels.js";

describe("the levels of steps", () => {
  const steps = [
    { id: "a", after: [] },
    { id: "b", after: ["a", "a", "unknown"] },
    { id: "c", after: ["a"] },
    { id: "d", after: ["b", "c"] },
  ];

  it("are one higher than those of their dependencies; unknown steps count as finished", () => {
    const levels = levelsOf(steps);
    expect([...levels]).to.deep.equal([
      ["a", 0],
      ["b", 1],
      ["c", 1],
      ["d", 2],
    ]);
    expect(criticalPathOf(steps, levels)).to.deep.equal(["a", "c", "d"]);
    expect(criticalPathOf([], new Map())).to.deep.equal([]);
  });

  it("are refused if steps wait for each other", () => {
    const circle = [
      { id: "a", after: ["b"] },
      { id: "b", after: ["a"] },
    ];
    expect(() => levelsOf(circle)).to.throw(
      ValidationError,
      "Circular context dependency detected involving task: 'a'",
    );
  });
});
