import type { OutputSchema } from "../../contracts/types.js";
import type { EmbeddingModel } from "../../contracts/embedding.js";
import type { Sample, Score, Scorer, ScorerOptions } from "../scorer.js";
import { ValidationError } from "../../contracts/errors.js";
import { ScoreError } from "../../contracts/evaluation-errors.js";
import { preview } from "../../contracts/validation.js";
import { canonicalJson } from "../../util/json/canonical.js";
import { parsedOrText } from "../../util/json/parsed-or-text.js";
import {
  LinearPattern,
  problemOfPattern,
  type CompiledPattern,
} from "../../util/regex/linear-pattern.js";
import { checkValue, isValidating } from "../../util/schema/standard-schema.js";
import { textOf } from "../../util/text.js";
import { differencesOf } from "./json-differences.js";
import { builtInScorer } from "./named-scorer.js";

/** Options for comparing texts. */
export interface TextScorerOptions extends ScorerOptions {
  /** Whether upper and lower case are equal. Default false. */
  readonly ignoreCase?: boolean | undefined;
  /**
   * Whether white space at the ends is ignored, and other white space counts as one blank. Default
   * false.
   */
  readonly ignoreSpace?: boolean | undefined;
}

/** Returns the expected value. @throws ScoreError if the case has no expected value. */
function expectedOf<Out>({ expected, case: { id } }: Sample<unknown, Out>): Out {
  if (expected !== undefined) return expected;
  throw new ScoreError(`The case '${preview(id)}' has no expected value`, "score");
}

function normalized(text: string, { ignoreCase, ignoreSpace }: TextScorerOptions): string {
  const cased = ignoreCase === true ? text.toLowerCase() : text;
  return ignoreSpace === true ? cased.trim().replace(/\s+/gu, " ") : cased;
}

/**
 * Scores 1 if the output equals the expected value. Objects are compared as JSON, independent of
 * the order of keys.
 */
export function exact(options: TextScorerOptions = {}): Scorer<unknown, unknown> {
  return builtInScorer("exact", options, ["ignoreCase", "ignoreSpace"], (sample) => {
    const expected = expectedOf(sample);
    const { output } = sample;
    const isEqual =
      typeof output === "string" && typeof expected === "string"
        ? normalized(output, options) === normalized(expected, options)
        : canonicalJson(output) === canonicalJson(expected);
    return { value: Number(isEqual), ...(!isEqual && { reason: "The output differs" }) };
  });
}

/** Texts, or a function that returns them for a sample. */
export type SampleTexts = readonly string[] | ((sample: Sample) => readonly string[]);

/**
 * Scores the fraction of texts that the output contains. Default: the only text is the expected
 * value.
 */
export function contains(
  options: TextScorerOptions & { readonly texts?: SampleTexts | undefined } = {},
): Scorer<unknown, unknown> {
  const { texts } = options;
  return builtInScorer("contains", options, ["ignoreCase", "ignoreSpace", "texts"], (sample) => {
    const wanted =
      texts === undefined
        ? [textOf(expectedOf(sample))]
        : typeof texts === "function"
          ? texts(sample)
          : texts;
    if (wanted.length === 0) return undefined;
    const output = normalized(textOf(sample.output), options);
    const missing = wanted.filter((text) => !output.includes(normalized(text, options)));
    return {
      value: 1 - missing.length / wanted.length,
      ...(missing.length > 0 && {
        reason: `Not in the output: ${preview(missing)}`,
        evidence: { missing },
      }),
    };
  });
}

/**
 * Scores 1 if the regular expression matches a part of the output. The time of a match is linear in
 * the length of the output.
 *
 * @throws ValidationError for lookaround and back references, for which the time has no bound.
 */
export function pattern(regex: RegExp, options: ScorerOptions = {}): Scorer<unknown, unknown> {
  if (!(regex instanceof RegExp))
    throw new ValidationError(`pattern() needs a regular expression, got: ${preview(regex)}`);
  const { source, flags } = regex;
  const problem = problemOfPattern(source, flags);
  if (problem !== undefined)
    throw new ValidationError(`The pattern ${preview(source)} can't be used: ${problem}`);
  let compiled: Promise<CompiledPattern> | undefined;
  return builtInScorer("pattern", options, [], async ({ output }) => {
    const made = await (compiled ??= LinearPattern.compile(source, flags));
    if (!made.ok)
      throw new ScoreError(
        `The pattern ${preview(source)} can't be used: ${made.problem}`,
        "score",
      );
    const matches = made.pattern.test(textOf(output));
    return { value: Number(matches), ...(!matches && { reason: `No match of ${regex}` }) };
  });
}

/**
 * Scores the fraction of equal values in the expected and the actual JSON data. A text is parsed as
 * JSON.
 */
export function jsonDifference(options: ScorerOptions = {}): Scorer<unknown, unknown> {
  return builtInScorer("jsonDifference", options, [], (sample): Score => {
    const { same, differences } = differencesOf(
      valueOrParsed(expectedOf(sample)),
      valueOrParsed(sample.output),
    );
    const total = same + differences.length;
    return {
      value: total === 0 ? 1 : same / total,
      ...(differences.length > 0 && {
        reason: differences
          .slice(0, 3)
          .map(({ path, problem }) => `${path}: ${problem}`)
          .join("; "),
        evidence: { differences: differences.slice(0, 50) },
      }),
    };
  });
}

/** Returns the value of a JSON text. Returns any other value unchanged. */
function valueOrParsed(value: unknown): unknown {
  return typeof value === "string" ? parsedOrText(value) : value;
}

/** Tolerances of a number. */
export interface NumericToleranceOptions extends ScorerOptions {
  /** The absolute tolerance. Default 0. */
  readonly absolute?: number | undefined;
  /**
   * The tolerance relative to the expected number. Default 0. The greater of both tolerances
   * applies.
   */
  readonly relative?: number | undefined;
}

/**
 * Scores 1 if the output is within the tolerance of the expected number. In a text, the last number
 * is used.
 */
export function numericTolerance(options: NumericToleranceOptions = {}): Scorer<unknown, unknown> {
  const { absolute = 0, relative = 0 } = options;
  for (const [name, value] of Object.entries({ absolute, relative }))
    if (typeof value !== "number" || !(value >= 0))
      throw new ValidationError(`numericTolerance ${name} must be a number >= 0`);
  return builtInScorer("numericTolerance", options, ["absolute", "relative"], (sample) => {
    const expected = numberIn(expectedOf(sample));
    const found = numberIn(sample.output);
    if (expected === undefined) throw new ScoreError("The expected value is not a number", "score");
    if (found === undefined) return { value: 0, reason: "The output has no number" };
    const off = Math.abs(found - expected);
    const isNear = off <= Math.max(absolute, relative * Math.abs(expected));
    return { value: Number(isNear), reason: `${found}, expected ${expected}`, evidence: { off } };
  });
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  const numbers = textOf(value).match(
    /[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?/g,
  );
  const last = numbers?.at(-1);
  return last === undefined ? undefined : Number(last.replaceAll(",", ""));
}

/** Scores 1 if the output matches the schema. A text is parsed as JSON. */
export function matchesSchema(
  schema: OutputSchema<unknown>,
  options: ScorerOptions = {},
): Scorer<unknown, unknown> {
  const given: unknown = schema;
  if (
    ((typeof given !== "object" || given === null) && typeof given !== "function") ||
    !isValidating(given)
  )
    throw new ValidationError(`matchesSchema() needs a Standard Schema, got: ${preview(given)}`);
  return builtInScorer("matchesSchema", options, [], async ({ output }) => {
    const checked = await checkValue(schema, valueOrParsed(output));
    return checked.ok ? 1 : { value: 0, reason: checked.problem };
  });
}

/**
 * Scores the cosine similarity between the vectors of the output and the expected value. Negative
 * values count as 0. Passes at 0.8. Default model: the embedding model of the evaluation.
 */
export function semanticSimilarity(
  options: ScorerOptions & { readonly model?: EmbeddingModel | undefined } = {},
): Scorer<unknown, unknown> {
  const { model, passAt = 0.8 } = options;
  return builtInScorer(
    "semanticSimilarity",
    { ...options, passAt },
    ["model"],
    async (sample, context) => {
      const texts = [textOf(sample.output), textOf(expectedOf(sample))];
      const vectors = await (model === undefined ? context.embed(texts) : model.embed(texts));
      const [output, expected] = vectors;
      if (output === undefined || expected === undefined || output.length !== expected.length)
        throw new ScoreError("The embedding model returned no vectors of the same length", "score");
      return Math.min(1, Math.max(0, cosineOfPair(output, expected)));
    },
  );
}

function cosineOfPair(a: readonly number[], b: readonly number[]): number {
  let [product, first, second] = [0, 0, 0];
  a.forEach((x, i) => {
    const y = b[i] as number; // of the same length
    product += x * y;
    first += x * x;
    second += y * y;
  });
  return product / Math.sqrt(first * second);
}
