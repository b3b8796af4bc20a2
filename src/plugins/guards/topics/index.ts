import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { decodedJson } from "../shared/escapes.js";
import { folded } from "../shared/folded-words.js";
import { requireTextList } from "../shared/guarded-tasks.js";
import { checkOutputOptions, outputGuard, type TextGuardOptions } from "../shared/output-guard.js";
import { lastEndOf, SegmentFilter } from "../shared/stream-filter.js";

/** Options of {@link topics}. */
export interface TopicsOptions extends TextGuardOptions {
  /**
   * Refused topics, each with its words. Ignores case and accents. A word may be a phrase. `bomb*`
   * stands for all words with this beginning.
   */
  readonly deny: Readonly<Record<string, readonly string[]>>;
  /** Minimum number of different words of a topic in a refused text. Default 1. */
  readonly words?: number | undefined;
}

/** Returns the expression of all words of a topic. */
function expressionOf(words: readonly string[]): RegExp {
  const sources = words.map((word) => {
    const isStem = word.endsWith("*");
    const source = folded(isStem ? word.slice(0, -1) : word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return isStem ? `${source}\\p{L}*` : source;
  });
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${sources.join("|")})(?![\\p{L}\\p{N}])`, "gu");
}

/** The end of a sentence. The text up to it can be shown. */
const SENTENCE_END = /[.!?\n](?=\s)/g;
/** Number of shown characters that contain the last word of a line. */
const LAST_WORD = 120;

/**
 * Refuses outputs and inputs of the run that contain words of a topic. Streams are held back
 * sentence by sentence.
 *
 * @throws ValidationError for an unknown option or a topic without words.
 */
export function topics(options: TopicsOptions): Plugin {
  checkOutputOptions("topics", options, ["deny", "words", "inputs"]);
  if (!isObject(options.deny) || Object.keys(options.deny).length === 0)
    throw new ValidationError(`topics deny must have a topic, got: ${preview(options.deny)}`);
  const { words: fewest = 1 } = options;
  if (!Number.isInteger(fewest) || fewest < 1)
    throw new ValidationError(`topics words must be an integer >= 1, got: ${preview(fewest)}`);
  const rules = Object.entries(options.deny).map(([topic, words]) => {
    requireTextList(`topics deny.${topic}`, words);
    if (words.length < fewest)
      throw new ValidationError(`topics deny.${topic} has fewer than ${fewest} words`);
    return { topic, expression: expressionOf(words) };
  });
  /** `earlier` contains the words of the preceding text, by rule. */
  const judge = (
    text: string,
    earlier: readonly Set<string>[],
  ): { kind: string; reason: string } | undefined => {
    const plain = folded(decodedJson(text)?.text ?? text);
    const found = rules.find(({ expression }, index) => {
      const words = earlier[index] ?? new Set();
      for (const [word] of plain.matchAll(expression)) words.add(word);
      return words.size >= fewest;
    });
    return found === undefined
      ? undefined
      : {
          kind: found.topic,
          reason: `the text is about a topic that is not allowed: ${found.topic}`,
        };
  };
  return outputGuard(options, {
    name: "guards-topics",
    judge: (text) => judge(text, []),
    hidesReasoning: true,
    filter: () => {
      const found = rules.map(() => new Set<string>());
      return new SegmentFilter({
        byWord: true,
        context: LAST_WORD,
        holdFrom: (text, asked) => lastEndOf(SENTENCE_END, text, asked - 1),
        release: (text, shown) => {
          // A phrase may continue after a line break.
          const before = /\S+\s*$/.exec(shown())?.[0] ?? "";
          return judge(before + text, found) === undefined ? text : undefined;
        },
      });
    },
  });
}
