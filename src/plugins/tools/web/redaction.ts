/** Shorter values are no secrets, and replacing them would garble every text. */
const SHORTEST_SECRET = 4;
const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;

/** The secrets among headers, judged by the headers' names. Of `Bearer abc` the second word alone counts too. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value.trim(), ...value.trim().split(/\s+/).slice(1)]);
}

/** A function that puts `[redacted]` in the place of these values, also where they are encoded as in URLs: some servers send back what they got. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const values = new Set(secrets.filter((secret) => secret.length >= SHORTEST_SECRET).flatMap((secret) => [secret, encodeURIComponent(secret)]));
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((result, secret) => result.replaceAll(secret, "[redacted]"), text);
}
