import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** @throws ValidationError unless `model` can embed. */
export function checkEmbeddingModel(model: unknown): asserts model is EmbeddingModel {
  if (model === undefined || model === null)
    throw new ValidationError("embeddingModel must not be null");
  const { embed } = model as { readonly embed?: unknown }; // any value but those two may be asked for a field
  if (typeof embed !== "function")
    throw new ValidationError(`embeddingModel must have a method embed, got: ${preview(model)}`, {
      hint: "Use hashedBagOfWords(), universalSentenceEncoder() or openaiEmbeddings(modelId).",
    });
}

/** The least cosine of what is given back. @throws ValidationError unless it is absent or lies between -1 and 1. */
export function checkMinScore(minScore: unknown): number {
  if (minScore === undefined) return -Infinity; // rounding makes cosines a little below -1
  if (typeof minScore !== "number" || !(minScore >= -1 && minScore <= 1)) {
    throw new ValidationError(`minScore must be between -1 and 1, got: ${preview(minScore)}`);
  }
  return minScore;
}
