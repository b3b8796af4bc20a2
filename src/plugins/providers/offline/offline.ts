import type { ChatModel } from "../../../contracts/chat-model.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";
import { ExtractiveModel } from "./extractive-model.js";
import { LanguageTools } from "./language-tools.js";

/** Options of the offline model. */
export interface OfflineOptions {
  /** How many sentences it quotes. Default: a tenth of the source's, at least 3 and at most 12. */
  readonly sentences?: number | undefined;
}

/**
 * A chat model that needs no network and no key: it quotes the most telling sentences of the text it is given, word for word, and can do nothing else.
 * For demos and tests of whole ensembles; English text works best.
 *
 * It reads only what the prompt delimits (the outputs of previous tasks; else text between `---` lines or in fences), never the instructions.
 * Plain requests get a bullet per sentence with the heading or file it stands under; with `responseFormat` the sentences fill the schema.
 * A sentence that runs over the end of a line is quoted in part or passed over, so that every quote stands in the source as it is.
 * It never calls tools, and sampling settings and output limits have no effect. The tokens it reports are estimates.
 *
 * Needs the packages wink-nlp and wink-eng-lite-web-model, which are loaded by the first call; without them that call rejects with ModelCallError.
 * @throws ValidationError for an unknown model or option.
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
