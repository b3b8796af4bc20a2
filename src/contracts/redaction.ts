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
