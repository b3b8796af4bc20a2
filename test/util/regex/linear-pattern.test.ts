import { expect } from "chai";
import fc from "fast-check";
import { LinearPattern, problemOfPattern } from "../../../src/util/regex/linear-pattern.js";

async function compiled(source: string, flags?: string): Promise<LinearPattern> {
  const result = await LinearPattern.compile(source, flags);
  if (!result.ok) throw new Error(result.problem);
  return result.pattern;
}

describe("LinearPattern", () => {
  it("matches the same texts as JavaScript", async () => {
    const sources = [
      "^a+$",
      "[^b]c",
      "(?<x>a|b){2}",
      "\\u0041\\d?",
      "b$",
      "^\\p{Lu}",
      "a\\/b",
      "[^]",
      "\\bab\\b",
    ];
    for (const source of sources) {
      const [linear, native] = [await compiled(source), new RegExp(source, "u")];
      const text = fc.array(fc.constantFrom("a", "b", "c", "A", "1", "/", " ", "É", "😀"));
      fc.assert(
        fc.property(text, (parts) => linear.test(parts.join("")) === native.test(parts.join(""))),
        { numRuns: 200 },
      );
    }
  });

  it("keeps the flags i, m and s", async () => {
    expect((await compiled("A", "i")).test("a")).to.equal(true);
    expect((await compiled("^b$", "m")).test("a\nb")).to.equal(true);
    expect((await compiled("^b$")).test("a\nb")).to.equal(false);
    expect((await compiled("a.b", "s")).test("a\nb")).to.equal(true);
  });

  it("refuses a text that would take long", async () => {
    const pattern = await compiled("[ab]{900}c");
    const { longestText } = pattern;
    expect(longestText).to.be.within(5_000, 50_000);
    expect(pattern.test("a".repeat(longestText))).to.equal(false);
    expect(() => pattern.test("a".repeat(longestText + 1))).to.throw(RangeError, "characters");
  });

  for (const [source, problem] of [
    ["a(?=b)", "looks ahead"],
    ["a(?!b)", "looks ahead"],
    ["(?<=a)b", "looks behind"],
    ["(?<!a)b", "looks behind"],
    ["(a)\\1", "refers back"],
    ["(?<n>a)\\k<n>", "refers back"],
    ["(", "Unterminated group"],
    ["a".repeat(10_001), "longer than 10000"],
  ] as const) {
    it(`reports the problem of ${source.slice(0, 20)}`, async () => {
      expect(problemOfPattern(source)).to.include(problem);
      expect(await LinearPattern.compile(source))
        .to.have.property("problem")
        .that.includes(problem);
    });
  }

  it("reports errors that only the engine detects", async () => {
    for (const source of ["a{1,5000}", "\\p{Script=Greek}"]) {
      expect(problemOfPattern(source)).to.equal(undefined);
      expect((await LinearPattern.compile(source)).ok).to.equal(false);
    }
  });

  it("accepts text that only resembles an unsupported construct", () => {
    for (const source of [
      "\\(?=a",
      "[(?=]",
      "\\\\1",
      "[\\]\\1a]".replace("\\1", ""),
      "(?<name>a)",
      "\\[\\d]",
    ])
      expect(problemOfPattern(source, ""), source).to.equal(undefined);
  });
});
