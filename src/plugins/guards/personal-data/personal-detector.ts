import type { CountryCode } from "libphonenumber-js";
import type * as Numbers from "./numbers-vendor.js";
import type { Detector, Finding } from "../shared/findings.js";
import type { PersonalDataKind } from "./personal-data-options.js";
import { lastEndOf } from "../shared/stream-filter.js";
import { ibanEnd, isCardNumber } from "./payment-numbers.js";
import { identityRules, type IdentityRule } from "./identity-rules.js";

/** Limits of the detector. */
export interface DetectorSettings {
  readonly kinds: ReadonlySet<PersonalDataKind>;
  /** Countries of identity numbers. `undefined` means all known countries. */
  readonly countries: readonly string[] | undefined;
  /** Countries whose phone numbers are found without a country code. */
  readonly phoneRegions: readonly string[];
}

/**
 * A sequence of digits, capitals and separators. Only such parts of a text are searched for
 * numbers.
 */
const RUN = /[A-Z0-9+(][A-Z0-9 \u00a0.()/+-]{5,}[A-Za-z0-9]/g;
/** Minimum number of digits of a number, except for the shape of {@link SHORT_ID}. */
const FEWEST_DIGITS = 6;
const SHORT_ID = /[A-Z]{5}\d{4}[A-Z]/;
const LOCAL_PART = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}$/u;
const DOMAIN =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/u;

const CARD = /(?<![\w.+]|\d[-/])\d(?:[ -]?\d){12,18}(?![\w]|[-./]\d)/g;
const IBAN = /(?<![\w])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![a-z\d])/g;
const INTERNATIONAL = /(?<![\w])(?:\+|00 ?)[1-9](?:[ ().\/-]{0,2}\d){6,14}(?!\d)/g;
const NATIONAL = /(?<![\w.,+:/-])\(?\d(?:[ ().\/-]{0,2}\d){6,12}(?![\w]|[-.,:/]\d)/g;
const NORTH_AMERICAN = /^\(?[2-9]\d{2}(?:\) ?|[.-])[2-9]\d{2}[ .-]\d{4}$/;
const PHONE_WORD =
  /tel|phone|\bfon\b|fax|mobil|handy|\bcell|\bcall|\bring\b|rufnummer|nummer lautet|appel|whatsapp|\bSMS\b|joign|erreich|reach|portable/i;
const MOST_PHONES = 1_000;
/** Maximum distance of a number from its word. */
const BEFORE = 60;
/**
 * Number of characters of shown text that the detector reads. It covers a word and the number after
 * it.
 */
export const WORD_BEFORE = 2 * BEFORE;
const AFTER = 25;

/** Finds personal data in texts. */
export class PersonalDetector {
  readonly #rules: readonly IdentityRule[];
  readonly #phonesSeen = new Map<string, boolean>();

  constructor(
    readonly numbers: typeof Numbers,
    readonly settings: DetectorSettings,
  ) {
    const { countries, kinds } = settings;
    this.#rules = kinds.has("identity")
      ? identityRules(numbers).filter(
          ({ country }) => countries === undefined || countries.includes(country),
        )
      : [];
  }

  readonly detect: Detector = (text) => {
    const findings: Finding[] = [];
    if (this.settings.kinds.has("email")) findEmails(text, findings);
    for (const [start, end] of numberRuns(text)) this.#inRun(text, start, end, findings);
    return findings;
  };

  #inRun(text: string, from: number, to: number, findings: Finding[]): void {
    const { kinds } = this.settings;
    const part = text.slice(from, to);
    const add = (kind: string, start: number, length: number): void =>
      void findings.push({ kind, start: from + start, end: from + start + length });
    if (kinds.has("iban"))
      for (const { 0: value, index } of part.matchAll(IBAN)) {
        const length = ibanEnd(value);
        if (length !== undefined) add("iban", index, length);
      }
    if (kinds.has("card"))
      for (const { 0: value, index } of part.matchAll(CARD))
        if (isCardNumber(value)) add("card", index, value.length);
    const digits = digitCount(part);
    for (const { shape, isValid, near, fewestDigits } of this.#rules)
      if (digits >= fewestDigits)
        for (const { 0: value, index } of part.matchAll(shape))
          if (isNear(near, text, from + index, value.length) && isValid(value))
            add("identity", index, value.length);
    if (kinds.has("phone"))
      for (const [index, length] of this.#phones(text, from, part)) add("phone", index, length);
  }

  /**
   * Returns whether the value is a phone number. Calls the library once for each number, because
   * conversations repeat numbers.
   */
  #isPhone(value: string, region = ""): boolean {
    const key = `${region} ${value}`;
    let known = this.#phonesSeen.get(key);
    if (known === undefined) {
      if (this.#phonesSeen.size >= MOST_PHONES) this.#phonesSeen.clear();
      const country = region === "" ? undefined : (region as CountryCode);
      known = this.numbers.parsePhoneNumber(value, country)?.isValid() === true;
      this.#phonesSeen.set(key, known);
    }
    return known;
  }

  *#phones(text: string, from: number, part: string): Generator<readonly [number, number]> {
    const isPhone = (value: string, region?: string): boolean => this.#isPhone(value, region);
    for (const { 0: value, index } of part.matchAll(INTERNATIONAL))
      if (isPhone(value.replace(/^00 ?/, "+"))) yield [index, value.length];
    if (this.settings.phoneRegions.length === 0) return;
    for (const { 0: value, index } of part.matchAll(NATIONAL)) {
      const looksLike =
        NORTH_AMERICAN.test(value) ||
        (/^\(?0/.test(value) && /[ ()/-]/.test(value)) ||
        isNear(PHONE_WORD, text, from + index, value.length);
      if (looksLike && this.settings.phoneRegions.some((region) => isPhone(value, region)))
        yield [index, value.length];
    }
  }
}

const SENTENCE_END = new RegExp(`(?:\\n|[^\\d\\s][.!?](?=\\s))(?=[^]{${AFTER}})`, "g");

/**
 * Returns the end of the last sentence after which no word of a number can follow. `asked` has the
 * meaning of `SegmentRules.holdFrom`.
 */
export function endOfSentences(text: string, asked: number): number {
  const from = Math.max(0, asked - AFTER - 2);
  for (let at = from; at < text.length - AFTER; at++) {
    // Most pieces of a stream contain no end of a sentence, so the expression is not needed.
    const code = text.charCodeAt(at);
    if (code === 10 || code === 33 || code === 46 || code === 63)
      return lastEndOf(SENTENCE_END, text, from);
  }
  return 0;
}

function isNear(word: RegExp | undefined, text: string, index: number, length: number): boolean {
  if (word === undefined) return true;
  const end = index + length;
  return (
    word.test(text.slice(Math.max(0, index - BEFORE), index)) ||
    word.test(text.slice(end, end + AFTER))
  );
}

/**
 * Returns the parts of a text that could contain a number, with two characters before and after
 * them.
 */
function* numberRuns(text: string): Generator<readonly [number, number]> {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const digits = digitCount(run);
    if (digits >= FEWEST_DIGITS || (digits >= 4 && SHORT_ID.test(run)))
      yield [Math.max(0, index - 2), Math.min(text.length, index + run.length + 2)];
  }
}

function digitCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) count++;
  }
  return count;
}

function findEmails(text: string, findings: Finding[]): void {
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const [local = ""] = LOCAL_PART.exec(text.slice(Math.max(0, at - 64), at)) ?? [];
    const [domain = ""] = DOMAIN.exec(text.slice(at + 1, at + 255)) ?? [];
    if (local !== "" && domain !== "" && !local.endsWith(".") && !/:\/\/[^\s]*$/.test(local))
      findings.push({ kind: "email", start: at - local.length, end: at + 1 + domain.length });
  }
}
