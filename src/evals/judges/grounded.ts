import type { Sample, Scorer, ScorerOptions } from "../scorer.js";
import { ScoreError } from "../../contracts/evaluation-errors.js";
import { preview, requireFunction, requireInteger } from "../../contracts/validation.js";
import { asList } from "../../util/objects.js";
import { textOfOutput } from "../reports/output-text.js";
import { builtInScorer } from "../scorers/named-scorer.js";

/** Options of `grounded`. */
export interface GroundedOptions extends ScorerOptions {
  /** Returns the sources of a sample. Default: the texts in `metadata.sources` of the case. */
  readonly sources?: ((sample: Sample) => readonly string[]) | undefined;
  /** Minimum number of words of a quotation. Shorter quotations are ignored. Default 3. */
  readonly minWords?: number | undefined;
}

const DEFAULT_WORDS = 3;
/** Texts between quotation marks of one kind, and quoted lines of Markdown. */
const QUOTATIONS = /"([^"\n]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|»([^«]+)«|^>[ \t]?(.+)$/gmu;

/**
 * Scores the fraction of quotations in the output that occur in one of the sources. Ignores case,
 * white space, the kinds of quotation marks and dashes, and punctuation at the ends. An ellipsis
 * divides a quotation into parts. All parts must occur. Does not apply to an output without
 * quotations.
 */
export function grounded(options: GroundedOptions = {}): Scorer<unknown, unknown> {
  const { sources = sourceTextsOf, minWords = DEFAULT_WORDS } = options;
  requireFunction("grounded sources", options.sources);
  requireInteger("grounded minWords", options.minWords, 1);
  return builtInScorer("grounded", options, ["sources", "minWords"], (sample) => {
    const texts = sources(sample).map(comparableText);
    const quotations = quotationsIn(textOfOutput(sample.output)).filter(
      (quotation) => comparableText(quotation).split(" ").length >= minWords,
    );
    if (quotations.length === 0) return undefined;
    const missing = quotations.filter((quotation) => !isIn(quotation, texts));
    return {
      value: 1 - missing.length / quotations.length,
      ...(missing.length > 0 && {
        reason: `Not in the sources: ${preview(missing)}`,
        evidence: { quotations: quotations.length, missing },
      }),
    };
  });
}

function sourceTextsOf({ case: { id, metadata } }: Sample): readonly string[] {
  const sources = asList(metadata?.["sources"]).filter((one) => typeof one === "string");
  if (sources.length > 0) return sources;
  throw new ScoreError(`The case '${preview(id)}' has no texts in metadata.sources`, "score");
}

function quotationsIn(text: string): readonly string[] {
  return [...text.matchAll(QUOTATIONS)].map((match) => match.slice(1).find(Boolean) ?? "");
}

function isIn(quotation: string, sources: readonly string[]): boolean {
  const parts = quotation
    .split(/\[?(?:\.{3}|…)\]?/u)
    .map(comparableText)
    .filter((part) => part !== "");
  return sources.some((source) => parts.every((part) => source.includes(part)));
}

/** Returns the text with uniform case, white space and marks. */
function comparableText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[“”„«»]/gu, '"')
    .replace(/[‘’]/gu, "'")
    .replace(/\p{Pd}/gu, "-")
    .replace(/\s+/gu, " ")
    .replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, "");
}
