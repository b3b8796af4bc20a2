import type { TokenCounter } from "../../../contracts/token-counter.js";
import type { Awaitable } from "../../../contracts/types.js";

type Estimate = (text: string) => number;

/** Longer texts are estimated by samples: a megabyte would hold up everything else for a quarter of a second. */
const SAMPLED_ABOVE = 32_768;
const SAMPLES = 8;
const SAMPLE_LENGTH = SAMPLED_ABOVE / SAMPLES;

/** Guesses by the length and the kind of words; within a few per cent for prose, worse for code. The estimator is loaded when it is first asked. */
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

/** Pieces from all over the text stand for the whole. */
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
