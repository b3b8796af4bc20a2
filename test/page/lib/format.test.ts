import { expect } from "chai";
import {
  counted,
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatRest,
} from "../../../page/src/lib/format.js";

describe("figures on the page", () => {
  it("show durations in a suitable unit", () => {
    expect(
      [0, 640.4, 999, 1_000, 41_800, 59_949, 59_950, 171_000, 3_725_000].map(formatDuration),
    ).to.deep.equal([
      "0 ms",
      "640 ms",
      "999 ms",
      "1.0 s",
      "41.8 s",
      "59.9 s",
      "1:00",
      "2:51",
      "1:02:05",
    ]);
  });

  it("count down to zero", () => {
    expect([192_000, 191_001, 1, 0, -5_000, 3_600_000].map(formatRest)).to.deep.equal([
      "3:12",
      "3:12",
      "0:01",
      "0:00",
      "0:00",
      "1:00:00",
    ]);
  });

  it("show counts and bytes in three or four digits", () => {
    expect([0, 61, 1_204, 9_999, 38_200, 999_949, 1_920_000].map(formatCount)).to.deep.equal([
      "0",
      "61",
      "1,204",
      "9,999",
      "38.2 k",
      "999.9 k",
      "1.92 M",
    ]);
    expect([640, 2_400].map(formatBytes)).to.deep.equal(["640 B", "2.4 kB"]);
    expect([counted(1, "task"), counted(0, "task"), counted(2, "entry", "entries")]).to.deep.equal([
      "1 task",
      "0 tasks",
      "2 entries",
    ]);
  });

  it("keep two digits of a small amount of money", () => {
    expect(
      [0, 0.094, 0.0006, 0.00001234, 14.02].map((cost) => formatCost(cost, "USD")),
    ).to.deep.equal(["$0.00", "$0.094", "$0.0006", "$0.000012", "$14.02"]);
    expect([
      formatCost(1.5, undefined),
      formatCost(1.5, "CHF"),
      formatCost(1.5, "EUR"),
    ]).to.deep.equal(["1.50", "1.50 CHF", "€1.50"]);
  });

  it("show the age of an event", () => {
    const ago = (seconds: number): string =>
      formatAgo(1_000_000_000, 1_000_000_000 + seconds * 1_000);
    expect([-3, 12, 59, 60, 3_599, 3_600, 86_399].map(ago)).to.deep.equal([
      "0 s ago",
      "12 s ago",
      "59 s ago",
      "1 min ago",
      "59 min ago",
      "1 h ago",
      "23 h ago",
    ]);
  });
});
