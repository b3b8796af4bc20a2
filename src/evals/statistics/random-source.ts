/**
 * A generator of random numbers with a seed: sfc32, the small fast counting generator of
 * Doty-Humphrey. The state begins with `seed`, 0, 0 and 1. The first 12 numbers are discarded.
 */
export class RandomSource {
  #a: number;
  #b = 0;
  #c = 0;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** Returns an integer from 0 to 2^32 - 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** Returns an integer from 0 to `count` - 1. `count` is at most 2^21. */
  below(count: number): number {
    return Math.floor((this.next() * count) / 0x1_0000_0000);
  }
}
