import { createHash } from "node:crypto";

export type Language = "en" | "de" | "fr";

/** One text of a labelled set. */
export interface LabelledCase {
  readonly text: string;
  readonly isPositive: boolean;
  readonly language: Language;
  /** The name of its source outside of this project. Absent: written for this set. */
  readonly source?: string | undefined;
}

/** Sentences with a gap `{}`, by language. */
export type Frames = Readonly<Record<Language, readonly string[]>>;

const LANGUAGES: readonly Language[] = ["en", "de", "fr"];

/** A value for the gap of a sentence. */
export interface Value {
  readonly text: string;
  readonly source?: string | undefined;
}

/** Inserts each value into a sentence of the next language. */
export function framed(
  frames: Frames,
  values: readonly (Value | string)[],
  isPositive: boolean,
): readonly LabelledCase[] {
  return values.map((value, index) => {
    const { text, source } = typeof value === "string" ? { text: value, source: undefined } : value;
    const language = LANGUAGES[index % LANGUAGES.length] ?? "en";
    const sentences = frames[language];
    const sentence = sentences[Math.floor(index / LANGUAGES.length) % sentences.length] ?? "{}";
    return { text: sentence.replace("{}", () => text), isPositive, language, source };
  });
}

/** Returns the cases of complete texts of a language. */
export function texts(
  language: Language,
  isPositive: boolean,
  list: readonly string[],
  source?: string,
): readonly LabelledCase[] {
  return list.map((text) => ({ text, isPositive, language, source }));
}

/** Returns whether a case is in the held-out half. Authors of patterns must not read this half. */
export function isHeldOut({ text }: LabelledCase): boolean {
  return ((createHash("sha256").update(text).digest()[0] ?? 0) & 1) === 1;
}

/** A generator of random numbers that are equal in every run. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns an integer from 0 to `limit - 1`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  /** Returns a text of this length. */
  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join("");
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T; // the list is not empty
  }
}
