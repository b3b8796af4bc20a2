import type { JSX } from "preact";
import { Code } from "./code.js";
import { lazyPart } from "./lazy.js";
import { PlainText } from "./plain-text.js";

/** Markdown of a model. Shown as source text until the parser has been fetched. */
export const Markdown = lazyPart(
  async () => (await import("./markdown.js")).MarkdownText,
  PlainText,
);

export interface WrittenProps {
  readonly text: string;
  readonly isMarkdown: boolean;
}

/** Text of a model or a person: as Markdown, as data if it is JSON, or unchanged. */
export function Written({ text, isMarkdown }: WrittenProps): JSX.Element {
  if (!isMarkdown) return <PlainText text={text} />;
  return isJson(text) ? <Code value={text} /> : <Markdown text={text} />;
}

function isJson(text: string): boolean {
  if (!/^\s*(?:\{[^]*\}|\[[^]*\])\s*$/.test(text) || text.length > 200_000) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
