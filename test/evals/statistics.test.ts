// The reference values are those of Python 3.11.7: `python3 test/evals/statistics-reference.py`
// prints them. SciPy 1.17.1 has the same values. Sign tests: `stats.binomtest(10, 12).pvalue`.
// Bounds of Clopper and Pearson: `stats.binomtest(6, 6).proportion_ci(0.95, "exact")`. Quantiles:
// `stats.binom.ppf([0.025, 0.975], 200, 0.7) / 200`.
import { expect } from "chai";
import { compareWithBaseline } from "../../src/evals/statistics/comparison.js";
import { detectableDifference } from "../../src/evals/statistics/detectable.js";
import { meanInterval, normalQuantile } from "../../src/evals/statistics/intervals.js";
import { RandomSource } from "../../src/evals/statistics/random-source.js";
import { passAtK, passHatK, signTest } from "../../src/evals/statistics/sign-test.js";
import { resultOf } from "./results.js";

const PART = [0, 1] as const;

describe("random numbers of evaluations", () => {
  it("depend on the seed only", () => {
    const random = new RandomSource(1);
    expect(Array.from({ length: 5 }, () => random.next())).to.deep.equal([
      441792574, 614447336, 1644328534, 3387734806, 1080862987,
    ]);
    const other = new RandomSource(4_294_967_295);
    expect(Array.from({ length: 3 }, () => other.next())).to.deep.equal([
      63991695, 2894660216, 63885327,
    ]);
  });

  it("are uniformly distributed below a bound", () => {
    const random = new RandomSource(3);
    const counts = [0, 0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) {
      const n = random.below(5);
      counts[n] = (counts[n] ?? 0) + 1;
    }
    for (const count of counts) expect(count).to.be.within(1_850, 2_150);
  });
});

describe("the interval of a mean", () => {
  it("is the percentile bootstrap of a second implementation", () => {
    const values = Float64Array.of(0, 0.25, 0.5, 1, 1, 0.75, 0.1, 0.9, 1, 0.6);
    const first = meanInterval(values, { confidence: 0.95, seed: 1, range: PART });
    expect(first.low).to.be.closeTo(0.38, 1e-12);
    expect(first.high).to.be.closeTo(0.83, 1e-12);
    const second = meanInterval(values, { confidence: 0.9, seed: 7, range: PART });
    expect(second.low).to.be.closeTo(0.415, 1e-12);
    expect(second.high).to.be.closeTo(0.79, 1e-12);
    expect(second).to.include({ confidence: 0.9, method: "bootstrap" });
  });

  it("agrees with the quantiles of the binomial distribution for passes and failures", () => {
    const of = (passed: number, n: number): Float64Array =>
      Float64Array.from({ length: n }, (_, i) => (i < passed ? 1 : 0));
    const fifty = meanInterval(of(40, 50), { confidence: 0.95, seed: 1, range: PART });
    expect([fifty.low, fifty.high]).to.deep.equal([0.68, 0.9]);
    const more = meanInterval(of(140, 200), { confidence: 0.95, seed: 1, range: PART });
    expect(more.low).to.be.closeTo(0.635, 0.0051);
    expect(more.high).to.be.closeTo(0.76, 0.0051);
  });

  for (const [n, low] of [
    [6, 0.5407418735600994],
    [20, 0.8315665290169146],
    [200, 0.9817246596448637],
  ] as const)
    it(`has the bound of Clopper and Pearson for ${n} equal values`, () => {
      const interval = meanInterval(new Float64Array(n).fill(1), {
        ...{ confidence: 0.95, seed: 1, range: PART },
      });
      expect(interval.low).to.be.closeTo(low, 1e-12);
      expect(interval).to.include({ high: 1, method: "exact" });
    });

  it("is normal for more cases than the limit of the bootstrap", () => {
    const values = Float64Array.from({ length: 20_000 }, (_, i) => (i % 4 === 0 ? 0 : 1));
    const { low, high, method } = meanInterval(values, { confidence: 0.95, seed: 1, range: PART });
    expect(method).to.equal("normal");
    expect(low).to.be.closeTo(0.75 - 1.959963985 * Math.sqrt(0.1875 / 20_000), 1e-6);
    expect(high).to.be.closeTo(0.75 + 1.959963985 * Math.sqrt(0.1875 / 20_000), 1e-6);
  });
});

describe("figures of single formulas", () => {
  for (const [p, z] of [
    [0.5, 0],
    [0.8, 0.8416212335729144],
    [0.975, 1.9599639845400536],
    [0.995, 2.5758293035489],
    [0.01, -2.3263478740408408],
    [0.001, -3.090232306167813],
  ] as const)
    it(`the normal quantile of ${p} equals Python's`, () => {
      expect(normalQuantile(p)).to.be.closeTo(z, 1e-8);
    });

  for (const [better, worse, p] of [
    [0, 0, 1],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [4, 1, 0.375],
    [10, 2, 0.03857421875],
    [30, 10, 0.0022214337732293643],
    [120, 80, 0.0056851559967503055],
    [1000, 900, 0.02310884510890107],
  ] as const)
    it(`the sign test of ${better} and ${worse} equals Python's`, () => {
      expect(signTest(better, worse)).to.be.closeTo(p, 1e-9);
      expect(signTest(worse, better)).to.be.closeTo(p, 1e-9);
    });

  for (const [n, c, k, some, all] of [
    [3, 1, 1, 1 / 3, 1 / 3],
    [3, 1, 2, 2 / 3, 0],
    [3, 2, 2, 1, 1 / 3],
    [10, 3, 5, 11 / 12, 0],
    [10, 0, 3, 0, 0],
    [10, 10, 10, 1, 1],
  ] as const)
    it(`pass@${k} and pass^${k} of ${c} in ${n} are those of binomial coefficients`, () => {
      expect(passAtK(n, c, k)).to.be.closeTo(some, 1e-12);
      expect(passHatK(n, c, k)).to.be.closeTo(all, 1e-12);
    });

  it("the detectable difference equals Python's", () => {
    const differences = Float64Array.of(-0.2, 0.1, 0, 0.3, -0.1, 0.05, 0.2, 0);
    expect(detectableDifference(differences, 0.95)).to.be.closeTo(0.1575891685188544, 1e-8);
  });

  it("the detectable difference is missing with fewer than six pairs", () => {
    expect(detectableDifference(Float64Array.of(1, 0, 1, 0, 1), 0.95)).to.equal(undefined);
  });
});

describe("a comparison with a baseline", () => {
  const settings = { confidence: 0.95, seed: 1, minDifference: 0.05 };
  const compare = (
    before: (i: number) => number,
    after: (i: number) => number,
    n: number,
  ): ReturnType<typeof compareWithBaseline> =>
    compareWithBaseline(resultOf(n, after).cases, ["s"], resultOf(n, before), settings);

  it("finds a regression of 10 points in 200 cases", () => {
    // 30 cases get worse and 10 better, as with a model of varying answers.
    const after = (i: number): number => (i < 30 ? 0 : i < 40 ? 1 : Number(i < 150));
    const before = (i: number): number => (i < 30 ? 1 : i < 40 ? 0 : Number(i < 150));
    const { verdict, scorers } = compare(before, after, 200);
    expect(verdict).to.equal("worse");
    expect(scorers[0]?.difference).to.be.closeTo(-0.1, 1e-12);
    expect(scorers[0]?.signTest).to.be.closeTo(0.0022214337732293643, 1e-12);
    expect([scorers[0]?.better.length, scorers[0]?.worse.length]).to.deep.equal([10, 30]);
    expect(compare(after, before, 200).verdict).to.equal("better");
  });

  it("finds no difference if equally many cases improve and worsen", () => {
    const before = (i: number): number => Number(i % 2 === 0);
    const { verdict, scorers } = compare(before, (i) => (i < 10 ? 1 - before(i) : before(i)), 200);
    expect(verdict).to.equal("no difference");
    expect(scorers[0]?.signTest).to.equal(1);
  });

  it("requires more data if the interval is wide", () => {
    expect(
      compare(
        () => 1,
        (i) => (i < 2 ? 0 : 1),
        12,
      ).verdict,
    ).to.equal("not enough data");
  });

  it("requires more data with fewer than six pairs, for any difference", () => {
    expect(
      compare(
        () => 1,
        () => 0,
        5,
      ).verdict,
    ).to.equal("not enough data");
  });

  it("requires more data if a few equal cases allow no conclusion", () => {
    expect(
      compare(
        () => 1,
        () => 1,
        20,
      ).verdict,
    ).to.equal("not enough data");
    expect(
      compare(
        () => 1,
        () => 1,
        200,
      ).verdict,
    ).to.equal("no difference");
  });

  it("reports a difference between equal evaluations in at most one of 20 comparisons", () => {
    const random = new RandomSource(5);
    const flip = (): number => Number(random.next() < 0xb333_3333); // 70 %
    let wrong = 0;
    for (let i = 0; i < 40; i++) {
      const [a, b] = [Array.from({ length: 60 }, flip), Array.from({ length: 60 }, flip)];
      const { verdict } = compare(
        (n) => a[n] as number,
        (n) => b[n] as number,
        60,
      );
      if (verdict === "better" || verdict === "worse") wrong++;
    }
    expect(wrong).to.be.at.most(3);
  });
});
