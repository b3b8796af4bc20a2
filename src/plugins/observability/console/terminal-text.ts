import { printableLine } from "../../../util/printable.js";
import { styleText } from "node:util";

/** The styles that progress lines use. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

// With `validateStream`, newer versions of Node check process.stdout again, for any output stream.
const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Returns a function that colours texts if `color` is set. */
export function painter(color: boolean): Paint {
  return color ? coloured : (_style, text) => text;
}

/** Formats a duration: `850 ms`, `12.3 s`, `5 min 7 s`. */
export function readableDuration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats a token count, or `?` if it is unknown. */
export function readableCount(count: number): string {
  return count < 0 ? "?" : String(count);
}

/** Returns the role of an agent on one line. Returns `(code)` for a task with a handler. */
export function readableRole(role: string): string {
  return role === "(deterministic)" ? "(code)" : printableLine(role, 40);
}
