/** What a format saved in one run. Tokens are estimates. */
export interface ContextFormatSavings {
  readonly name: string;
  /** Structured values that went into prompts. */
  readonly payloads: number;
  /** Those among them that were written in the format, because that was shorter. */
  readonly converted: number;
  /** What all of them would have taken as they were, and what they took. */
  readonly originalTokens: number;
  readonly sentTokens: number;
}

/** Writes structured data into the prompts of one run. */
export interface ContextFormatter {
  /** The text for the model: `value` in the format where that takes fewer tokens than `text`, which stands for it otherwise. */
  format(value: unknown, text: string): string;
  readonly savings: ContextFormatSavings;
}

/** A format for structured data in prompts: a contribution to `Tokens.ContextFormat`, chosen by its name. */
export interface ContextFormatDefinition {
  readonly name: string;
  /** Makes what a run formats with, before anything is spent. Rejects with `ValidationError` where a package is missing. */
  start(): Promise<ContextFormatter>;
}
