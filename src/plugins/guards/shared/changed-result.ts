import { ToolResult } from "../../../contracts/tool-result.js";
import { changedPart, changedValue } from "./message-texts.js";

/** Returns the result with all its texts changed, or the same result. */
export function changedToolResult(
  result: ToolResult,
  change: (text: string, before?: string) => string,
): ToolResult {
  if (!result.ok) {
    const message = result.errorMessage ?? "";
    const changed = change(message);
    return changed === message ? result : ToolResult.failure(changed);
  }
  const output = change(result.output);
  const structured = changedValue(result.structured, change);
  const parts = result.parts.map((part) => changedPart(part, (text) => change(text)));
  const isSame =
    output === result.output &&
    structured === result.structured &&
    parts.every((part, index) => part === result.parts[index]);
  return isSame
    ? result
    : ToolResult.success(output, structured, { parts, sources: result.sources });
}
