import type { ToolResultExtra } from "../../contracts/tool-result.js";

/** Returns the fields of a result except its text and its structured value, for storing it. */
export function extraOf({ parts = [], sources = [] }: ToolResultExtra): ToolResultExtra {
  return { ...(parts.length > 0 && { parts }), ...(sources.length > 0 && { sources }) };
}
