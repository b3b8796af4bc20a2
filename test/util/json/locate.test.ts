import { expect } from "chai";
import fc from "fast-check";
import { lineOf } from "../../../src/util/json/locate.js";

describe("lineOf", () => {
  const mistakes: readonly (readonly [string, number])[] = [
    ["", 1],
    ["x", 1],
    ["{\n  a: 1 }", 2],
    ['{ "a": 1,\n }', 2],
    ["[1,\n2,\n]", 3],
    ['{\n"a" 1}', 2],
    ['{"a": "x\ny"}', 1],
    ['{"a": [1, 2}\n', 1],
    ["[1]\n\n[2]", 3],
    ['{"a":\n{"b":', 2],
    ["[01]", 1],
  ];
  for (const [text, line] of mistakes) {
    it(`finds the mistake of ${JSON.stringify(text)} in line ${line}`, () => {
      expect(() => JSON.parse(text) as unknown).to.throw(SyntaxError);
      expect(lineOf(text)).to.equal(line);
    });
  }

  it("finds no mistake in valid JSON, and the line of every value", () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 6 }), (values) => {
        const text = `{\n${values.map((value, i) => `"k${i}": ${value}`).join(",\n")}\n}`;
        const offsets = values.map((_, i) => lineOf(text, [`k${i}`]));
        expect(offsets).to.deep.equal(values.map((_, i) => i + 2));
        expect(lineOf(text)).to.equal(1);
      }),
    );
  });

  it("agrees with JSON.parse on invalid documents", () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom("", "]", ",", '"', "}", ":", "-", "tru"),
        (json, at, insert) => {
          const cut = at % (json.length + 1);
          const text = `\n${json.slice(0, cut)}${insert}${json.slice(cut)}`;
          let valid = true;
          try {
            JSON.parse(text);
          } catch {
            valid = false;
          }
          // A valid document has no mistake: the result is its first line. An invalid document is
          // wrong after the leading line break.
          expect(lineOf(text)).to.equal(valid ? 1 : 2);
        },
      ),
    );
  });

  it("reads very long texts and deep nesting", () => {
    expect(lineOf(`["${"x".repeat(20_000_000)}",\n]`)).to.equal(2);
    expect(lineOf(`${"[".repeat(200_000)}\n!`)).to.equal(2);
  });
});
