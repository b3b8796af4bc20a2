/** The verdict of a moderation model about one text. */
export interface ModerationResult {
  /** The categories that the vendor flags, by its names. */
  readonly flagged: readonly string[];
  /** Scores from 0 to 1, by the vendor's names of the categories. */
  readonly scores: Readonly<Record<string, number>>;
}

/** A vendor's model that judges whether texts are harmful. */
export interface ModerationModel {
  /**
   * Returns one result for each text, in their order.
   * @throws ModelCallError; the signal's reason.
   */
  moderate(
    texts: readonly string[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ModerationResult[]>;
}
