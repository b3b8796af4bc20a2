import { AgentEnsembleError } from "../../../contracts/errors.js";
import type { UIStreamOptions } from "../../../contracts/ui-stream.js";

/** The text of an error that a page is shown. An `onError` that fails shows no more than none. */
export function uiErrorText(error: Error, onError: UIStreamOptions["onError"]): string {
  try {
    const text: unknown = onError?.(error);
    if (typeof text === "string") return text;
  } catch {
    // the message of neither error is for a page
  }
  return AgentEnsembleError.isInstance(error)
    ? `An error occurred. (${error.code})`
    : "An error occurred.";
}
