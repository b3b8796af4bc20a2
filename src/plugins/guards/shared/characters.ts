// Pieces of streams are short. A loop over their characters costs less than an expression.

const SPACE = /\s/;

/** Returns whether a code unit is white space, as defined by `\s`. */
export function isSpace(code: number): boolean {
  if (code < 0x80) return code === 32 || (code > 8 && code < 14);
  if (code < 0x1680) return code === 0xa0;
  return code > 0x3000 ? code === 0xfeff : SPACE.test(String.fromCharCode(code));
}

/** Returns whether a text contains white space. */
export function hasSpace(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (isSpace(text.charCodeAt(at))) return true;
  return false;
}

/** Returns whether a code unit is an ASCII letter. */
export function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}

/** Returns whether a code unit is an ASCII letter or digit. */
export function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || isLetter(code);
}
