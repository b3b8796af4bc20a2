/** Shorter values are no secrets, and replacing them would garble every text. */
const SHORTEST_SECRET = 4;
const SECRET_NAME = /auth|key|token|secret|cookie|passw|credential/i;

/** The values of headers or variables whose names say that they are secrets. */
export function secretValues(fields: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    SECRET_NAME.test(name) ? [value.trim()] : [],
  );
}

/** The secrets among headers. Of `Bearer abc` the second word alone counts too. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly string[] {
  return secretValues(headers).flatMap((value) => [value, ...value.split(/\s+/).slice(1)]);
}

/** A function that puts `[redacted]` in the place of these values, also where they are encoded as in URLs: some servers and programs give back what they got. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const values = new Set(
    secrets
      .filter((secret) => secret.length >= SHORTEST_SECRET)
      .flatMap((secret) => [secret, encodeURIComponent(secret)]),
  );
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return (text) =>
    longestFirst.reduce((result, secret) => result.replaceAll(secret, "[redacted]"), text);
}
