import { isKnownMediaType, isTextType, isUtf8Text, mediaTypesOf } from "./media.js";

/** The media type of a file, or the reason why it is unknown. */
export type JudgedType = { readonly mediaType: string } | { readonly problem: string };

/**
 * Determines the type of a file from its first bytes and the claimed type. Both must agree. Text is
 * recognised by its encoding: text has no signature, and some texts begin like other files ("BM",
 * "ID3").
 */
export function judgedType(
  start: Uint8Array,
  claimed: string | undefined,
  whole: () => Uint8Array,
): JudgedType {
  const found = mediaTypesOf(start);
  return claimed === undefined ? unclaimed(start, found, whole) : agreed(claimed, found, whole);
}

function unclaimed(
  start: Uint8Array,
  found: readonly string[],
  whole: () => Uint8Array,
): JudgedType {
  const [first] = found;
  const isSure = first === "application/pdf" || !startsAsText(start);
  if (first !== undefined && isSure) return { mediaType: first };
  if (!isUtf8Text(whole(), { isWhole: true }))
    return { problem: "has no mediaType, and its first bytes show none" };
  return { mediaType: first !== undefined && isTextType(first) ? first : "text/plain" };
}

/** Returns whether a file starts with text of printable characters. */
function startsAsText(start: Uint8Array): boolean {
  const isControl = (byte: number): boolean => byte < 32 && ![9, 10, 12, 13, 27].includes(byte);
  return !start.some(isControl) && isUtf8Text(start, { isWhole: false });
}

function agreed(claimed: string, found: readonly string[], whole: () => Uint8Array): JudgedType {
  const [first] = found;
  if (isTextType(claimed) && first !== "application/pdf") {
    if (isUtf8Text(whole(), { isWhole: true })) return { mediaType: claimed };
    return mismatch(claimed, first ?? "a file that is not UTF-8 text");
  }
  if (found.includes(claimed)) return { mediaType: claimed };
  if (first === undefined && !isKnownMediaType(claimed)) return { mediaType: claimed };
  return mismatch(claimed, first);
}

function mismatch(claimed: string, found: string | undefined): JudgedType {
  const those = found === undefined ? "of another type" : `those of ${found}`;
  return { problem: `is declared as ${claimed}, but its first bytes are ${those}` };
}
