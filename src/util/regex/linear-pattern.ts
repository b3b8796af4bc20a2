import type { RE2JS } from "re2js";
import { messageOf } from "../errors.js";

const LONGEST_PATTERN = 10_000;
/**
 * Limit of characters times pattern size. The worst case takes a second, a usual case milliseconds.
 */
const MOST_STEPS = 10_000_000;

/** A regular expression, or the reason why it can't be used. */
export type CompiledPattern =
  | { readonly ok: true; readonly pattern: LinearPattern }
  | { readonly ok: false; readonly problem: string };

/**
 * Constructs of JavaScript without a linear-time match, by their first characters outside of
 * character classes.
 */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/\(\?[=!]/, "looks ahead"],
  [/\(\?<[=!]/, "looks behind"],
  [/\\(?:[1-9]|k<)/, "refers back to a group"],
];
/** A character class, or an escape that refers to no group. `(?<name>` is kept. */
const CLASS_OR_ESCAPE = /\[(?:\\[^]|[^\]\\])*\]|\\[^1-9k]/g;

/**
 * Returns why a JavaScript regular expression can't be matched in linear time, as far as its text
 * shows. Returns `undefined` if nothing prevents it.
 */
export function problemOfPattern(source: string, flags = "u"): string | undefined {
  if (source.length > LONGEST_PATTERN) return `it is longer than ${LONGEST_PATTERN} characters`;
  try {
    new RegExp(source, flags);
  } catch (error) {
    return messageOf(error);
  }
  const bare = source.replace(CLASS_OR_ESCAPE, "x");
  const found = UNSUPPORTED.find(([construct]) => construct.test(bare));
  return found === undefined
    ? undefined
    : `it ${found[1]}, which takes time without a bound for some texts`;
}

/** A regular expression that matches in time linear in the text. */
export class LinearPattern {
  readonly #regex: RE2JS;

  private constructor(regex: RE2JS) {
    this.#regex = regex;
  }

  /** Compiles a JavaScript regular expression. Loads the engine at the first call. */
  static async compile(source: string, flags = "u"): Promise<CompiledPattern> {
    const problem = problemOfPattern(source, flags);
    if (problem !== undefined) return { ok: false, problem };
    const { RE2JS } = await import("re2js");
    const options =
      (flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0) |
      (flags.includes("m") ? RE2JS.MULTILINE : 0) |
      (flags.includes("s") ? RE2JS.DOTALL : 0);
    try {
      const regex = RE2JS.compile(RE2JS.translateRegExp(source), options);
      return { ok: true, pattern: new LinearPattern(regex) };
    } catch (error) {
      return { ok: false, problem: messageOf(error) };
    }
  }

  /** The greatest text length that `test` accepts. */
  get longestText(): number {
    return Math.floor(MOST_STEPS / this.size);
  }

  /** Steps for each character of a text. */
  get size(): number {
    return Math.max(this.#regex.programSize(), 1);
  }

  /**
   * Returns whether any part of the text matches.
   * @throws RangeError for a text longer than `longestText`
   */
  test(text: string): boolean {
    if (text.length > this.longestText)
      throw new RangeError(
        `the text has ${text.length} characters, and at most ${this.longestText} are matched against this pattern`,
      );
    return this.#regex.test(text);
  }
}
