import { expect } from "chai";
import fc from "fast-check";
import {
  differenceOf,
  isChanged,
  MOST_WORDS,
  textWithChanges,
  type DiffLine,
} from "../../../page/src/lib/reviews/word-diff.js";

function textOf(lines: readonly DiffLine[], left: "added" | "removed"): string {
  return lines
    .filter(({ kind }) => kind !== left)
    .map(({ parts }) => parts.map(({ text }) => text).join(""))
    .join("\n");
}

describe("difference of two texts", () => {
  it("shows each changed line before and after, with the changed words", () => {
    const lines = differenceOf("one\ntwo big words\nthree", "one\ntwo small words\nthree");
    expect(lines.map(({ kind }) => kind)).to.deep.equal(["same", "removed", "added", "same"]);
    expect(lines[1]?.parts).to.deep.equal([
      { kind: "same", text: "two " },
      { kind: "removed", text: "big" },
      { kind: "same", text: " words" },
    ]);
    expect(lines[2]?.parts[1]).to.deep.equal({ kind: "added", text: "small" });
  });

  it("contains both texts completely, line by line", () => {
    const line = fc.constantFrom("", "a", "b c", "a b c", "x y");
    const text = fc.array(line, { maxLength: 6 }).map((list) => list.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = differenceOf(before, after);
        const trimmed = (value: string): string => value.replace(/\n$/, "");
        expect(textOf(lines, "added")).to.equal(trimmed(before));
        expect(textOf(lines, "removed")).to.equal(trimmed(after));
      }),
    );
  });

  it("joins changes that are separated only by spaces and signs", () => {
    const parts = textWithChanges("it has 2.9 more than half, yes", "it has 3.1 57 % of it, yes");
    expect(parts).to.deep.equal([
      { kind: "same", text: "it has " },
      { kind: "removed", text: "2.9 more than half" },
      { kind: "added", text: "3.1 57 % of it" },
      { kind: "same", text: ", yes" },
    ]);
    expect(textWithChanges("word ".repeat(MOST_WORDS), "word")).to.equal(undefined);
  });

  it("contains both texts completely, word by word", () => {
    const text = fc.array(fc.constantFrom("a", "b", " ", ", ", "\n", "c d")).map((l) => l.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = textWithChanges(before, after) ?? [];
        const without = (left: string): string =>
          parts.flatMap((part) => (part.kind === left ? [] : part.text)).join("");
        expect(without("added")).to.equal(before);
        expect(without("removed")).to.equal(after);
      }),
    );
  });

  it("recognises equal texts", () => {
    expect(isChanged(differenceOf("a\nb", "a\nb"))).to.equal(false);
    expect(isChanged(differenceOf("a\nb", "a\nc"))).to.equal(true);
    expect(differenceOf("", "")).to.deep.equal([]);
  });

  it("compares long texts line by line, without their words", () => {
    const long = "word ".repeat(MOST_WORDS);
    const lines = differenceOf(`${long}\nend`, `${long}more\nend`);
    expect(lines.map(({ kind, parts }) => [kind, parts.length])).to.deep.equal([
      ["removed", 1],
      ["added", 1],
      ["same", 1],
    ]);
    expect(lines[0]?.parts[0]?.kind).to.equal("removed");
  });
});
