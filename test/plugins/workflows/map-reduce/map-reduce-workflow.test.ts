import { expect } from "chai";
import fc from "fast-check";
import { Ensemble } from "../../../../src/ensemble/ensemble.js";
import { MapReduceEnsemble } from "../../../../src/map-reduce/map-reduce-ensemble.js";
import { Task } from "../../../../src/contracts/task.js";
import { Kernel } from "../../../../src/kernel/kernel.js";
import { standardPlugins } from "../../../../src/ensemble/standard-plugins.js";

/**
 * The records of one run of an adaptive reduction. Each map's text is its item's number; reduces
 * join the texts and shorten them.
 */
async function reduction(sizes: readonly number[], budget: number, share: number, kernel: Kernel) {
  const groups: { readonly sizes: readonly number[]; readonly seen: readonly string[] }[] = [];
  const summary = new MapReduceEnsemble({
    items: sizes.map((size, index) => ({ size, index })),
    targetTokenBudget: budget,
    tokenEstimator: (text) => Number(text.split(":")[0]),
    mapTask: ({ size, index }) =>
      new Task({ description: `Map ${index}`, handler: () => `${size}:${index}` }),
    reduceTask: (tasks) =>
      new Task({
        description: "Reduce",
        context: tasks,
        handler: ({ contextOutputs }) => {
          const parts = contextOutputs.map(({ raw }) => raw.split(":"));
          const own = parts.map(([size]) => Number(size));
          const seen = parts.flatMap(([, names = ""]) => names.split(","));
          groups.push({ sizes: own, seen });
          return `${Math.floor(own.reduce((sum, size) => sum + size, 0) * share)}:${seen.join(",")}`;
        },
      }),
    kernel,
    on: () => undefined, // warnings are expected here
  });
  const output = await summary.run();
  return { output, groups, final: groups.at(-1) };
}

describe("the adaptive workflow", () => {
  let kernel: Kernel;

  before(() => {
    kernel = new Kernel({ plugins: standardPlugins() });
  });

  after(() => kernel.dispose());

  it("passes every item to the final reduce exactly once, respects the budget on each level, and terminates", async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.integer({ min: 1, max: 400 }),
        fc.constantFrom(0.1, 0.5, 0.9, 1, 1.5),
        async (items, budget, share) => {
          const { output, groups, final } = await reduction(items, budget, share, kernel);
          expect(final?.seen.map(Number).sort((a, b) => a - b)).to.deep.equal(
            items.map((_, index) => index),
          );
          for (const group of groups.slice(0, -1)) {
            expect(
              group.sizes.length === 1 ||
                group.sizes.reduce((sum, size) => sum + size, 0) <= budget,
            ).to.equal(true);
          }
          const levels = output.trace.mapReduceLevels ?? [];
          expect(levels.map(({ level }) => level)).to.deep.equal(levels.map((_, index) => index));
          const counts = levels.slice(0, -1).map(({ taskCount }) => taskCount);
          for (let i = 1; i < counts.length; i++)
            expect(counts[i]).to.be.lessThan(counts[i - 1] ?? 0); // each level has fewer outputs than the one before
        },
      ),
      { numRuns: 60 },
    );
  });

  it("can't be chosen by a custom ensemble", async () => {
    const own = new Ensemble({
      kernel,
      workflow: "MAP_REDUCE_ADAPTIVE",
      tasks: [new Task({ description: "x", handler: () => 1 })],
    });
    const error: unknown = await own.run().catch((caught: unknown) => caught);
    expect(error).to.have.property("code", "AE_VALIDATION");
  });
});
