import { setImmediate as nextTurn } from "node:timers/promises";
import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import { checkTexts } from "./check-texts.js";
import { stemsOf } from "./words.js";

/** How the hashed bag of words is made. */
export interface HashedBagOfWordsOptions {
  /** How many numbers a vector has, 16 to 16,384. Fewer take less room; more keep words apart that have nothing to do with each other. Default 512. */
  readonly dimensions?: number | undefined;
}

const DEFAULT_DIMENSIONS = 512;
// A word counts as much as all its parts together, and two in a row a little.
const PAIR_WEIGHT = 0.4;
const PARTS_WEIGHT = 0.7;
const PART_LENGTH = 4;
// Some 10 ms of work; then others get their turn.
const CHARACTERS_AT_ONCE = 20_000;
const NOTHING = "\u0000nothing";

/** FNV-1a: quick, and the same everywhere. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d); // the low bits of FNV alone are poor
  return (value ^ (value >>> 13)) >>> 0;
}

/** Runs of four characters with the ends of the word marked, so that kindred and misspelt words meet. */
function partsOf(word: string): readonly string[] {
  const marked = `<${word}>`;
  return Array.from({ length: Math.max(1, marked.length - PART_LENGTH + 1) }, (_, i) =>
    marked.slice(i, i + PART_LENGTH),
  );
}

/** How much each feature of a text weighs. */
class Features {
  readonly #counts = new Map<string, number>();
  #previous: string | undefined;

  addWords(stems: readonly string[]): void {
    for (const word of stems) {
      this.#add(`w${word}`, 1);
      if (this.#previous !== undefined) this.#add(`p${this.#previous} ${word}`, PAIR_WEIGHT);
      this.#previous = word;
      const parts = partsOf(word);
      for (const part of parts) this.#add(`c${part}`, PARTS_WEIGHT / Math.sqrt(parts.length));
    }
  }

  /** The vector of length 1. A word said ten times weighs some three times as much as one said once. */
  toVector(dimensions: number): readonly number[] {
    if (this.#counts.size === 0) this.#add(NOTHING, 1);
    const vector = new Array<number>(dimensions).fill(0);
    for (const [feature, weight] of this.#counts) {
      const hashed = hash(feature);
      const at = (hashed >>> 1) % dimensions;
      vector[at] =
        (vector[at] ?? 0) + (hashed & 1 ? 1 : -1) * (weight > 1 ? 1 + Math.log(weight) : weight);
    }
    return directionOf(vector, hash(NOTHING) % dimensions);
  }

  #add(feature: string, weight: number): void {
    this.#counts.set(feature, (this.#counts.get(feature) ?? 0) + weight);
  }
}

/** `vector` with length 1; features that have cancelled each other out leave the vector that has only the number at `fallback`. */
function directionOf(vector: readonly number[], fallback: number): readonly number[] {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return length > 0
    ? vector.map((number) => number / length)
    : vector.map((_, i) => (i === fallback ? 1 : 0));
}

async function embed(text: string, dimensions: number): Promise<readonly number[]> {
  const features = new Features();
  for (let start = 0; start < text.length; start += CHARACTERS_AT_ONCE) {
    if (start > 0) await nextTurn();
    features.addWords(stemsOf(text.slice(start, start + CHARACTERS_AT_ONCE)));
  }
  return features.toVector(dimensions);
}

/**
 * Vectors of which words and parts of words a text has: nothing to install, nothing asked of a network, the same vector everywhere and always. It finds texts that
 * share words, in any form and order; it knows nothing of synonyms. Made for English; other languages lose only the stems and stop words.
 * @throws ValidationError for options that cannot work.
 */
export function hashedBagOfWords(options: HashedBagOfWordsOptions = {}): EmbeddingModel {
  checkOptions("hashedBagOfWords()", options, ["dimensions"]);
  const { dimensions = DEFAULT_DIMENSIONS } = options;
  if (!Number.isInteger(dimensions) || dimensions < 16 || dimensions > 16_384) {
    throw new ValidationError(
      `hashedBagOfWords() dimensions must be a whole number from 16 to 16384, got: ${preview(dimensions)}`,
    );
  }
  return Object.freeze<EmbeddingModel>({
    dimensions,
    async embed(texts) {
      checkTexts(texts);
      const vectors: (readonly number[])[] = [];
      for (const [index, text] of texts.entries()) {
        if (index > 0 && index % 16 === 0) await nextTurn();
        vectors.push(await embed(text, dimensions));
      }
      return vectors;
    },
  });
}
