import { expect } from "chai";
import { parseJson } from "../../../src/util/json/parse-json.js";

describe("parseJson", () => {
  it("returns the value of a JSON text, and undefined for any other text", () => {
    expect(parseJson('{"a":[null]}')).to.deep.equal({ a: [null] });
    expect(["", "{", "undefined", "'a'"].map(parseJson)).to.deep.equal(
      new Array(4).fill(undefined),
    );
  });
});
