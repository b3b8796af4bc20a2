/** A set of texts that keeps 64 bits of each text. The ids of a million cases need 16 MB. */
export class IdSet {
  #high = new Uint32Array(1024);
  #low = new Uint32Array(1024);
  #size = 0;

  /**
   * Returns whether the text is new. For a million texts the probability of a collision is 1 in 37
   * million.
   */
  add(text: string): boolean {
    if (this.#size * 2 >= this.#high.length) this.#grow();
    return this.#put(...hash64(text));
  }

  #put(high: number, low: number): boolean {
    const mask = this.#high.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      if (this.#high[at] === 0 && this.#low[at] === 0) {
        this.#high[at] = high;
        this.#low[at] = low;
        this.#size++;
        return true;
      }
      if (this.#high[at] === high && this.#low[at] === low) return false;
    }
  }

  #grow(): void {
    const [high, low] = [this.#high, this.#low];
    this.#high = new Uint32Array(high.length * 2);
    this.#low = new Uint32Array(low.length * 2);
    this.#size = 0;
    high.forEach((h, i) => {
      const l = low[i] as number;
      if (h !== 0 || l !== 0) this.#put(h, l);
    });
  }
}

/** The cyrb hash by bryc, in the public domain: two lanes of 32 bits, mixed as in MurmurHash3. */
function hash64(text: string): readonly [number, number] {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return [a >>> 0, b >>> 0 || 1]; // 0, 0 marks a free slot
}
