import { expect } from "chai";
import fc from "fast-check";
import { InvalidResponseError } from "../../../../src/plugins/providers/shared/invalid-response-error.js";
import { JsonGuard, parseGuarded } from "../../../../src/plugins/providers/shared/json-guard.js";

describe("JsonGuard", () => {
  it("accepts any ordinary document, for any division into pieces", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const text = JSON.stringify(value);
        const guard = new JsonGuard();
        for (let start = 0; start < text.length; start += size)
          guard.scan(text.slice(start, start + size));
        expect(parseGuarded(text, "It")).to.deep.equal(JSON.parse(text));
      }),
    );
  });

  const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  it("allows 500 levels and no more", () => {
    expect(parseGuarded(nested(500), "It")).to.be.an("array");
    expect(() => parseGuarded(nested(501), "It")).to.throw(InvalidResponseError, "500");
  });

  it("does not count the contents of strings", () => {
    const text = JSON.stringify({ text: `\\"${"[{".repeat(2000)}`, more: nested(400) });
    expect(parseGuarded(text, "It")).to.deep.equal(JSON.parse(text));
  });

  it("refuses documents that would take too long to parse", () => {
    expect(() => parseGuarded(`[${"{},".repeat(260_000)}{}]`, "It")).to.throw(InvalidResponseError);
    expect(() => parseGuarded(`[${"1,".repeat(6_000_000)}1]`, "It")).to.throw(InvalidResponseError);
  });

  for (const [what, text] of [
    ["nothing", " \n"],
    ["a page", "<html>"],
    ["a truncated document", '{"a":'],
  ] as const) {
    it(`refuses ${what}, and names it`, () => {
      expect(() => parseGuarded(text, "The answer")).to.throw(InvalidResponseError, "The answer");
    });
  }
});
