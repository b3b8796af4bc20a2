import { cutText } from "../../../util/text.js";

/** Maximum length of an error body in messages. */
const LONGEST_BODY = 2_048;

/**
 * Returns external text as one line, without control characters and with single spaces. It can't
 * begin a new line in the prompt.
 */
export function outsideLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/**
 * Quotes the body of a failed response in one line of at most 2 kB. The body can't contain the
 * closing mark.
 */
export function quotedBody(body: string): string {
  return `"""${cutText(outsideLine(body.slice(0, 2 * LONGEST_BODY)).replaceAll('"""', "'''"), LONGEST_BODY, "... [truncated]")}"""`;
}
