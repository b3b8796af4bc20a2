/** Turns texts into vectors whose nearness stands for nearness of meaning. Vector memories ask it; vendor providers and offline models implement it. */
export interface EmbeddingModel {
  /** One vector for each text, in the order of the texts, all of the same length; no text, no vector. Rejects with `ModelCallError` where a service fails. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}
