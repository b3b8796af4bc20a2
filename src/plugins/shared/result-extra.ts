import type { ToolResultExtra } from "../../contracts/tool-result.js";

/** Returns the stored fields of a result: all except its text and its structured value. */
export function extraOf({ parts = [], sources = [] }: ToolResultExtra): ToolResultExtra {
  return { ...(parts.length > 0 && { parts }), ...(sources.length > 0 && { sources }) };
}
