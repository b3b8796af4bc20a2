import type { TaskReflection } from "../../contracts/reflection.js";
import type { PromptTexts } from "../shared/prompts/prompt-library.js";
import type { ReflectionTemplateName } from "./reflection-prompts.js";
import { escapePart, listItem } from "../../util/text.js";

type ReflectionTexts = PromptTexts<ReflectionTemplateName>;

/**
 * Returns a reflection as a section of the prompt. Text from a model can't start another section.
 */
export function notesText(reflection: TaskReflection, texts: ReflectionTexts): string {
  const { observations, suggestions } = reflection;
  return texts.render("reflection.notes", {
    description: escapePart(reflection.refinedDescription),
    expectedOutput: escapePart(reflection.refinedExpectedOutput),
    observations:
      observations.length === 0
        ? ""
        : texts.render("reflection.observations", { items: bullets(observations) }),
    suggestions:
      suggestions.length === 0
        ? ""
        : texts.render("reflection.suggestions", { items: bullets(suggestions) }),
  });
}

function bullets(items: readonly string[]): string {
  return items.map((item) => `- ${listItem(item)}`).join("\n");
}
