import type * as Numbers from "./numbers-vendor.js";

/** The form and the validation of an identity number. */
export interface IdentityRule {
  /** ISO code of the country. */
  readonly country: string;
  /** The shape of the number, with the flag `g`. */
  readonly shape: RegExp;
  /** The minimum number of digits. */
  readonly fewestDigits: number;
  /** Checks dates and check digits. */
  readonly isValid: (value: string) => boolean;
  /**
   * Words near the number. At least one is required, because other numbers have the same shape.
   * `undefined` if the shape is sufficient.
   */
  readonly near: RegExp | undefined;
}

type ValidatorName = Exclude<keyof typeof Numbers, "parsePhoneNumber">;

/** Country, shape, validator, and the words near the number. */
const RULES: readonly (readonly [string, string, ValidatorName, RegExp?])[] = [
  [
    "AT",
    String.raw`\d{4} ?\d{6}`,
    "atVnr",
    /sozialversicherung|\bSVNR\b|SV-?(?:Nummer|Nr)|versicherungsnummer|insurance|assurance/i,
  ],
  ["AU", String.raw`\d{3} ?\d{3} ?\d{2,3}`, "auTfn", /\bTFN\b|tax file/i],
  ["BE", String.raw`\d{2}\.?\d{2}\.?\d{2}-\d{3}\.?\d{2}`, "beNn"],
  [
    "BE",
    String.raw`\d{11}`,
    "beNn",
    /rijksregister|registre national|national (?:register|number)|nationalregister|num[ée]ro national|\bNISS\b|\bINSZ\b/i,
  ],
  ["BR", String.raw`\d{3}\.\d{3}\.\d{3}-\d{2}`, "brCpf"],
  ["BR", String.raw`\d{11}`, "brCpf", /\bCPF\b/],
  [
    "CA",
    String.raw`\d{3}[ -]?\d{3}[ -]?\d{3}`,
    "caSin",
    /\bSIN\b|\bNAS\b|social insurance|assurance sociale|sozialversicherung/i,
  ],
  ["CH", String.raw`756\.?\d{4}\.?\d{4}\.?\d{2}`, "chSsn"],
  ["CL", String.raw`\d{1,2}\.?\d{3}\.?\d{3}-[\dkK]`, "clRut", /\bRU[TN]\b/],
  ["CN", String.raw`\d{17}[\dX]`, "cnRic"],
  [
    "DE",
    String.raw`\d{2} ?\d{3} ?\d{3} ?\d{3}`,
    "deIdnr",
    /steuer-?(?:id|nummer|identifikation)|\bidnr\b|identifikationsnummer|tax (?:id|number)|identification fiscale|num[ée]ro fiscal|\bTIN\b/i,
  ],
  ["DE", String.raw`\d{2} ?\d{6} ?[A-Z] ?\d{3}`, "deSvnr"],
  ["ES", String.raw`\d{8}-?[A-Z]`, "esDni"],
  ["ES", String.raw`[XYZ]-?\d{7}-?[A-Z]`, "esNie"],
  ["FI", String.raw`\d{6}[-+A]\d{3}[\dA-Y]`, "fiHetu"],
  [
    "FR",
    String.raw`[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}`,
    "frNir",
  ],
  ["GB", String.raw`[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]`, "gbNino"],
  ["IN", String.raw`\d{4} ?\d{4} ?\d{4}`, "inAadhaar", /aadhaar|\bUID(?:AI)?\b/i],
  ["IN", String.raw`[A-Z]{5}\d{4}[A-Z]`, "inPan", /\bPAN\b|permanent account/i],
  [
    "IT",
    String.raw`[A-Z]{6}[\dLMNP-V]{2}[A-Z][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z]`,
    "itCodicefiscale",
  ],
  ["MX", String.raw`[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d`, "mxCurp"],
  ["NL", String.raw`\d{4}\.?\d{2}\.?\d{3}`, "nlBsn", /\bBSN\b|burgerservice|sofinummer/i],
  [
    "NO",
    String.raw`\d{6} ?\d{5}`,
    "noFodselsnummer",
    /f[øo]dselsnummer|personnummer|national identity|\bfnr\b|geburtsnummer|identit[ée]/i,
  ],
  ["PL", String.raw`\d{11}`, "plPesel", /pesel/i],
  ["PT", String.raw`\d{8} ?\d ?[A-Z\d]{2}\d`, "ptCc"],
  ["PT", String.raw`(?:PT ?)?\d{3} ?\d{3} ?\d{3}`, "ptNif", /\bNIF\b|contribuinte/i],
  ["SE", String.raw`\d{6}[-+]\d{4}|(?:19|20)\d{6}-?\d{4}`, "sePersonnummer"],
  ["US", String.raw`\d{3}-\d{2}-\d{4}`, "usSsn"],
  [
    "US",
    String.raw`\d{9}|\d{3} \d{2} \d{4}`,
    "usSsn",
    /\bSSN\b|social[- ]security|sozialversicherung|s[ée]curit[ée] sociale/i,
  ],
  [
    "ZA",
    String.raw`\d{13}`,
    "zaIdnr",
    /south african|\bID (?:number|no)|identity|\bRSA\b|ausweis|identit[ée]/i,
  ],
];

/** Returns the rules of the identity numbers of persons. */
export function identityRules(numbers: typeof Numbers): readonly IdentityRule[] {
  return RULES.map(([country, source, name, near]) => ({
    country,
    // Not inside a longer word or number.
    shape: new RegExp(`(?<![\\w.]|\\d[-/ ])(?:${source})(?![\\w]|[-./ ]\\d)`, "g"),
    isValid: (value) => numbers[name].validate(value.replace(/\u00a0/g, " ")).isValid === true,
    near,
    fewestDigits: digitsOf(source),
  }));
}

/** Returns a lower bound of the number of digits of a shape, from its first alternative. */
function digitsOf(source: string): number {
  const [first = ""] = source.split("|");
  let digits = 0;
  for (const [, count = "1"] of first.matchAll(/\\d(?:\{(\d+))?/g)) digits += Number(count);
  return digits;
}
