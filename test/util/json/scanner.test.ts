import { expect } from "chai";
import fc from "fast-check";
import { JsonScanner, JsonTokens, bracketDepth, scanJson } from "../../../src/util/json/scanner.js";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, part) => Math.max(most, depthOf(part)), 0);
}

function containersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + containersIn(part), 1);
}

describe("JsonScanner", () => {
  it("finds the depth and the objects and lists of any JSON, in bytes and in characters", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        const [units, bytes] = [new JsonScanner(), new JsonScanner()];
        for (let i = 0; i < text.length; i++) units.scan(text.charCodeAt(i));
        for (const byte of Buffer.from(text)) bytes.scan(byte);
        expect([units.deepest, units.opened]).to.deep.equal([depthOf(value), containersIn(value)]);
        expect(bytes).to.deep.equal(units);
      }),
    );
  });

  it("counts no comma, colon or bracket of a text", () => {
    const scanner = new JsonScanner();
    for (const byte of Buffer.from(String.raw`{"a,:[{\"]": ["]}", 1]}`)) scanner.scan(byte);
    expect(scanner).to.include({ deepest: 2, opened: 2, colons: 1, commas: 1 });
  });
});

describe("scanJson", () => {
  it("agrees with JSON.parse on objects and arrays", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, tail) => {
        const text = JSON.stringify([value]);
        expect(scanJson(text + tail, 0, 500)).to.deep.equal({ kind: "value", end: text.length });
      }),
    );
  });

  it("never accepts a value that JSON.parse refuses", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "-",
      ".",
      "e",
      "0",
      "1",
      "true",
      "null",
      "a",
      " ",
      "\\",
      "u",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = `[${parts.join("")}`;
        const result = scanJson(text, 0, 500);
        if (result.kind !== "value") return;
        // The parser, not the scan, detects a bad escape.
        if (!text.includes("\\"))
          expect(() => void JSON.parse(text.slice(0, result.end))).to.not.throw();
      }),
      { numRuns: 2000 },
    );
  });

  it("distinguishes incomplete from invalid JSON", () => {
    expect(scanJson('{"a":[1,', 0, 500).kind).to.equal("unfinished");
    expect(scanJson('{"a', 0, 500).kind).to.equal("unfinished");
    expect(scanJson("{a}", 0, 500).kind).to.equal("invalid");
    expect(scanJson('{"a\n":1}', 0, 500).kind).to.equal("invalid");
    expect(scanJson("[1,]", 0, 500).kind).to.equal("invalid");
    expect(scanJson("[01]", 0, 500).kind).to.equal("invalid");
  });

  it("refuses text that is nested too deeply, before it reads on", () => {
    expect(scanJson("[[[]]]", 0, 3)).to.deep.equal({ kind: "value", end: 6 });
    expect(scanJson("[[[[", 0, 3)).to.deep.equal({ kind: "tooDeep" });
  });
});

describe("JsonTokens", () => {
  const tokensOf = (text: string): readonly string[] => {
    const tokens = new JsonTokens(text);
    const read: string[] = [];
    for (;;) {
      const token = tokens.next();
      read.push(
        token === "scalar" || token === "key" ? text.slice(tokens.start, tokens.end) : token,
      );
      if (token === "end" || token === "invalid" || token === "unfinished") return read;
    }
  };

  it("reads keys, scalars and brackets, then the end", () => {
    expect(tokensOf(' {"a\\"": [1, -2.5e3, "x]"], "b": null} ')).to.deep.equal([
      "open",
      '"a\\""',
      "open",
      "1",
      "-2.5e3",
      '"x]"',
      "close",
      '"b"',
      "null",
      "close",
      "end",
    ]);
    expect(tokensOf("true")).to.deep.equal(["true", "end"]);
    expect(tokensOf('"a"')).to.deep.equal(['"a"', "end"]);
  });

  for (const text of ["", "[", '{"a"', '"a', "[1", '{"a":'])
    it(`waits for more of ${JSON.stringify(text)}`, () => {
      expect(tokensOf(text).at(-1)).to.equal("unfinished");
    });

  for (const text of [
    "]",
    "[1}",
    "{1:2}",
    "[1 2]",
    "1 2",
    '{"a",}',
    "[,]",
    "[1,]",
    ":",
    "tru",
    "{} x",
  ])
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(tokensOf(text).at(-1)).to.equal("invalid");
    });
});

describe("bracketDepth", () => {
  it("counts brackets that are open simultaneously, including those in strings", () => {
    expect(bracketDepth('{"a":[1,{"b":2}],"c":[]}')).to.equal(3);
    expect(bracketDepth('"[[["')).to.equal(3);
    expect(bracketDepth("]]{[")).to.equal(0);
  });
});
