import { expect } from "chai";
import {
  barsOfRow,
  lastTime,
  openRows,
  rowsByAgent,
  rowsByTask,
  type RowTask,
} from "../../../page/src/lib/timeline/rows.js";

function task(id: string, more: Partial<RowTask> = {}): RowTask {
  return { id, role: "Writer", type: "task", ...more };
}

describe("rows of the timeline", () => {
  it("are indented below the task that caused them", () => {
    const rows = rowsByTask([
      task("a"),
      task("b"),
      task("a.1", { parent: "a" }),
      task("a.1.1", { parent: "a.1" }),
      task("a.2", { parent: "a" }),
      task("end", { type: "graph-end" }),
    ]);
    expect(rows.map(({ key, depth }) => [key, depth])).to.deep.equal([
      ["a", 0],
      ["a.1", 1],
      ["a.1.1", 2],
      ["a.2", 1],
      ["b", 0],
    ]);
  });

  it("contain every task once, also with unknown and cyclic parents", () => {
    const rows = rowsByTask([
      task("a", { parent: "b" }),
      task("b", { parent: "a" }),
      task("c", { parent: "gone" }),
      task("d", { parent: "d" }),
    ]);
    expect(rows.map(({ key }) => key).toSorted()).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("nest deeply without an overflow", () => {
    const chain = Array.from({ length: 20_000 }, (_, i) =>
      task(`t${i}`, i === 0 ? {} : { parent: `t${i - 1}` }),
    );
    expect(rowsByTask(chain).at(-1)?.depth).to.equal(19_999);
  });

  it("by agent are the fewest that contain its tasks without overlap", () => {
    const rows = rowsByAgent([
      task("a", { startMs: 0, endMs: 10 }),
      task("b", { startMs: 5, endMs: 8 }),
      task("c", { startMs: 10, endMs: 20 }),
      task("d", { startMs: 3, role: "Editor" }),
      task("not begun"),
    ]);
    expect(rows.map(({ agent, taskIds }) => [agent?.role, agent?.tasks, taskIds])).to.deep.equal([
      ["Writer", 3, ["a", "c"]],
      [undefined, undefined, ["b"]],
      ["Editor", 1, ["d"]],
    ]);
  });

  it("of a running task continue without a gap", () => {
    const rows = rowsByAgent([task("a", { startMs: 0 }), task("b", { startMs: 99, endMs: 100 })]);
    expect(rows.map(({ taskIds }) => taskIds)).to.deep.equal([["a"], ["b"]]);
  });

  it("inside a collapsed row are hidden, and later rows are not", () => {
    const rows = rowsByTask([
      task("a"),
      task("a.1", { parent: "a" }),
      task("a.1.1", { parent: "a.1" }),
      task("b"),
    ]);
    const keys = (closed: string): readonly string[] =>
      openRows(rows, new Set([closed])).map(({ key }) => key);
    expect(keys("a")).to.deep.equal(["a", "b"]);
    expect(keys("a.1")).to.deep.equal(["a", "a.1", "b"]);
  });

  it("end with the last known time", () => {
    expect(lastTime([{ startMs: 5 }, { startMs: 2, endMs: 9 }], undefined)).to.equal(9);
    expect(lastTime([{ startMs: 5 }], 12)).to.equal(12);
  });

  it("are read from the flat lists of the server, also from incomplete lists", () => {
    expect(barsOfRow(["task", 0, 10, "model", 2, null, "tool", null, 4, "tool"])).to.deep.equal([
      { kind: "task", startMs: 0, endMs: 10 },
      { kind: "model", startMs: 2 },
    ]);
  });
});
