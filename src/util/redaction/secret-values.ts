import { REDACTED } from "../json/to-json-value.js";

/** Shorter values are not secrets. Their replacement would make every text unreadable. */
const SHORTEST = 4;
const SECRET_NAME = /auth|key|token|secret|cookie|passw|credential|session/i;

/**
 * Returns whether a header, a parameter or a variable has the name of a secret. The pattern is
 * broad, for places with few other values.
 */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Returns the trimmed values of fields with the name of a secret. */
export function secretValues(fields: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isSecretName(name) ? [value.trim()] : [],
  );
}

/**
 * Returns a header's value and each word after the first. In `Bearer abc`, `abc` alone is also a
 * secret.
 */
export function secretWords(value: string): readonly string[] {
  const text = value.trim();
  return [text, ...text.split(/\s+/).slice(1)];
}

/** Returns the spellings of a secret: plain, in a URL, in JSON. */
function spellings(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret.replace(/[\ud800-\udfff]/gu, "?")),
    JSON.stringify(secret).slice(1, -1),
  ];
}

/**
 * Returns a function that replaces these values in a text, in all spellings. Keeps values shorter
 * than `shortest` characters.
 */
export function secretReplacer(
  secrets: Iterable<string>,
  shortest: number = SHORTEST,
): (text: string) => string {
  const spelled = new Set(
    [...secrets].filter((secret) => secret.length >= shortest).flatMap(spellings),
  );
  const longestFirst = [...spelled].sort((a, b) => b.length - a.length); // one may contain another
  return (text) => {
    let result = text;
    for (const secret of longestFirst)
      if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
    return result;
  };
}
