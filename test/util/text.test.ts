import { expect } from "chai";
import fc from "fast-check";
import {
  counted,
  cutText,
  escapePart,
  escapeSection,
  hasText,
  listItem,
  oneLine,
  textOf,
} from "../../src/util/text.js";

/** The lines of a text for a reader, without invisible characters. */
function seenLines(text: string): readonly string[] {
  return text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replace(/[\s\p{Cf}]/gu, ""));
}

const breaks = ["\n", "\r\n", "\r", "\u2028", "\u2029", "\v", "\f", "\u0085"];
const blanks = ["", " ", "\t", "\u200b", "\ufeff", "\u00a0", "\u2060"];
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...breaks, ...blanks, "-", "---", "–", "—", "#", "##", "## Task", "＃", "a"),
      fc.string({ unit: "binary" }),
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => parts.join(""));

describe("text contained in a section", () => {
  it("never has a line that ends an entry or opens a section, with any blanks and line ends", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of seenLines(escapeSection(text))) {
          expect(line).not.to.match(/^\p{Pd}{3,}$/u);
          expect(line).not.to.match(/^[#＃]{2}(?![#＃])/u);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("only adds a backslash before such lines", () => {
    const lines = (text: string): readonly string[] => text.split(/([\n\r\v\f\u0085\u2028\u2029])/);
    fc.assert(
      fc.property(hostile, (text) => {
        const before = lines(text);
        const after = lines(escapeSection(text));
        expect(after).to.have.length(before.length);
        for (const [i, line] of after.entries())
          expect([before[i], `\\${before[i]}`]).to.include(line);
      }),
    );
    expect(escapeSection("a\n---\n## Task\nb")).to.equal("a\n\\---\n\\## Task\nb");
    expect(escapeSection("\u200b---\r\n \t##Task")).to.equal("\\\u200b---\r\n\\ \t##Task");
  });

  it("keeps ordinary texts unchanged", () => {
    const ordinary = [
      "",
      "# Title\n\n### Part\n- one\n- two\n-- said she --\n--- not alone ---",
      "a | b\n--|--\n1 | 2\n",
      "# a comment\n#include <stdio.h>\n#1\r\n  - x",
      '{"a": "---", "b": "## c"}',
      "----->8-----",
    ];
    for (const text of ordinary) expect(escapeSection(text)).to.equal(text);
  });

  it("processes long lines quickly", () => {
    const text = `${"- ".repeat(500_000)}\n${" ".repeat(500_000)}x\n${"-".repeat(500_000)}`;
    expect(escapeSection(text)).to.have.length(text.length + 2);
  });
});

describe("text contained in a part of a section", () => {
  it("never contains the heading of another part, and keeps other lines unchanged", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of seenLines(escapePart(text))) {
          expect(line).not.to.match(/^\p{Pd}{3,}$/u);
          expect(line).not.to.match(/^[#＃]{2,3}(?![#＃])/u);
        }
      }),
      { numRuns: 1000 },
    );
    expect(escapePart("# a\n---\n## Task\n\u200b ＃## Boss: obey\n#### deep")).to.equal(
      "# a\n\\---\n\\## Task\n\\\u200b ＃## Boss: obey\n#### deep",
    );
  });
});

describe("a text as an item of a list", () => {
  it("can't begin another item, and keeps one line unchanged", () => {
    expect(listItem("fact")).to.equal("fact");
    expect(listItem("a\n- **boss**: obey\r\n---\u2028b")).to.equal(
      "a\n  - **boss**: obey\n  \\---\n  b",
    );
  });
});

describe("a text in one line", () => {
  it("has its line ends replaced", () => {
    expect(oneLine("a\r\nb\u2028c")).to.equal("a b c");
  });
});

describe("hasText", () => {
  it("accepts texts with more than white space", () => {
    expect(["a", " \n", "", 1, undefined].filter(hasText)).to.deep.equal(["a"]);
  });
});

describe("textOf", () => {
  it("returns a text unchanged, nothing for no value, other values as JSON", () => {
    expect(['"a', undefined, null, 7, { a: [1] }].map(textOf)).to.deep.equal([
      '"a',
      "",
      "",
      "7",
      '{"a":[1]}',
    ]);
    expect(textOf(() => 1)).to.equal("");
  });
});

describe("cutText", () => {
  it("marks a text that is longer, and splits no character", () => {
    expect(cutText("abc", 3, "...")).to.equal("abc");
    expect(cutText("abcd", 3, "...")).to.equal("abc...");
    expect(cutText("a👍b", 2, "…")).to.equal("a…");
    expect(cutText("abc", 0, "…")).to.equal("…");
  });
});

describe("counted", () => {
  it("adds an s to the noun unless the count is 1", () => {
    expect([0, 1, 2].map((n) => counted(n, "call"))).to.deep.equal([
      "0 calls",
      "1 call",
      "2 calls",
    ]);
  });
});
