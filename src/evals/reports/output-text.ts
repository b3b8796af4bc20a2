import { toJsonText } from "./json-text.js";

/** Returns an output as text: a text unchanged, any other value as JSON. */
export function textOfOutput(value: unknown): string {
  return typeof value === "string" ? value : toJsonText(value);
}
