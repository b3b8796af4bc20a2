import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";

/** Options for shortening a conversation that is too long. */
export interface CompactOptions {
  /**
   * Number of last turns whose tool results are not shortened. A turn is one response of the model
   * with the results that it requested. Default 2.
   */
  readonly keepTurns?: number | undefined;
  /** Number of characters that are kept at the start of a shortened result. Default 200. */
  readonly keepCharacters?: number | undefined;
}

/** Options of `contextLimit`. */
export interface ContextLimitOptions {
  /**
   * Limit of the input tokens of a request, including tools and schema. Set it to the context
   * window of the model minus the space for the answer.
   */
  readonly maxInputTokens: number;
  /**
   * Whether old tool results are shortened if a request would exceed the limit. If false, the call
   * is refused. Default false.
   */
  readonly compact?: boolean | CompactOptions | undefined;
}

export interface ContextLimitSettings {
  readonly maxInputTokens: number;
  readonly compact: { readonly keepTurns: number; readonly keepCharacters: number } | undefined;
}

const COMPACT_DEFAULTS = Object.freeze({ keepTurns: 2, keepCharacters: 200 });

/** Applies the defaults. @throws ValidationError for an unknown option or a value out of range. */
export function resolveContextLimitOptions(options: ContextLimitOptions): ContextLimitSettings {
  checkOptions("contextLimit", options, ["maxInputTokens", "compact"]);
  const { maxInputTokens, compact } = options;
  const given: unknown = maxInputTokens;
  if (given === undefined) throw new ValidationError("contextLimit needs maxInputTokens");
  requireInteger("contextLimit maxInputTokens", maxInputTokens, 1, "an integer > 0");
  return Object.freeze({ maxInputTokens, compact: compactOf(compact) });
}

function compactOf(compact: ContextLimitOptions["compact"]): ContextLimitSettings["compact"] {
  if (compact === undefined || compact === false) return undefined;
  if (compact === true) return COMPACT_DEFAULTS;
  const given: unknown = compact;
  if (typeof given !== "object" || given === null)
    throw new ValidationError(
      `contextLimit compact must be true, false or an object, got: ${preview(compact)}`,
    );
  checkOptions("contextLimit compact", compact, Object.keys(COMPACT_DEFAULTS));
  requireInteger("contextLimit compact.keepTurns", compact.keepTurns, 0);
  requireInteger("contextLimit compact.keepCharacters", compact.keepCharacters, 0);
  return Object.freeze({
    keepTurns: compact.keepTurns ?? COMPACT_DEFAULTS.keepTurns,
    keepCharacters: compact.keepCharacters ?? COMPACT_DEFAULTS.keepCharacters,
  });
}
