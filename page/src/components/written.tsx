import type { JSX } from "preact";
import { Code } from "./code.js";
import { lazyPart } from "./lazy.js";
import { PlainText } from "./plain-text.js";

/** Markdown of a model; as it was written until the parser is there. */
export const Markdown = lazyPart(
  async () => (await import("./markdown.js")).MarkdownText,
  PlainText,
);

export interface WrittenProps {
  readonly text: string;
  readonly isMarkdown: boolean;
}

/** What a model or a person wrote: as Markdown, as data where it is JSON, or as it is. */
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
