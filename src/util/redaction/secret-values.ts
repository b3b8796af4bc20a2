import { REDACTED } from "../json/to-json-value.js";

/** Shorter values are no secrets, and replacing them would garble every text. */
const SHORTEST = 4;
const SECRET_NAME = /auth|key|token|secret|cookie|passw|credential|session/i;

/** Whether a header, a parameter or a variable of a program has the name of a secret. A broad guess, for places that hold few other values. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The values, without white space around them, of fields with the name of a secret. */
export function secretValues(fields: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isSecretName(name) ? [value.trim()] : [],
  );
}

/** A value of a header, and its words behind the first: of `Bearer abc` the second word alone is a secret too. */
export function secretWords(value: string): readonly string[] {
  const text = value.trim();
  return [text, ...text.split(/\s+/).slice(1)];
}

/** A secret as it may be written: as it is, in an address, in JSON. */
function spellings(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret.replace(/[\ud800-\udfff]/gu, "?")),
    JSON.stringify(secret).slice(1, -1),
  ];
}

/** A function that replaces these values in a text, however they are spelled. Values of fewer than `shortest` characters stay. */
export function secretReplacer(
  secrets: Iterable<string>,
  shortest: number = SHORTEST,
): (text: string) => string {
  const spelled = new Set(
    [...secrets].filter((secret) => secret.length >= shortest).flatMap(spellings),
  );
  const longestFirst = [...spelled].sort((a, b) => b.length - a.length); // one may be a part of another
  return (text) => {
    let result = text;
    for (const secret of longestFirst)
      if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
    return result;
  };
}
