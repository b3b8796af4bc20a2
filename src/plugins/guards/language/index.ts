import type { Plugin } from "../../../contracts/plugin.js";
import type * as Vendor from "./language-vendor.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireInteger } from "../../../contracts/validation.js";
import { requireTextList } from "../shared/guarded-tasks.js";
import {
  checkOutputOptions,
  outputGuard,
  type OutputGuardOptions,
  type OutputProblem,
} from "../shared/output-guard.js";
import { SegmentFilter } from "../shared/stream-filter.js";

/** Options of {@link language}. */
export interface LanguageOptions extends OutputGuardOptions {
  /** ISO 639-1 codes of the allowed languages: `en`, `de`. */
  readonly allow: readonly string[];
  /**
   * Minimum length of a checked text in characters. Shorter texts are allowed, because their
   * language is uncertain. Default 30.
   */
  readonly fromLength?: number | undefined;
}

/**
 * Minimum number of characters of a text from which its language is detected, unless the text is
 * shorter.
 */
const SAMPLE = 100;
/** Parts of a text without language: code, links, and JSON punctuation. */
const NO_WORDS = /```[^]*?(?:```|$)|`[^`\n]*`|https?:\/\/\S+|[\d{}[\]"'<>|*#_=()\\/]+/g;

function sampleOf(text: string, size: number): string {
  // Links and code after the sample are not searched.
  const words = text
    .slice(0, size * 6)
    .replace(NO_WORDS, " ")
    .replace(/\s+/g, " ")
    .trim();
  return words.slice(0, size);
}

/**
 * Refuses outputs in another language. The language is detected from the first 100 characters of
 * words, or from the first `fromLength` characters if that is more. Streams are held back until then.
 *
 * @throws ValidationError for an unknown option or an invalid code.
 */
export function language(options: LanguageOptions): Plugin {
  checkOutputOptions("language", options, ["allow", "fromLength"]);
  requireTextList("language allow", options.allow);
  const { allow, fromLength = 30 } = options;
  requireInteger("language fromLength", fromLength, 1);
  const size = Math.max(SAMPLE, fromLength);
  if (
    (allow as unknown) === undefined ||
    allow.length === 0 ||
    !allow.every((code) => /^[a-z]{2}$/.test(code))
  )
    throw new ValidationError(
      `language allow must be ISO 639-1 codes such as 'en', got: ${preview(allow)}`,
    );
  let vendor: typeof Vendor | undefined;
  let last: { readonly sample: string; readonly language: string | undefined } | undefined;
  const problemOf = (text: string): OutputProblem | undefined => {
    const sample = sampleOf(text, size);
    if (sample.length < fromLength) return undefined;
    if (vendor === undefined) throw new ValidationError("Plugin 'guards-language' was not started");
    // The judged text of a streamed output has the same sample as its stream.
    if (last?.sample !== sample) last = { sample, language: vendor.detectAll(sample)[0]?.lang };
    const { language: found } = last;
    if (found === undefined || allow.includes(found)) return undefined;
    return {
      kind: found,
      reason: `the text is not in an allowed language (${allow.join(", ")}), but in: ${found}`,
    };
  };
  return outputGuard(options, {
    name: "guards-language",
    judge: problemOf,
    filter: () => {
      let isAllowed = false;
      let next = size; // a shorter text can't contain a complete sample
      return new SegmentFilter({
        quick: { decide: (piece) => (isAllowed ? piece.length : -1) },
        holdFrom(text) {
          if (text.length < next) return 0;
          const missing = size - sampleOf(text, size).length;
          next = text.length + missing;
          return missing <= 0 ? text.length : 0;
        },
        release: (text) => ((isAllowed = problemOf(text) === undefined) ? text : undefined),
      });
    },
    start: async () => {
      vendor = await import("./language-vendor.js");
    },
  });
}
