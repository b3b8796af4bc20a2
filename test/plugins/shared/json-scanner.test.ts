import { expect } from "chai";
import fc from "fast-check";
import { JsonScanner } from "../../../src/plugins/shared/json-scanner.js";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((most, part) => Math.max(most, depthOf(part)), 0);
}

function containersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + containersIn(part), 1);
}

describe("JsonScanner", () => {
  it("finds the depth and the objects and lists of any JSON, in bytes as in characters", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        const [units, bytes] = [new JsonScanner(), new JsonScanner()];
        for (let i = 0; i < text.length; i++) units.look(text.charCodeAt(i));
        for (const byte of Buffer.from(text)) bytes.look(byte);
        expect([units.deepest, units.opened]).to.deep.equal([depthOf(value), containersIn(value)]);
        expect(bytes).to.deep.equal(units);
      }),
    );
  });

  it("counts no comma, colon or bracket of a text", () => {
    const scanner = new JsonScanner();
    for (const byte of Buffer.from(String.raw`{"a,:[{\"]": ["]}", 1]}`)) scanner.look(byte);
    expect(scanner).to.include({ deepest: 2, opened: 2, colons: 1, commas: 1 });
  });
});
