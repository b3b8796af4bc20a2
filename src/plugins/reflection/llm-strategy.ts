import type {
  ReflectionInput,
  ReflectionStrategy,
  TaskLesson,
} from "../../contracts/reflection.js";
import type { PromptTexts } from "../shared/prompts/prompt-library.js";
import type { ReflectionTemplateName } from "./reflection-prompts.js";
import { notesText } from "./notes.js";

/**
 * The maximum length of a text and the maximum number of kept items. Notes are part of every later
 * prompt.
 */
const MAX_TEXT = 4_000;
const MAX_ITEM = 500;
const MAX_ITEMS = 10;

const SECTIONS = [
  "REFINED_DESCRIPTION",
  "REFINED_EXPECTED_OUTPUT",
  "OBSERVATIONS",
  "SUGGESTIONS",
] as const;

/**
 * Asks a model to improve the task's template. The filled text is not used, because inputs of one
 * run must not reach the prompts of others. If the answer lacks a section, the text of the task is
 * kept.
 */
export function llmStrategy(texts: PromptTexts<ReflectionTemplateName>): ReflectionStrategy {
  return {
    async reflect(input) {
      return lessonOf(await input.ask(promptOf(input, texts)), input);
    },
  };
}

function promptOf(
  { source, output, previous }: ReflectionInput,
  texts: PromptTexts<ReflectionTemplateName>,
): string {
  const { description, expectedOutput } = source;
  const notes =
    previous === undefined
      ? ""
      : texts.render("reflection.previous", { notes: notesText(previous, texts) });
  return texts.render("reflection.prompt", {
    description,
    expectedOutput,
    output: output.raw,
    previous: notes,
  });
}

/** @throws Error for an answer without any of the sections. */
function lessonOf(answer: string, { source }: ReflectionInput): TaskLesson {
  const found = sectionsOf(answer);
  if (found.size === 0)
    throw new Error("the model's answer contains none of the required sections");
  return {
    refinedDescription: cut(found.get("REFINED_DESCRIPTION"), MAX_TEXT) ?? source.description,
    refinedExpectedOutput:
      cut(found.get("REFINED_EXPECTED_OUTPUT"), MAX_TEXT) ?? source.expectedOutput,
    observations: itemsOf(found.get("OBSERVATIONS")),
    suggestions: itemsOf(found.get("SUGGESTIONS")),
  };
}

/** Returns the text under each heading. A heading may have Markdown marks. */
function sectionsOf(answer: string): Map<string, string> {
  const heading = new RegExp(`^[\\s#*>]{0,8}(${SECTIONS.join("|")})[*]{0,3}:[*]{0,3}`, "gim");
  const found = [...answer.matchAll(heading)];
  return new Map(
    found.map((match, i) => [
      (match[1] ?? "").toUpperCase(),
      answer.slice(match.index + match[0].length, found[i + 1]?.index ?? answer.length).trim(),
    ]),
  );
}

function cut(text: string | undefined, limit: number): string | undefined {
  return text === undefined || text === "" ? undefined : text.slice(0, limit);
}

function itemsOf(text: string | undefined): readonly string[] {
  const lines = (text ?? "").split("\n").map((line) => /^\s*[-*]\s+(.*\S)\s*$/.exec(line)?.[1]);
  return lines.flatMap((line) => cut(line, MAX_ITEM) ?? []).slice(0, MAX_ITEMS);
}
