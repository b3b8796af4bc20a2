import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** Checks a model. @throws ValidationError unless `model` has an `embed` method. */
export function checkEmbeddingModel(model: unknown): asserts model is EmbeddingModel {
  if (model === undefined || model === null)
    throw new ValidationError("embeddingModel must not be null");
  // Any value except null and undefined allows property access.
  const { embed } = model as { readonly embed?: unknown };
  if (typeof embed !== "function")
    throw new ValidationError(`embeddingModel must have a method embed, got: ${preview(model)}`, {
      hint: "Use hashedBagOfWords(), universalSentenceEncoder() or openaiEmbeddings(modelId).",
    });
}

/**
 * Returns the minimum cosine of results.
 *
 * @throws ValidationError unless the value is absent or between -1 and 1.
 */
export function checkMinScore(minScore: unknown): number {
  if (minScore === undefined) return -Infinity; // rounding can make a cosine slightly less than -1
  if (typeof minScore !== "number" || !(minScore >= -1 && minScore <= 1)) {
    throw new ValidationError(`minScore must be between -1 and 1, got: ${preview(minScore)}`);
  }
  return minScore;
}
