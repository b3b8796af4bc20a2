/** Savings of a format in one run. Tokens are estimates. */
export interface ContextFormatSavings {
  readonly name: string;
  /** Number of structured values in prompts. */
  readonly payloads: number;
  /** Number of these values that were written in the format because the format was shorter. */
  readonly converted: number;
  /** Estimated tokens of all values, without the format and with the format. */
  readonly originalTokens: number;
  readonly sentTokens: number;
}

/** Formats structured data for the prompts of one run. */
export interface ContextFormatter {
  /** Returns `value` in the format if the result has fewer tokens than `text`, else `text`. */
  format(value: unknown, text: string): string;
  readonly savings: ContextFormatSavings;
}

/**
 * A format for structured data in prompts: a contribution to `Tokens.ContextFormat`, chosen by its
 * name.
 */
export interface ContextFormatDefinition {
  readonly name: string;
  /**
   * Creates the formatter of a run, before any spending. Rejects with `ValidationError` if a
   * required package is missing.
   */
  start(): Promise<ContextFormatter>;
}
