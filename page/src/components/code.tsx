import type { JSX } from "preact";
import { Text } from "./text.js";

export interface CodeProps {
  /** Text, or a value that is written as JSON. */
  readonly value: unknown;
  /** Number of characters that are initially shown. Default 20,000. */
  readonly limit?: number | undefined;
}

/** A block of code or data. JSON in a text is indented. */
export function Code({ value, limit = 20_000 }: CodeProps): JSX.Element {
  const text = codeText(value);
  return (
    <pre tabIndex={0}>
      <Text>{text.slice(0, limit)}</Text>
      {text.length > limit && (
        <span class="faint">{`\n… ${(text.length - limit).toLocaleString("en")} more characters`}</span>
      )}
    </pre>
  );
}

function codeText(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value, undefined, 2) ?? "";
  if (!/^\s*[[{]/.test(value) || value.length > 200_000) return value;
  try {
    return JSON.stringify(JSON.parse(value), undefined, 2);
  } catch {
    return value; // not JSON
  }
}
