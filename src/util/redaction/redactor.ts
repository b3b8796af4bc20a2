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
 * Removes your secrets from a text. Contributed to `Tokens.SecretFilter`. Must be fast, because it
 * receives every text. If it throws, the whole text is omitted.
 */
export type SecretFilter = (text: string) => string;

/** Shorter values are not replaced: this would make every text unreadable. */
const SHORTEST_SECRET = 8;

/** Sources of secrets, in addition to the shapes and names of secrets. */
export interface SecretSources {
  /** Variables to search for names of secrets. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Filters of models, tools and plugins. A function, because models are added during a run. */
  readonly filters?: (() => Iterable<SecretFilter>) | undefined;
}

/** Reads the values of secrets only: each read of a process variable is a system call. */
function secretsIn(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const names = Object.keys(environment).filter(isSecretVariable);
  return names.map((name) => environment[name]?.trim() ?? "");
}

/**
 * Creates a redactor. It redacts the values of environment variables named like secrets, if they
 * have 8 or more characters. It also redacts the secrets of the filters, texts with the shape of
 * common keys, and fields named like secrets.
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
      return "[redacted: a secret filter failed]"; // the text may contain a secret
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
