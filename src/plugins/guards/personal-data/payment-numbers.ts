/** The first digits of each card issuer, and the numbers of digits of its cards. */
const ISSUERS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [13, 16, 19]], // Visa
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]], // Mastercard
  [/^3[47]/, [15]], // American Express
  [/^(?:6011|64[4-9]|65)/, [16, 19]], // Discover
  [/^(?:30[0-5]|3095|36|3[89])/, [14, 16]], // Diners Club
  [/^35(?:2[89]|[3-8])/, [16, 19]], // JCB
  [/^(?:5018|5020|5038|5[678]|6304|6759|676[123])/, [13, 14, 15, 16, 17, 18, 19]], // Maestro
  [/^62/, [16, 17, 18, 19]], // UnionPay
];
/** The possible groups of the digits of a card. */
const GROUPS =
  /^(?:\d+|\d{4}(?:([ -])\d{4})(?:\1\d{4}){1,3}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5})$/;

/** Returns whether the digits end with their Luhn check digit. */
function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Returns whether a text of digits, spaces and hyphens is the number of a payment card. */
export function isCardNumber(value: string): boolean {
  const digits = value.replace(/[ -]/g, "");
  return (
    GROUPS.test(value) &&
    !/^(\d)\1+$/.test(digits) &&
    ISSUERS.some(([first, lengths]) => lengths.includes(digits.length) && first.test(digits)) &&
    hasLuhnDigit(digits)
  );
}

/** Lengths of the IBANs of each country, from the IBAN registry of SWIFT. */
const IBAN_LENGTHS = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 " +
    "GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 " +
    "MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 " +
    "TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
);

/**
 * Returns the length of the IBAN at the start of a text, with its separators. Returns `undefined`
 * if there is none with valid check digits.
 */
export function ibanEnd(text: string): number | undefined {
  const wanted = IBAN_LENGTHS.get(text.slice(0, 2));
  if (wanted === undefined) return undefined;
  let compact = "";
  let end = 0;
  while (end < text.length && compact.length < wanted) {
    const character = text[end++] ?? "";
    if (character !== " " && character !== "-") compact += character;
  }
  if (compact.length !== wanted) return undefined;
  let rest = 0;
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1 ? end : undefined;
}
