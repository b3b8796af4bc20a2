import { ToolResult } from "../../../contracts/tool.js";

interface Reply {
  readonly output?: unknown;
  readonly success?: unknown;
  readonly error?: unknown;
  readonly structured?: unknown;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // plain text, which is just as well
  }
}

/** A JSON object that says what it is by `output`, or by `success: false`. Any other JSON is a result like any text. */
function replyOf(text: string): Reply | undefined {
  if (!text.startsWith("{")) return undefined;
  const value = parsed(text);
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, "output") || (value as Reply).success === false ? value : undefined; // looked at, not trusted
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a program that ended well has to say: `{ output, success?, error?, structured? }`, or any text. */
export function readReply(text: string): ToolResult {
  const reply = replyOf(text);
  if (reply === undefined) return ToolResult.success(text);
  const error = textOf(reply.error);
  if (reply.success === false)
    return ToolResult.failure(error === "" ? "Process returned success=false" : error);
  return ToolResult.success(textOf(reply.output), reply.structured ?? undefined);
}
