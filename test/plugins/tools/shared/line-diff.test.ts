import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import {
  countLines,
  diffLines,
  linesOf,
  unifiedDiff,
} from "../../../../src/plugins/tools/shared/line-diff.js";
import { newSandbox, putFiles } from "../tool-support.js";

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "c\n", "d\n", "\n", "e"), { maxLength: 25 })
  .map((lines) => lines.join(""));

/** The minimum number of removed and added lines, by the textbook algorithm. */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, line] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries())
      next.push(line === other ? (row[j] ?? 0) : Math.min(row[j + 1] ?? 0, next[j] ?? 0) + 1);
    row = next;
  }
  return row[b.length] ?? 0;
}

describe("diffLines", () => {
  it("returns the fewest changes, which convert one text into the other", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = [linesOf(before), linesOf(after)];
        const changes = diffLines(a, b);
        const { linesAdded, linesRemoved } = countLines(changes);
        expect(linesAdded + linesRemoved).to.equal(distance(a, b));
        let [made, position] = ["", 0];
        for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
          made += a.slice(position, oldStart).join("") + b.slice(newStart, newEnd).join("");
          position = oldEnd;
        }
        expect(made + a.slice(position).join("")).to.equal(after);
      }),
      { numRuns: 500 },
    );
  });

  it("counts texts without a common line as replaced, for any size", () => {
    const a = Array.from({ length: 100_000 }, (_, i) => `a${i}\n`);
    const b = Array.from({ length: 90_000 }, (_, i) => `b${i}\n`);
    expect(countLines(diffLines(a, b))).to.deep.equal({
      linesAdded: 90_000,
      linesRemoved: 100_000,
    });
  });

  it("writes the diff of a file with very many changed lines", () => {
    const [a, b] = [Array<string>(300_000).fill("a\n"), Array<string>(300_000).fill("b\n")];
    const diff = unifiedDiff("f", a, b, diffLines(a, b));
    expect(diff.startsWith("--- a/f\n+++ b/f\n@@ -1,300000 +1,300000 @@\n-a\n")).to.equal(true);
  });

  it("writes diffs that `patch` accepts", function () {
    const s = newSandbox();
    try {
      execFileSync("patch", ["--version"]);
    } catch {
      this.skip();
    }
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = [linesOf(before), linesOf(after)];
        const diff = unifiedDiff("f", a, b, diffLines(a, b));
        expect(diff === "").to.equal(before === after);
        if (before === after || before === "" || after === "") return; // patch makes and removes files then
        putFiles(s.inside, { f: before });
        execFileSync("patch", ["-p1", "-s"], { cwd: s.inside, input: diff });
        expect(readFileSync(join(s.inside, "f"), "utf8")).to.equal(after);
      }),
      { numRuns: 40 },
    );
  });
});
