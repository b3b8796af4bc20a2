import { stripVTControlCharacters, styleText } from "node:util";

/** The styles that progress lines use. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

const plain: Paint = (_style, text) => text;
// `validateStream` would make newer versions of Node judge process.stdout again, whatever stream the lines go to.
const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Paints when asked to. */
export function painter(color: boolean): Paint {
  return color ? coloured : plain;
}

/**
 * Text from outside as one harmless line: escape sequences, control characters and marks that turn the writing direction are removed,
 * so that a model or a document cannot paint the terminal. Cut at `limit` characters.
 */
export function oneLine(text: string, limit = 80): string {
  const clean = stripVTControlCharacters(text.slice(0, limit * 20))
    .replace(/\s+/gu, " ")
    .replace(/[\p{Cc}\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/gu, "")
    .trim();
  const characters = [...clean];
  return characters.length > limit ? `${characters.slice(0, limit).join("")}...` : clean;
}

/** `850 ms`, `12.3 s`, `5 min 7 s`. */
export function readableDuration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A token count; `?` where it is not known. */
export function readableCount(count: number): string {
  return count < 0 ? "?" : String(count);
}

/** `1 tool call`, `2 tool calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
