import type { RE2JS } from "re2js";
import { messageOf } from "../../../util/errors.js";

/** A regular expression, or why a text is none. */
export type CompiledRegex =
  { readonly ok: true; readonly regex: RE2JS } | { readonly ok: false; readonly problem: string };

const LONGEST_PATTERN = 1_000;
/** What one look at one text may take: its length times the size of the pattern. A tenth of a second at the very worst. */
const MOST_STEPS = 4_000_000;

/**
 * Compiles a pattern of RE2's dialect, whose matching takes time in proportion to the text: no pattern can hang the program. It has no back references
 * and no looking around. `^` and `$` are beginning and end of a line.
 */
export async function compileRegex(pattern: string, ignoreCase = false): Promise<CompiledRegex> {
  if (pattern.length > LONGEST_PATTERN)
    return { ok: false, problem: `it is longer than ${LONGEST_PATTERN} characters` };
  const { RE2JS } = await import("re2js");
  try {
    return {
      ok: true,
      regex: RE2JS.compile(pattern, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)),
    };
  } catch (e) {
    return { ok: false, problem: messageOf(e) };
  }
}

/** How many characters a pattern may look at in one go. */
export function longestText(regex: RE2JS): number {
  return Math.floor(MOST_STEPS / Math.max(regex.programSize(), 1));
}
