/** Longest piece of an error's body that is passed on. */
const LONGEST_BODY = 2_048;

/** The beginning of a text, with the mark at its end where it was cut; never half a character. */
export function cutText(text: string, length: number, mark: string): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  const end = code >= 0xd800 && code < 0xdc00 ? length - 1 : length;
  return `${text.slice(0, end)}${mark}`;
}

/** Text from outside in one line: without control characters and with single spaces, so that it can't begin a line of its own. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** The body of a failed answer for a message: in one line, within marks that it can't end, at most 2 kB. */
export function quotedBody(body: string): string {
  return `"""${cutText(oneLine(body.slice(0, 2 * LONGEST_BODY)).replaceAll('"""', "'''"), LONGEST_BODY, "... [truncated]")}"""`;
}
