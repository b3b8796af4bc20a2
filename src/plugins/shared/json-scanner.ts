const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/**
 * Follows JSON character by character as it comes, before anybody parses it: how deep it is, and how much of it there is. Knows nothing else of its
 * syntax. What it looks for is ASCII, so that bytes of UTF-8 and units of UTF-16 will do.
 */
export class JsonScanner {
  /** The greatest depth so far. */
  deepest = 0;
  /** Objects and lists. */
  opened = 0;
  colons = 0;
  commas = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  look(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === BACKSLASH) this.#escaped = true;
      else if (code === QUOTE) this.#inString = false;
    } else if (code === QUOTE) this.#inString = true;
    else if (code === COMMA) this.commas++;
    else if (code === COLON) this.colons++;
    else if ((code | 32) === 123)
      this.#open(); // [ and {
    else if ((code | 32) === 125) this.#depth--; // ] and }
  }

  #open(): void {
    this.opened++;
    if (++this.#depth > this.deepest) this.deepest = this.#depth;
  }
}
