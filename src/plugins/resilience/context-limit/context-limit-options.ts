import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";

/** How a conversation that is too long is shortened. */
export interface CompactOptions {
  /** Turns at the end whose tool results stay whole; a turn is one answer of the model with the results it asked for. Default 2. */
  readonly keepTurns?: number | undefined;
  /** How much of the beginning of a shortened result stays, in characters. Default 200. */
  readonly keepCharacters?: number | undefined;
}

/** Options of `contextLimit`. */
export interface ContextLimitOptions {
  /** Input tokens that a request may have, tools and schema included: the model's context window less the room for its answer. */
  readonly maxInputTokens: number;
  /** Whether old tool results are shortened before a call is refused. Default false. */
  readonly compact?: boolean | CompactOptions | undefined;
}

export interface ContextLimitSettings {
  readonly maxInputTokens: number;
  readonly compact: { readonly keepTurns: number; readonly keepCharacters: number } | undefined;
}

const COMPACT_DEFAULTS = Object.freeze({ keepTurns: 2, keepCharacters: 200 });

/** Applies the defaults. @throws ValidationError for what does not fit. */
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
