import { toJsonValue } from "../json/to-json-value.js";
import { secretReplacer } from "./secret-values.js";
import { isSecretField, isSecretVariable, redactShapes } from "./secret-shapes.js";

/** Takes secrets out of what is about to leave the process: traces, recordings, logs. Neither method throws. */
export interface Redactor {
  /** The text with `[redacted]` in the place of every secret that is known or looks like one. */
  redactText(text: string): string;
  /**
   * A copy of a value as JSON can hold it (see `docs/traces.md` for what becomes of the rest), with all texts redacted; what stands in fields that are
   * named like secrets (`password`, `apiKey`, `authorization`, `token`, `cookie`, `secret`, ...) is left out whole.
   */
  redactValue(value: unknown): unknown;
}

/** Takes secrets of yours out of a text; contributed to `Tokens.SecretFilter`. Must be quick: it sees every text. Where it throws, the whole text is withheld. */
export type SecretFilter = (text: string) => string;

/** Shorter values are replaced nowhere: it would garble every text. */
const SHORTEST_SECRET = 8;

/** What a redactor knows besides the shapes and names of secrets. */
export interface SecretSources {
  /** Where secrets are looked for by name. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of models, tools and plugins; a function, since models come up while a run goes on. */
  readonly filters?: (() => Iterable<SecretFilter>) | undefined;
}

function secretsIn(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isSecretVariable(name) ? [value.trim()] : [],
  );
}

/**
 * Makes a redactor: it knows the values of environment variables that are named like secrets (8 characters and more), what the filters know, the shapes
 * of common keys, and the names of fields that hold secrets.
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
      return "[redacted: a secret filter failed]"; // a broken guard never opens the gate
    }
    return typeof result === "string"
      ? redactShapes(result)
      : "[redacted: a secret filter gave no text]";
  };
  return Object.freeze({
    redactText,
    redactValue: (value: unknown): unknown =>
      toJsonValue(value, { text: redactText, hides: isSecretField }),
  });
}
