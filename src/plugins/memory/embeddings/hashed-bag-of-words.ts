import { setImmediate as nextTurn } from "node:timers/promises";
import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import { checkEmbeddableTexts } from "./check-texts.js";
import { stemsOf } from "./words.js";

/** Options of {@link hashedBagOfWords}. */
export interface HashedBagOfWordsOptions {
  /**
   * Number of dimensions of a vector, 16 to 16,384. Fewer dimensions need less space. More
   * dimensions cause fewer collisions between unrelated words. Default 512.
   */
  readonly dimensions?: number | undefined;
}

const DEFAULT_DIMENSIONS = 512;
// Weight of two adjacent words. A word and all its parts together weigh the same.
const PAIR_WEIGHT = 0.4;
const PARTS_WEIGHT = 0.7;
const PART_LENGTH = 4;
// About 10 ms of work before yielding to the event loop.
const CHARACTERS_AT_ONCE = 20_000;
const NOTHING = "\u0000nothing";

/** FNV-1a: fast, and equal on all platforms. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  // the low bits of plain FNV are badly distributed
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}

/**
 * Returns runs of four characters with the ends of the word marked, so that related and misspelt
 * words match.
 */
function wordParts(word: string): readonly string[] {
  const marked = `<${word}>`;
  return Array.from({ length: Math.max(1, marked.length - PART_LENGTH + 1) }, (_, i) =>
    marked.slice(i, i + PART_LENGTH),
  );
}

/** The weight of each feature of a text. */
class Features {
  readonly #counts = new Map<string, number>();
  #previous: string | undefined;

  addWords(stems: readonly string[]): void {
    for (const word of stems) {
      this.#add(`w${word}`, 1);
      if (this.#previous !== undefined) this.#add(`p${this.#previous} ${word}`, PAIR_WEIGHT);
      this.#previous = word;
      const parts = wordParts(word);
      for (const part of parts) this.#add(`c${part}`, PARTS_WEIGHT / Math.sqrt(parts.length));
    }
  }

  /**
   * Returns the vector with length 1. A word that occurs ten times weighs about three times as much
   * as one that occurs once.
   */
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

/**
 * Returns `vector` with length 1. If all features cancel out, returns the unit vector of the
 * dimension `fallback`.
 */
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
 * Creates a model whose vectors represent the words and parts of words in a text. It needs no
 * installation and no network, and is deterministic on all platforms. It finds texts that share
 * words in any form and order. It does not know synonyms. Designed for English. Other languages
 * only lose stemming and stop words.
 * @throws ValidationError for invalid options
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
      checkEmbeddableTexts(texts);
      const vectors: (readonly number[])[] = [];
      for (const [index, text] of texts.entries()) {
        if (index > 0 && index % 16 === 0) await nextTurn();
        vectors.push(await embed(text, dimensions));
      }
      return vectors;
    },
  });
}
