import { ToolResult } from "../../../contracts/tool-result.js";
import { textOf } from "../../../util/text.js";
import { parseJson } from "../../../util/json/parse-json.js";

interface ProcessReply {
  readonly output?: unknown;
  readonly success?: unknown;
  readonly error?: unknown;
  readonly structured?: unknown;
}

/**
 * Returns a JSON object that has `output`, or `success: false`. Any other JSON is an ordinary text
 * result.
 */
function replyOf(text: string): ProcessReply | undefined {
  if (!text.startsWith("{")) return undefined;
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, "output") || (value as ProcessReply).success === false
    ? value
    : undefined; // narrowed by the checks before
}

/**
 * Parses the output of a program that exited successfully:
 * `{ output, success?, error?, structured? }`, or any text.
 */
export function readReply(text: string): ToolResult {
  const reply = replyOf(text);
  if (reply === undefined) return ToolResult.success(text);
  const error = textOf(reply.error);
  if (reply.success === false)
    return ToolResult.failure(error === "" ? "Process returned success=false" : error);
  return ToolResult.success(textOf(reply.output), reply.structured ?? undefined);
}
