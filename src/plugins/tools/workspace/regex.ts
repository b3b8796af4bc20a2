import type { RE2JS } from "re2js";
import { messageOf } from "../../../util/errors.js";

/** A compiled regular expression, or the reason why it is invalid. */
export type CompiledRegex =
  { readonly ok: true; readonly regex: RE2JS } | { readonly ok: false; readonly problem: string };

const LONGEST_PATTERN = 1_000;
/**
 * Limit of one match on one text: its length times the size of the pattern. Takes at most a tenth
 * of a second.
 */
const MOST_STEPS = 4_000_000;

/**
 * Compiles a pattern of RE2's dialect. Matching takes time linear in the text, so no pattern can
 * block the process. Back references and look-around are not supported. `^` and `$` match the
 * beginning and end of a line.
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

/** Maximum number of characters that a pattern may search at once. */
export function longestText(regex: RE2JS): number {
  return Math.floor(MOST_STEPS / Math.max(regex.programSize(), 1));
}
