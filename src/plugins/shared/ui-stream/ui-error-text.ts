import { AgentEnsembleError } from "../../../contracts/errors.js";
import type { UIStreamOptions } from "../../../contracts/ui-stream.js";

/**
 * Returns the text of an error for a page. An `onError` that throws shows no more than a missing
 * one.
 */
export function uiErrorText(error: Error, onError: UIStreamOptions["onError"]): string {
  try {
    const text: unknown = onError?.(error);
    if (typeof text === "string") return text;
  } catch {
    // neither message is for a page
  }
  return AgentEnsembleError.isInstance(error)
    ? `An error occurred. (${error.code})`
    : "An error occurred.";
}
