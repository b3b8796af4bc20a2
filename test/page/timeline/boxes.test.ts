import { expect } from "chai";
import type { Bar } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { barAt, boxesOf } from "../../../page/src/lib/timeline/boxes.js";
import { timeSpent } from "../../../page/src/lib/timeline/time-spent.js";
import { callTokens, tokenRate } from "../../../page/src/lib/timeline/token-rate.js";

const BARS: readonly Bar[] = [
  { kind: "task", startMs: 0, endMs: 100 },
  { kind: "model", startMs: 0, endMs: 40 },
  { kind: "tool", startMs: 40, endMs: 60 },
  { kind: "wait-review", startMs: 60, endMs: 90 },
];

describe("boxes of the timeline", () => {
  it("are the parts of the bars within the span", () => {
    const boxes = boxesOf(BARS, { from: 20, to: 70 }, 100);
    expect(boxes.map(({ kind, left, width }) => [kind, left, width])).to.deep.equal([
      ["task", 0, 100],
      ["model", 0, 40],
      ["tool", 40, 40],
      ["wait-review", 80, 20],
    ]);
    expect(boxesOf(BARS, { from: 110, to: 120 }, 100)).to.deep.equal([]);
  });

  it("of unfinished bars end now", () => {
    const [box] = boxesOf([{ kind: "task", startMs: 0 }], { from: 0, to: 100 }, 30);
    expect(box).to.include({ left: 0, width: 30, open: true });
  });

  it("represent several bars of a kind that are too narrow to be shown individually", () => {
    const many = Array.from({ length: 5_000 }, (_, i): Bar => ({
      kind: "tool",
      startMs: i,
      endMs: i + 1,
    }));
    const boxes = boxesOf(many, { from: 0, to: 5_000 }, 5_000);
    expect(boxes).to.have.lengthOf(1);
    expect(boxes[0]).to.include({ left: 0, width: 100, count: 5_000 });
    const near = boxesOf(many, { from: 0, to: 100 }, 5_000);
    expect(near.length).to.be.above(99);
  });

  it("are found by time, the innermost one first", () => {
    expect([30, 50, 95, 300].map((at) => barAt(BARS, at, 100))).to.deep.equal([1, 2, 0, -1]);
  });
});

describe("time of a task", () => {
  it("counts each moment once", () => {
    const { wholeMs, parts } = timeSpent(
      [
        ...BARS,
        { kind: "tool", startMs: 45, endMs: 70 },
        { kind: "failed", startMs: 0, endMs: 10 },
      ],
      100,
    );
    expect(wholeMs).to.equal(100);
    expect(Object.fromEntries(parts.map(({ kind, ms }) => [kind, ms]))).to.deep.equal({
      model: 30,
      tool: 30,
      waiting: 20,
      failed: 10,
      framework: 10,
    });
  });

  it("omits the time between two attempts, and ends open bars now", () => {
    const { wholeMs, parts } = timeSpent(
      [
        { kind: "task", startMs: 0, endMs: 10 },
        { kind: "task", startMs: 50 },
      ],
      60,
    );
    expect(wholeMs).to.equal(20);
    expect(parts).to.deep.equal([{ kind: "framework", ms: 20 }]);
    expect(timeSpent([], 5)).to.deep.equal({ wholeMs: 0, parts: [] });
  });
});

describe("tokens per second", () => {
  it("spread the tokens of a call over its time", () => {
    const rate = tokenRate(
      [
        { startMs: 0, endMs: 2_000, outputTokens: 100 },
        { startMs: 1_000, endMs: 2_000, outputTokens: 20 },
      ],
      { from: 0, to: 4_000 },
      4,
    );
    expect(rate.perSecond).to.deep.equal([50, 70, 0, 0]);
    expect([rate.peak, rate.last]).to.deep.equal([70, 70]);
  });

  it("are known for calls that reported their usage", () => {
    const at = new Date(5_000).toISOString();
    const of = (fields: object): unknown =>
      callTokens({ n: 1, at, type: "usage_recorded", ...fields }, 1_000);
    expect(of({ outputTokens: 7, latencyMs: 500 })).to.deep.equal({
      startMs: 3_500,
      endMs: 4_000,
      outputTokens: 7,
    });
    expect(of({ outputTokens: -1, latencyMs: 500 })).to.equal(undefined);
    expect(callTokens({ n: 1, at, type: "task_started" }, 0)).to.equal(undefined);
  });
});
