/** The verdict of a moderation model on one text. */
export interface ModerationResult {
  /** The categories that the vendor flagged, by the vendor's names. */
  readonly flagged: readonly string[];
  /** Scores from 0 to 1, by the vendor's names of categories. */
  readonly scores: Readonly<Record<string, number>>;
}

/** A vendor's model that judges whether texts are harmful. */
export interface ModerationModel {
  /**
   * Returns one result for each text, in the order of the texts.
   * @throws ModelCallError; the signal's reason.
   */
  moderate(
    texts: readonly string[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ModerationResult[]>;
}
