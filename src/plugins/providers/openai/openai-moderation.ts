import type { ModerationModel, ModerationResult } from "../../../contracts/moderation.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { asFields, asList, type Fields } from "../../../util/objects.js";
import { createLine, HttpCall } from "../shared/http-call.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import {
  PROVIDER_OPTIONS,
  resolveProviderOptions,
  type ProviderOptions,
} from "../shared/provider-options.js";
import { OPENAI } from "./openai-vendor.js";

/** Options of {@link openaiModeration}. */
export interface OpenAIModerationOptions extends ProviderOptions {
  /** The name of the model. Default `omni-moderation-latest`. */
  readonly modelId?: string | undefined;
}

function readVerdicts(document: Fields, count: number): readonly ModerationResult[] {
  const results = asList(document["results"]).map((entry, index): ModerationResult => {
    const categories = asFields(asFields(entry)?.["categories"]);
    const scores = asFields(asFields(entry)?.["category_scores"]);
    if (categories === undefined || scores === undefined)
      throw new InvalidResponseError(`results[${index}] has no categories`, { shown: entry });
    return {
      flagged: Object.keys(categories).filter((name) => categories[name] === true),
      scores: Object.fromEntries(
        Object.entries(scores).flatMap(([name, score]) =>
          typeof score === "number" ? [[name, score] as const] : [],
        ),
      ),
    };
  });
  if (results.length !== count)
    throw new InvalidResponseError(`The answer has ${results.length} results for ${count} texts`);
  return results;
}

/**
 * Creates the moderation model of OpenAI, or of a server with a compatible API. Nothing is loaded
 * or connected before the first call. `moderate` rejects with ModelCallError if a request fails.
 * @throws ValidationError for invalid options
 */
export function openaiModeration(options: OpenAIModerationOptions = {}): ModerationModel {
  checkOptions("openaiModeration()", options, [...PROVIDER_OPTIONS, "modelId"]);
  const { modelId = "omni-moderation-latest", ...rest } = options;
  requireText(modelId, "openaiModeration() modelId must not be blank");
  const line = createLine(OPENAI, resolveProviderOptions("openaiModeration()", rest));
  return Object.freeze({
    async moderate(
      texts: readonly string[],
      { signal }: { readonly signal?: AbortSignal | undefined } = {},
    ): Promise<readonly ModerationResult[]> {
      const call = new HttpCall(line, { modelId, signal });
      try {
        const body = { model: modelId, input: texts };
        const response = await call.post(await call.connect(), "/moderations", body);
        return readVerdicts(await call.readDocument(response), texts.length);
      } catch (error) {
        throw await call.failure(error);
      } finally {
        await call.close({ isComplete: false });
      }
    },
  });
}
