import { expect } from "chai";
import fc from "fast-check";
import { MinHeap } from "../../src/util/min-heap.js";

describe("MinHeap", () => {
  it("returns its values in order after any additions and removals", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.integer(), fc.constant(undefined))), (steps) => {
        const heap = new MinHeap<number>((a, b) => a < b);
        const model: number[] = [];
        for (const step of steps) {
          if (step === undefined) expect(heap.pop()).to.equal(model.shift());
          else {
            heap.push(step);
            model.push(step);
            model.sort((a, b) => a - b);
          }
          expect([heap.peek(), heap.size]).to.deep.equal([model[0], model.length]);
        }
        expect(model.map(() => heap.pop())).to.deep.equal(model);
        expect(heap.pop()).to.equal(undefined);
      }),
    );
  });
});
