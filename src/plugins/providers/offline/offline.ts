import type { ChatModel } from "../../../contracts/chat-model.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";
import { ExtractiveModel } from "./extractive-model.js";
import { LanguageTools } from "./language-tools.js";

/** Options of the offline model. */
export interface OfflineOptions {
  /** Number of quoted sentences. Default: a tenth of the number in the source, from 3 to 12. */
  readonly sentences?: number | undefined;
}

/**
 * Creates a chat model that needs no network and no key. It quotes the most relevant sentences of
 * the text in the prompt, word for word, and has no other ability. Intended for demos and tests of
 * whole ensembles. Works best with English text.
 *
 * It reads only delimited parts of the prompt, never the instructions. These are the outputs of
 * previous tasks. If there are none, it reads text between `---` lines or in fences. Plain requests
 * return one bullet per sentence with its heading or file. With `responseFormat` the sentences fill
 * the schema. A sentence that crosses a line end is quoted partly or skipped. Every quote therefore
 * occurs unchanged in the source. The model never calls tools and ignores sampling settings and
 * output limits. The reported token counts are estimates.
 *
 * Requires the packages wink-nlp and wink-eng-lite-web-model, which the first call loads. Without
 * them that call rejects with ModelCallError.
 * @throws ValidationError for an unknown model or option
 */
export function offline(modelId = "extractive", options: OfflineOptions = {}): ChatModel {
  if (modelId !== "extractive")
    throw new ValidationError(
      `The offline provider has one model, 'extractive', got: ${preview(modelId)}`,
    );
  checkOptions("offline model", options, ["sentences"]);
  requireInteger("offline model sentences", options.sentences, 1);
  return new ExtractiveModel(new LanguageTools(), options.sentences);
}
