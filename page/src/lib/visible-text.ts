/**
 * Control characters without line ends and tabs, and marks that change the writing direction or
 * separate lines.
 */
const HIDDEN = /(?![\n\t])\p{Cc}|[\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;

/** The symbols of control characters begin here in Unicode. */
const CONTROL_PICTURES = 0x2400;

/** A piece of text. `symbol`: the piece replaces an invisible character. */
export interface TextPiece {
  readonly text: string;
  readonly symbol?: string;
}

/** Splits a text at characters that would hide or reorder other characters. */
export function textPieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: match[0], symbol: symbolOf(match[0]) });
    end = match.index + match[0].length;
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end) });
  return pieces;
}

/**
 * Replaces characters that hide or reorder other characters by symbols, for names, titles and
 * labels.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, symbolOf);
}

/**
 * Returns the title of an item with a name. Returns its name if titles do not leave the program.
 */
export function titleOrName({
  title,
  name,
}: {
  readonly title?: string | undefined;
  readonly name: string;
}): string {
  return title === undefined || title === "" ? name : title;
}

/** Returns `␛` for a control character, `[U+202E]` for other characters. */
function symbolOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
  if (code === 0x7f) return "\u2421";
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}
