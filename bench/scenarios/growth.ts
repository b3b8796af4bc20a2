import type { Scenario, WorkOf } from "../harness/scenario.js";
import { collectGarbage, cpuOf, repeat } from "../harness/measure.js";
import { chain } from "./chain.js";
import { fanOut } from "./fan-out.js";
import { toolLoop } from "./tool-loop.js";

const SIZES = [100, 1_000, 10_000] as const;
const LARGEST = 10_000;
const SIZED: readonly (readonly [string, (size: number) => WorkOf])[] = [
  ["S1", chain],
  ["S2", toolLoop],
  ["S4a", fanOut],
];

/**
 * Returns the slope of the line through the points on logarithmic axes: 1 for linear, 2 for
 * quadratic growth.
 */
function exponent(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length;
  const covariance = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** Measures whether the cost of work grows linearly with its size, or faster. */
export const growthScenario: Scenario = {
  id: "G",
  lines: SIZED.map(([name]) => ({
    title: `growth of ${name}, 100 to 10,000`,
    unit: "exponent of CPU",
    goal: 1.05,
  })),
  rounds: 5,
  async prepare(side) {
    // The same number of units at every size: all sizes are measured with equal precision.
    const works = SIZED.map(([, make]) =>
      SIZES.map((size) => ({ size, times: Math.ceil(LARGEST / size), work: make(size)(side) })),
    );
    for (const sizes of works) for (const { times, work } of sizes) await repeat(times, work);
    return async () => {
      const exponents: number[] = [];
      for (const sizes of works) {
        collectGarbage(); // garbage of the largest size would count for the smallest
        for (const { times, work } of sizes.slice(0, 1)) await repeat(times * 2, work); // compiled again, see collectGarbage
        const points: [number, number][] = [];
        for (const { size, times, work } of sizes)
          points.push([size, (await cpuOf(times, work)) / times]);
        exponents.push(exponent(points));
      }
      return exponents;
    };
  },
};
