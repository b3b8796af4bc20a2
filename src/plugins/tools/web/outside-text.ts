import { cutText } from "../../../util/text.js";

/** Longest piece of an error's body that is passed on. */
const LONGEST_BODY = 2_048;

/** Text from outside in one line: without control characters and with single spaces, so that it can't begin a line of its own. */
export function outsideLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** The body of a failed answer for a message: in one line, within marks that it can't end, at most 2 kB. */
export function quotedBody(body: string): string {
  return `"""${cutText(outsideLine(body.slice(0, 2 * LONGEST_BODY)).replaceAll('"""', "'''"), LONGEST_BODY, "... [truncated]")}"""`;
}
