import type { Redactor, SecretFilter } from "../contracts/redaction.js";
import type { EnsembleEvent } from "../contracts/events.js";
import { REDACTED, toJsonValue } from "./json-value.js";
import { isSecretField, isSecretVariable, redactShapes } from "./secret-shapes.js";

/** Shorter values are replaced nowhere: it would garble every text. */
const SHORTEST_SECRET = 8;

/** What a redactor knows besides the shapes and names of secrets. */
export interface SecretSources {
  /** Where secrets are looked for by name. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of models, tools and plugins; a function, since models come up while a run goes on. */
  readonly filters?: (() => Iterable<SecretFilter>) | undefined;
}

/** A secret as it may be written: as it is, in an address, in JSON. */
function spellings(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret.replace(/[\ud800-\udfff]/gu, "?")),
    JSON.stringify(secret).slice(1, -1),
  ];
}

function secretsIn(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(environment).flatMap(([name, value]) => {
    const secret = value?.trim() ?? "";
    return secret.length >= SHORTEST_SECRET && isSecretVariable(name) ? spellings(secret) : [];
  });
  return [...new Set(values)].sort((a, b) => b.length - a.length); // the longest first: one may be a part of another
}

/**
 * Makes a redactor: it knows the values of environment variables that are named like secrets (8 characters and more), what the filters know, the shapes
 * of common keys, and the names of fields that hold secrets.
 */
export function createRedactor(sources: SecretSources = {}): Redactor {
  const secrets = secretsIn(sources.environment ?? process.env);
  const redactText = (text: string): string => {
    let result = text;
    for (const secret of secrets)
      if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
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

/** An event with its texts redacted, for observers that show it elsewhere. Live objects in it (`taskOutput`, `cause`, ...) stay as they are. */
export function redactEvent(event: EnsembleEvent, redactor: Redactor): EnsembleEvent {
  const texts = Object.entries(event).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, redactor.redactText(value)]] : [],
  );
  return { ...event, ...Object.fromEntries(texts) } as EnsembleEvent; // with the same fields, texts for texts
}
