import type { ScoreSummary } from "../evaluation-result.js";
import { detectableNextTime } from "./detectable.js";
import { meanInterval, meanOf } from "./intervals.js";
import { passAtK, passHatK } from "./sign-test.js";

/** Settings of the summary of a scorer. */
export interface SummarySettings {
  readonly trials: number;
  readonly confidence: number;
  readonly seed: number;
}

/** Collects the scores of one scorer: a few bytes for each case. */
export class ScoreColumn {
  /** Means of the cases, in the order of their ends. */
  #means = new Float64Array(64);
  #count = 0;
  /** The number of cases with n scores of which c pass, at `n * 128 + c`. */
  readonly #passes = new Map<number, number>();
  /** The position of each case in the dataset, because the order of the ends is random. */
  #positions = new Float64Array(64);
  #scores = 0;
  #passed = 0;
  #errors = 0;
  #skipped = 0;

  constructor(
    readonly scorer: string,
    readonly passAt: number,
  ) {}

  /** The position in the dataset of each case, because the order of the ends is random. */
  add(
    position: number,
    { values, errors, skipped }: { values: readonly number[]; errors: number; skipped: number },
  ): void {
    this.#errors += errors;
    this.#skipped += skipped;
    if (values.length === 0) return;
    if (this.#count === this.#means.length) this.#grow();
    const passed = values.filter((value) => value >= this.passAt).length;
    this.#means[this.#count] = values.reduce((sum, value) => sum + value, 0) / values.length;
    this.#positions[this.#count++] = position;
    this.#scores += values.length;
    this.#passed += passed;
    const key = values.length * 128 + passed;
    this.#passes.set(key, (this.#passes.get(key) ?? 0) + 1);
  }

  summary({ trials, confidence, seed }: SummarySettings): ScoreSummary {
    const means = this.#inOrder();
    const { scorer, passAt } = this;
    const base = {
      scorer,
      cases: means.length,
      scores: this.#scores,
      errors: this.#errors,
      skipped: this.#skipped,
      passAt,
    };
    if (means.length === 0) return { ...base, passAtK: [], passHatK: [] };
    const ks = Array.from({ length: trials }, (_, i) => i + 1);
    return {
      ...base,
      mean: meanOf(means),
      interval: meanInterval(means, { confidence, seed, range: [0, 1] }),
      passRate: this.#passed / this.#scores,
      passAtK: this.#overCases(ks, trials, passAtK),
      passHatK: this.#overCases(ks, trials, passHatK),
      detectableDifference: detectableNextTime(means, confidence),
    };
  }

  /** Returns the means in the order of the dataset. A seed then always yields the same figures. */
  #inOrder(): Float64Array {
    const order = Array.from({ length: this.#count }, (_, i) => i);
    order.sort((a, b) => (this.#positions[a] as number) - (this.#positions[b] as number));
    return Float64Array.from(order, (i) => this.#means[i] as number);
  }

  #overCases(
    ks: readonly number[],
    trials: number,
    chance: (n: number, c: number, k: number) => number,
  ): readonly number[] {
    const full = [...this.#passes].filter(([key]) => Math.floor(key / 128) === trials);
    const cases = full.reduce((sum, [, count]) => sum + count, 0);
    if (cases === 0) return [];
    return ks.map(
      (k) => full.reduce((sum, [key, n]) => sum + n * chance(trials, key % 128, k), 0) / cases,
    );
  }

  #grow(): void {
    const twice = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.#means = twice(this.#means);
    this.#positions = twice(this.#positions);
  }
}
