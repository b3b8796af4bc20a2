import { toJsonText } from "./json-text.js";

/** An output as text: a text as it is, any other value as JSON. */
export function textOfOutput(value: unknown): string {
  return typeof value === "string" ? value : toJsonText(value);
}
