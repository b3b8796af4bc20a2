/** Replaces known secrets in a text. */
export type Redactor = (text: string) => string;

/** Shorter values are no secrets, and replacing them would garble every message. */
const SHORTEST_SECRET = 4;
const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;

/** The secrets among custom headers, judged by the headers' names. Of `Bearer abc` the second word alone counts too. */
export function secretHeaderValues(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value.trim(), ...value.trim().split(/\s+/).slice(1)]);
}

/** A function that puts `[redacted]` in the place of each of these values. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const values = [...new Set(secrets)]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => values.reduce((result, secret) => result.replaceAll(secret, "[redacted]"), text);
}
