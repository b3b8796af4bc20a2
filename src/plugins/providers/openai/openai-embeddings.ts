import type { EmbeddingModel } from "../../../contracts/embedding.js";
import type { Fields } from "../../../util/objects.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireText } from "../../../contracts/validation.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import { createLine, HttpCall } from "../shared/http-call.js";

import { OPENAI } from "./openai-vendor.js";
import { resolveEmbeddingsOptions, type OpenAIEmbeddingsOptions } from "./openai-options.js";
import { asFields, asList } from "../../../util/objects.js";

function isVector(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((part) => typeof part === "number" && Number.isFinite(part))
  );
}

/**
 * Returns the vectors of a response in the order of the texts. `index` defines the order, because
 * the list may have another order.
 */
function readVectors(document: Fields, count: number): readonly (readonly number[])[] {
  const vectors: (readonly number[])[] = [];
  for (const [position, entry] of asList(document["data"]).entries()) {
    const fields = asFields(entry);
    const vector = fields?.["embedding"];
    if (!isVector(vector))
      throw new InvalidResponseError(`data[${position}].embedding is not a list of numbers`, {
        shown: entry,
      });
    const index = fields?.["index"];
    vectors[typeof index === "number" ? index : position] = vector;
  }
  const came = Object.keys(vectors).length;
  if (came !== count || vectors.length !== count)
    throw new InvalidResponseError(`The answer has vectors for ${came} of ${count} texts`);
  return vectors;
}

function checkTexts(texts: readonly string[]): void {
  const given: unknown = texts;
  if (!Array.isArray(given))
    throw new ValidationError(`embed() texts must be an array, got: ${preview(given)}`);
  for (const [index, text] of given.entries()) {
    if (typeof text !== "string")
      throw new ValidationError(`embed() texts[${index}] must be a string, got: ${preview(text)}`);
  }
}

/**
 * Creates an embedding model of OpenAI, or of any server with a compatible API. Nothing is loaded
 * or connected before the first call. Many texts are sent in several sequential requests. The
 * vectors have the order of the texts. `embed` rejects with ModelCallError if a request fails.
 *
 * @example const model = openaiEmbeddings("text-embedding-3-small", { dimensions: 256 });
 * const [vector] = await model.embed(["Hello"]);
 * @throws ValidationError for a blank model name or invalid options
 */
export function openaiEmbeddings(
  modelId: string,
  options: OpenAIEmbeddingsOptions = {},
): EmbeddingModel {
  const resolved = resolveEmbeddingsOptions(options);
  requireText(modelId, "openaiEmbeddings() modelId must not be blank");
  const { dimensions, batchSize } = resolved;
  const line = createLine(OPENAI, resolved);
  const embedBatch = async (input: readonly string[]): Promise<readonly (readonly number[])[]> => {
    const call = new HttpCall(line, { modelId, signal: undefined });
    try {
      const body = {
        model: modelId,
        input,
        encoding_format: "float",
        ...(dimensions === undefined ? {} : { dimensions }),
      };
      return readVectors(
        await call.readDocument(await call.post(await call.connect(), "/embeddings", body)),
        input.length,
      );
    } catch (error) {
      throw await call.failure(error);
    } finally {
      await call.close({ isComplete: false });
    }
  };
  return Object.freeze({
    async embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
      checkTexts(texts);
      const vectors: (readonly number[])[] = [];
      for (let start = 0; start < texts.length; start += batchSize)
        vectors.push(...(await embedBatch(texts.slice(start, start + batchSize))));
      return vectors;
    },
  });
}
