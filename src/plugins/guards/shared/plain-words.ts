import type { QuickRule } from "./stream-filter.js";

/**
 * Words without a finding, independent of the text before them. They consist of ASCII characters of
 * these kinds.
 */
export interface PlainWords {
  /**
   * The characters of words. A word with characters of both `letters` and `others` is not plain.
   */
  readonly letters: RegExp;
  readonly others?: RegExp;
  /** Characters that any word may contain. */
  readonly marks?: RegExp;
  /** The length from which a word is not plain. */
  readonly length: number;
}

const LETTER = 1;
const OTHER = 2;
const BOTH = LETTER | OTHER;
const MARK = 4;
const SPACE_OR_LINE = 8;

/**
 * Returns a function that creates the rule `quick` for a stream that is held by word. Plain words
 * are shown without reading the held text.
 */
export function plainWords({ letters, others, marks, length }: PlainWords): () => QuickRule {
  const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
    const character = String.fromCharCode(code);
    if (code === 32 || code === 10) return SPACE_OR_LINE;
    if (letters.test(character)) return LETTER;
    if (others?.test(character) === true) return OTHER;
    return marks?.test(character) === true ? MARK : 0;
  });
  return () => new PlainWordRule(kinds, length);
}

class PlainWordRule implements QuickRule {
  /** The kinds of the characters of the held word. */
  #word = 0;
  #isHeldPlain = true;

  constructor(
    readonly kinds: Uint8Array,
    readonly length: number,
  ) {}

  decide(piece: string, held: number): number {
    if (!this.#isHeldPlain) return -1;
    let word = held === 0 ? 0 : this.#word;
    let count = held;
    let end = 0;
    for (let at = 0; at < piece.length; at++) {
      const kind = this.kinds[piece.charCodeAt(at)];
      if (kind === SPACE_OR_LINE) {
        count = word = 0;
        end = at + 1;
        continue;
      }
      if (kind === undefined || kind === 0) return -1;
      word |= kind;
      if (++count >= this.length || (word & BOTH) === BOTH) return -1;
    }
    this.#word = word;
    return end;
  }

  looked(held: string): void {
    this.#isHeldPlain = true;
    this.#isHeldPlain = this.decide(held, 0) === 0;
  }
}
