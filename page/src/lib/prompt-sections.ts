/** A part of a prompt with the name of its template. */
export interface PromptSection {
  readonly title: string;
  /**
   * The name of the template, as in `prompts` of an ensemble. `undefined` for text without a known
   * template.
   */
  readonly template: string | undefined;
  readonly text: string;
}

/** The headings of sections, and their templates. The slots occur in this order. */
const HEADINGS: readonly (readonly [start: string, title: string, template: string])[] = [
  ["## Memory: ", "memory", "memory.scope"],
  ["## Short-Term Memory", "short-term memory", "memory.shortTerm"],
  ["## Context from Previous Tasks", "context", "task.context"],
  ["## Long-Term Memory", "long-term memory", "memory.longTerm"],
  ["## Entity Knowledge", "entities", "memory.entities"],
  ["## Task Improvement Notes", "improvement", "reflection.notes"],
  ["## Revision Instructions", "revision", "task.revision"],
  ["## Task", "task", "task.description"],
  ["## Expected Output", "expected output", "task.description"],
  ["## Output Format", "output format", "task.outputFormat"],
];

/** Outputs of other tasks are between such lines. Headings between them belong to the outputs. */
const FENCE = "---";

/**
 * Splits the prompt of a task at the beginnings of the framework's templates. A prompt of other
 * templates is one section.
 */
export function promptSections(prompt: string): readonly PromptSection[] {
  const sections: { title: string; template: string | undefined; lines: string[] }[] = [];
  let isQuoted = false;
  for (const line of prompt.split("\n")) {
    const isFence = line === FENCE;
    if (isFence) isQuoted = !isQuoted;
    const known = isQuoted ? undefined : headingOf(line);
    if (known !== undefined) {
      const [start, title, template] = known;
      const rest = line.slice(start.length).trim();
      sections.push({ title: rest === "" ? title : `${title} · ${rest}`, template, lines: [] });
    } else {
      if (sections.length === 0) sections.push({ title: "prompt", template: undefined, lines: [] });
      // Directly below a text, the line would make the text a heading.
      sections.at(-1)?.lines.push(...(isFence ? ["", line] : [line]));
    }
  }
  return sections
    .map(({ title, template, lines }) => ({ title, template, text: lines.join("\n").trim() }))
    .filter(({ text, template }) => text !== "" || template !== undefined);
}

function headingOf(line: string): (typeof HEADINGS)[number] | undefined {
  if (!line.startsWith("## ")) return undefined;
  return HEADINGS.find(
    ([start]) =>
      line === start ||
      (line.startsWith(start) && /^(?: \(|$)/.test(line.slice(start.length))) ||
      (start.endsWith(": ") && line.startsWith(start)),
  );
}
