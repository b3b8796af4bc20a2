import { ValidationError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { LinearPattern } from "../../util/regex/linear-pattern.js";

/** A regular expression that is matched in linear time for every text. */
export interface LinearRegex {
  /**
   * Returns whether a part of the text matches.
   *
   * @throws ValidationError for a text that is too long for the pattern. A guardrail that throws
   * this error refuses the text.
   */
  test(text: string): boolean;
}

const FLAGS = /^[dgimsu]*$/;

/**
 * Compiles a regular expression for guardrails and other checks of untrusted text. The time of a
 * match is linear in the length of the text. The dialect is that of JavaScript without lookaround
 * and back references. `\s`, `\w`, `\d` and `\b` match ASCII only. The flags `i`, `m`, `s` and `u`
 * are kept.
 * @throws ValidationError for an invalid pattern and for a pattern that cannot be matched in linear
 * time.
 *
 * @example
 * const cardNumber = await linearRegex(/\b\d{4}([ -]?\d{4}){3}\b/);
 * const noCards: OutputGuardrail = ({ raw }) =>
 *   cardNumber.test(raw) ? GuardrailResult.failure("a card number") : true;
 */
export async function linearRegex(pattern: RegExp | string): Promise<LinearRegex> {
  const { source, flags } =
    pattern instanceof RegExp ? pattern : { source: pattern as unknown, flags: "u" };
  if (typeof source !== "string" || source === "")
    throw new ValidationError(
      `linearRegex() needs a regular expression or its text, got: ${preview(pattern)}`,
    );
  if (!FLAGS.test(flags))
    throw new ValidationError(
      `linearRegex() takes the flags i, m, s and u, got: '${flags}' of ${preview(source)}`,
    );
  const compiled = await LinearPattern.compile(source, flags);
  if (!compiled.ok)
    throw new ValidationError(`linearRegex() can't match ${preview(source)}: ${compiled.problem}`, {
      hint: "Split the check into several patterns, or compare texts by code.",
    });
  const regex = compiled.pattern;
  return Object.freeze({
    test: (text: string): boolean => {
      if (text.length > regex.longestText)
        throw new ValidationError(
          `The text has ${text.length} characters; the pattern ${preview(source)} is matched against at most ${regex.longestText}`,
          { hint: "Check the parts of the text one by one, or use a shorter pattern." },
        );
      return regex.test(text);
    },
  });
}
