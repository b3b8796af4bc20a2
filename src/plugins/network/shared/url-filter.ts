import type { SecretFilter } from "../../../contracts/redaction.js";
import { secretReplacer } from "../../../util/redaction/secret-values.js";

/** Shorter passwords are not replaced: those of examples, such as `postgres`, are ordinary words. */
const SHORTEST = 12;

/** Removes the passwords in these addresses from texts, and users without a password, which are tokens. */
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
    return text; // a percent sign that encodes nothing
  }
}
