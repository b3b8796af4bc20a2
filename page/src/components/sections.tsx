import type { JSX } from "preact";
import { counted, formatBytes } from "../lib/format.js";
import type { PromptSection } from "../lib/prompt-sections.js";
import { visibleText } from "../lib/visible-text.js";
import { Text } from "./text.js";
import { Written } from "./written.js";

export interface SectionsProps {
  readonly sections: readonly PromptSection[];
  /** The system prompt. Empty if there is none. */
  readonly system: string;
  /** Whether the system prompt is shown without a click. Default false. */
  readonly isOpen?: boolean | undefined;
  readonly isMarkdown: boolean;
}

/** Longer sections are folded. */
const LONG = 600;

/** A prompt by its sections. */
export function Sections({ sections, system, isOpen, isMarkdown }: SectionsProps): JSX.Element {
  return (
    <>
      {system !== "" && (
        <details open={isOpen}>
          <summary>System prompt, {formatBytes(system.length)}</summary>
          <div class="section">
            <b>agent.system</b>
            <div class="prose plain">
              <Text>{system}</Text>
            </div>
          </div>
        </details>
      )}
      <details open>
        <summary>User prompt, {counted(sections.length, "section")}</summary>
        {sections.map(({ title, template, text }, i) => (
          <div key={i} class="section" title={template}>
            <b>{visibleText(title)}</b>
            {text.length > LONG ? (
              <details>
                <summary>
                  {visibleText(text.slice(0, 120).replace(/\s+/g, " "))} …{" "}
                  {formatBytes(text.length)}
                </summary>
                <Written text={text} isMarkdown={isMarkdown} />
              </details>
            ) : (
              <Written text={text} isMarkdown={isMarkdown} />
            )}
          </div>
        ))}
      </details>
    </>
  );
}
