import type { JSX } from "preact";
import { Code } from "./code.js";
import { Markdown } from "./markdown.js";
import { Text } from "./text.js";

export interface WrittenProps {
  readonly text: string;
  readonly isMarkdown: boolean;
}

/** What a model or a person wrote: as Markdown, as data where it is JSON, or as it is. */
export function Written({ text, isMarkdown }: WrittenProps): JSX.Element {
  if (!isMarkdown)
    return (
      <div class="prose plain">
        <Text>{text}</Text>
      </div>
    );
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
