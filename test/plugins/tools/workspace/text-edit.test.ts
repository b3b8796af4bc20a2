import { expect } from "chai";
import fc from "fast-check";
import { replaceText } from "../../../../src/plugins/tools/workspace/text-edit.js";
import { positionsOf } from "../../../../src/plugins/tools/workspace/text-places.js";
import { WorkLimit } from "../../../../src/plugins/tools/workspace/work-limit.js";
import { rejection } from "../../../support/fake-scope.js";

async function within<T>(signal: AbortSignal, work: (limit: WorkLimit) => Promise<T>): Promise<T> {
  const limit = new WorkLimit(signal, 3_000);
  try {
    return await work(limit);
  } finally {
    limit.dispose();
  }
}

describe("replaceText()", () => {
  it("does not block the event loop, and ends with its signal", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    setImmediate(() => controller.abort(reason));
    const work = within(controller.signal, (limit) =>
      replaceText("a".repeat(3_000_000), { find: "b", content: "" }, "f", {
        maxBytes: 10_000_000,
        work: limit,
      }),
    );
    expect(await rejection(work)).to.equal(reason);
  });

  it("ends with its signal while a long text to find is prepared", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    setImmediate(() => controller.abort(reason));
    const long = "a".repeat(3_000_000);
    const work = within(controller.signal, (limit) => positionsOf(long, long, limit));
    expect(await rejection(work)).to.equal(reason);
  });
});

describe("positionsOf()", () => {
  it("returns the same positions as indexOf", async () => {
    const word = (maxLength: number) =>
      fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength }).map((p) => p.join(""));
    await fc.assert(
      fc.asyncProperty(word(40), word(5), async (text, find) => {
        const wanted: number[] = [];
        for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + find.length))
          wanted.push(at);
        const found = await within(new AbortController().signal, (limit) =>
          positionsOf(text, find, limit),
        );
        expect(found).to.deep.equal(wanted);
      }),
      { numRuns: 500 },
    );
  });
});
