import { expect } from "chai";
import { printableJson, printableLine, printableText } from "../../src/util/printable.js";

describe("printableLine", () => {
  it("leaves one line without escape sequences, control characters and marks of direction", () => {
    const evil = "a\u001b[2J\u001b]0;title\u0007b\r\nc\u009b31m\u202Ed\u2028e\u0000 ";
    expect(printableLine(evil)).to.equal("ab cd e");
  });

  it("cuts after the given number of characters, never within a character", () => {
    expect(printableLine("abcdef", 3)).to.equal("abc...");
    expect(printableLine("👍👍👍", 3)).to.equal("👍👍👍");
    expect(printableLine("👍👍👍👍", 3)).to.equal("👍👍👍...");
    expect(printableLine("x".repeat(500))).to.have.length(500);
  });
});

describe("printableText", () => {
  it("removes control characters from a text and keeps its lines", () => {
    expect(printableText("a\u001b[2Jb\n\tc\u0007\u202Ed\r")).to.equal("ab\n\tcd");
  });

  it("ends all lines in the same way", () => {
    expect(printableText("a\r\nb\rc\u2028d\u2029e")).to.equal("a\nb\nc\nd\ne");
  });
});

describe("escape sequences", () => {
  for (const [what, text, left] of [
    ["a link", "a\u001b]8;;https://x.test\u001b\\b\u001b]8;;\u001b\\c", "abc"],
    ["a title", "a\u001b]0;title\u0007b\u009d0;title\u009cc", "abc"],
    ["a device control string", "a\u001bP1;2|x\u001b\\b\u0090y\u009cc", "abc"],
    ["colours and movements", "a\u001b[1;31mb\u001b[?25l\u009b2Kc\u001b[10;20H", "abc"],
    ["short sequences", "a\u001bcb\u001b(Bc\u001b7", "abc"],
    ["an unterminated sequence", "a\u001b]0;b\u001b[1;", "a0;b1;"],
    ["a single escape character", "a\u001b", "a"],
  ] as const) {
    it(`are removed: ${what}`, () => {
      expect(printableText(text)).to.equal(left);
      expect(printableLine(text)).to.equal(left);
    });
  }

  it("are removed in linear time", () => {
    for (const text of ["\u001b#;?", "\u001b[1;", "\u001b]a;", "#;?", "\u001b["])
      expect(printableText(`\u001b${text.repeat(100_000)}`)).to.not.include("\u001b");
  });
});

describe("printableJson", () => {
  it("escapes characters that JSON does not escape, and keeps the value", () => {
    const value = { text: "a\u001b[2J\u007f\u009b31m\u202eb\u2066\u2028é😀\u200d", "\u0085": 1 };
    const json = printableJson(JSON.stringify(value));
    expect(JSON.parse(json)).to.deep.equal(value);
    expect(json).to.not.match(/[\p{Cc}\u2028\u202e\u2066]/u);
    expect(json).to.include("é😀\u200d");
  });
});
