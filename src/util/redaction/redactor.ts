import { toJsonValue } from "../json/to-json-value.js";
import { secretReplacer } from "./secret-values.js";
import { isSecretField, isSecretVariable, redactShapes } from "./secret-shapes.js";

/**
 * Removes secrets from data that leave the process: traces, recordings, logs. Neither method
 * throws.
 */
export interface Redactor {
  /**
   * Returns the text with `[redacted]` in place of every secret. Finds known secrets and texts that
   * look like secrets.
   */
  redactText(text: string): string;
  /**
   * Returns a copy of a value as JSON, with all texts redacted. `docs/traces.md` describes the
   * copies of values without JSON. Omits the values of fields named like secrets (`password`,
   * `apiKey`, `authorization`, `token`, `cookie`, `secret`, ...).
   */
  redactValue(value: unknown): unknown;
}

/**
 * Removes your secrets from a text. Contributed to `Tokens.SecretFilter`. Must be quick: it
 * receives every text. If it throws, the whole text is withheld.
 */
export type SecretFilter = (text: string) => string;

/** Shorter values are not replaced: that would garble every text. */
const SHORTEST_SECRET = 8;

/** Sources of secrets, in addition to the shapes and names of secrets. */
export interface SecretSources {
  /** Variables to search for names of secrets. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Filters of models, tools and plugins. A function, since models are added during a run. */
  readonly filters?: (() => Iterable<SecretFilter>) | undefined;
}

/** Reads the values of secrets only: each read of a variable of the process asks the system. */
function secretsIn(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = Object.keys(environment).filter(isSecretVariable);
  return names.map((name) => environment[name]?.trim() ?? "");
}

/**
 * Creates a redactor. It knows the values of environment variables named like secrets (8 characters
 * and more), the secrets of the filters, the shapes of common keys, and the names of fields that
 * contain secrets.
 */
export function createRedactor(sources: SecretSources = {}): Redactor {
  const withoutSecrets = secretReplacer(
    secretsIn(sources.environment ?? process.env),
    SHORTEST_SECRET,
  );
  const redactText = (text: string): string => {
    let result = withoutSecrets(text);
    try {
      for (const filter of sources.filters?.() ?? []) result = filter(result);
    } catch {
      return "[redacted: a secret filter failed]"; // a failed filter must not leak the text
    }
    return typeof result === "string"
      ? redactShapes(result)
      : "[redacted: a secret filter returned no text]";
  };
  return Object.freeze({
    redactText,
    redactValue: (value: unknown): unknown =>
      toJsonValue(value, { text: redactText, hides: isSecretField }),
  });
}
