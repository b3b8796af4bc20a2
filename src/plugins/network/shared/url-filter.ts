import type { SecretFilter } from "../../../contracts/redaction.js";
import { secretReplacer } from "../../../util/redaction/secret-values.js";

/**
 * Minimum length of a replaced password. Passwords of examples, such as `postgres`, are ordinary
 * words.
 */
const SHORTEST = 12;

/**
 * Returns a filter that removes the passwords in these addresses from texts. Users without a
 * password are tokens and are also removed.
 */
export function urlFilter(urls: readonly string[]): SecretFilter {
  const secrets = urls
    .filter((url) => URL.canParse(url))
    .flatMap((url) => credentialsIn(new URL(url)));
  return secretReplacer(secrets, SHORTEST);
}

function credentialsIn({ username, password }: URL): readonly string[] {
  const secret = password === "" ? username : password;
  return [secret, decodedText(secret)];
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the text contains an invalid percent sign
  }
}
