import { expect } from "chai";
import { pointerSteps } from "../../../src/util/json/pointer.js";

describe("pointerSteps", () => {
  it("returns the steps of a pointer, also of a fragment", () => {
    expect(pointerSteps("/items/0/name")).to.deep.equal(["items", "0", "name"]);
    expect(pointerSteps("#/$defs/place")).to.deep.equal(["$defs", "place"]);
    expect(pointerSteps("")).to.deep.equal([]);
    expect(pointerSteps("#")).to.deep.equal([]);
  });

  it("reads escaped slashes and tildes", () => {
    expect(pointerSteps("/a~1b/~0c/~01")).to.deep.equal(["a/b", "~c", "~1"]);
  });
});
