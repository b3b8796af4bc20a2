import type { ApiError } from "../api.js";

const WORDS: Readonly<Record<string, string>> = {
  RUN_NOT_FOUND: "There is no such run any more: the program was started again, or it was removed.",
  TASK_NOT_FOUND: "The run has no entry of this task yet.",
  TOO_MANY_REQUESTS: "Too many requests of this user. The program takes further ones in a minute.",
  FORBIDDEN: "Your role is not sufficient for this.",
  UNREACHABLE: "The program does not answer. What was there before is kept.",
};

/**
 * Returns the meaning of a refused request for a user: the page's words, otherwise the answer's
 * words.
 */
export function errorWords({ code, message, hint }: ApiError): string {
  return WORDS[code] ?? (hint === undefined ? message : `${message}. ${hint}`);
}
