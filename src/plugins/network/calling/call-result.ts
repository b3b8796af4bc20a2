import type { WorkResponse } from "../../../contracts/network.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { asFields, asText } from "../../../util/objects.js";
import { textOf } from "../../../util/text.js";

/**
 * Converts the response of a request to a tool result. Its structured value has the rest of the
 * response.
 */
export function resultOfResponse(ensemble: string, response: WorkResponse): ToolResult {
  const { status, result, parsed, reason, error, usage, attempt, servedBy } = response;
  if (status !== "COMPLETED")
    return ToolResult.failure(
      reason === "AT_CAPACITY" ? capacityText(ensemble) : (error ?? "Task failed"),
    );
  const { requestId, durationMs } = response;
  return ToolResult.success(result ?? textOf(parsed), {
    ...{ status, requestId, durationMs },
    ...(parsed !== undefined && { parsed }),
    ...(usage !== undefined && { usage }),
    ...(attempt !== undefined && { attempt }),
    ...(servedBy !== undefined && { servedBy }),
  });
}

export function capacityText(ensemble: string): string {
  return `'${ensemble}' has too much to do at the moment`;
}

export function timeoutText(o: {
  readonly isTool: boolean;
  readonly name: string;
  readonly ensemble: string;
  readonly timeoutMs: number;
}): string {
  const { isTool, name, ensemble, timeoutMs } = o;
  return `${isTool ? "Tool" : "Task"} '${name}' on ensemble '${ensemble}' timed out after ${timeoutMs} ms`;
}

export const SUBMITTED = "Request submitted asynchronously";
export const CONTINUING = "Deadline exceeded, continuing in background";

export function deadlineText(deadlineMs: number): string {
  return `Deadline exceeded after ${deadlineMs} ms`;
}

/** Returns whether a message about the progress of a request belongs to its partial result. */
export function isPartOfResult(progress: unknown): boolean {
  const { type, text } = asFields(progress) ?? {};
  return type === "task_completed" || asText(text) !== "";
}

/**
 * Returns the progress of a request at its deadline. This is its texts, or its finished tasks if
 * there are no texts.
 */
export function partialResult(deadlineMs: number, progress: readonly unknown[]): ToolResult {
  const messages = progress.map((each) => asFields(each) ?? {});
  const texts = messages.map(({ text }) => asText(text)).filter((text) => text !== "");
  const tasks = messages.map(({ taskId }) => asText(taskId));
  const known =
    texts.length > 0
      ? texts
      : [`Finished tasks: ${tasks.length === 0 ? "none" : tasks.join(", ")}`];
  return ToolResult.success([deadlineText(deadlineMs), ...known].join("\n"), {
    status: "PARTIAL",
    progress,
  });
}
