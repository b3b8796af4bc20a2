import { ReviewUnavailableError } from "../../../contracts/state-errors.js";

/** Returns the error of a `clientTool` without a possible answer. */
export function noClient(toolName: string): ReviewUnavailableError {
  return new ReviewUnavailableError(
    `Tool '${toolName}' is executed by a page, but nothing can send its output. Serve a page with chatHandler({ reviews }), or set a \`reviewHandler\` that answers.`,
  );
}
