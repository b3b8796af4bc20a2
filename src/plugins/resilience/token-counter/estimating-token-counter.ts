import type { TokenCounter } from "../../../contracts/token-counter.js";
import type { Awaitable } from "../../../contracts/types.js";

type Estimate = (text: string) => number;

/**
 * Longer texts are estimated from samples. An estimate of one megabyte would block the process for
 * a quarter of a second.
 */
const SAMPLED_ABOVE = 32_768;
const SAMPLES = 8;
const SAMPLE_LENGTH = SAMPLED_ABOVE / SAMPLES;

/**
 * Estimates by the length and kind of words. The error is a few per cent for prose and larger for
 * code. The estimator is loaded at its first use.
 */
export class EstimatingTokenCounter implements TokenCounter {
  #estimate: Estimate | undefined;

  count(text: string): Awaitable<number> {
    return this.#estimate === undefined ? this.#load(text) : sampled(text, this.#estimate);
  }

  async #load(text: string): Promise<number> {
    const { estimateTokenCount } = await import("tokenx");
    this.#estimate = (part) => estimateTokenCount(part);
    return sampled(text, this.#estimate);
  }
}

/** Estimates a text from samples at regular distances. */
function sampled(text: string, estimate: Estimate): number {
  if (text.length <= SAMPLED_ABOVE) return estimate(text);
  const stride = (text.length - SAMPLE_LENGTH) / (SAMPLES - 1);
  let tokens = 0;
  for (let i = 0; i < SAMPLES; i++) {
    const start = Math.floor(i * stride);
    tokens += estimate(text.slice(start, start + SAMPLE_LENGTH));
  }
  return Math.ceil((tokens * text.length) / SAMPLED_ABOVE);
}
