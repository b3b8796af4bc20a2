import { AgentEnsembleError } from "../../../contracts/errors.js";
import type { UIStreamOptions } from "../../../contracts/ui-stream.js";

/** Returns the text of an error for a page. If `onError` throws, the default text is returned. */
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
