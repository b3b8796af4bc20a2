import type { TaskReflection } from "../../contracts/reflection.js";
import type { PromptTexts } from "../../kernel/index.js";
import type { ReflectionTemplateName } from "./templates.js";
import { containedPart, listItem } from "../../kernel/index.js";

type Texts = PromptTexts<ReflectionTemplateName>;

/** A reflection as a section of the prompt. What a model wrote can't begin a section of its own. */
export function notesText(reflection: TaskReflection, texts: Texts): string {
  const { observations, suggestions } = reflection;
  return texts.render("reflection.notes", {
    description: containedPart(reflection.refinedDescription),
    expectedOutput: containedPart(reflection.refinedExpectedOutput),
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
