import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/**
 * Checks texts to embed.
 * @throws ValidationError that names the first of `texts` that is not a text
 */
export function checkEmbeddableTexts(texts: unknown): void {
  if (!Array.isArray(texts))
    throw new ValidationError(`embed() texts must be an array, got: ${preview(texts)}`);
  for (const [index, text] of texts.entries()) {
    if (typeof text !== "string")
      throw new ValidationError(`embed() texts[${index}] must be a string, got: ${preview(text)}`);
  }
}
