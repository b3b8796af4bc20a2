import { ValidationError } from "./errors.js";
import { PromptText, type Text } from "./prompt-text.js";
import { preview, requireBoolean } from "./validation.js";

/** The texts of a task that were passed as prompt texts. */
export interface TaskPrompts {
  readonly description?: PromptText;
  readonly expectedOutput?: PromptText;
}

export const NO_PROMPTS: TaskPrompts = Object.freeze({});

/** Returns the prompt texts among the options of a task. */
export function promptsOf({ description, expectedOutput }: TaskTexts): TaskPrompts {
  const isPrompt = description instanceof PromptText;
  if (!isPrompt && !(expectedOutput instanceof PromptText)) return NO_PROMPTS;
  return {
    ...(isPrompt && { description }),
    ...(expectedOutput instanceof PromptText && { expectedOutput }),
  };
}

/** The texts of a task as the user passed them. */
interface TaskTexts {
  readonly description: Text;
  readonly expectedOutput?: Text | undefined;
}

/** @throws ValidationError for a `prompt` text in a task whose texts are not templates. */
export function checkTemplate({
  template,
  description,
  expectedOutput,
}: TaskTexts & { readonly template?: boolean | undefined }): void {
  requireBoolean("Task template", template);
  for (const [field, text] of Object.entries({ description, expectedOutput }))
    if (template === false && text instanceof PromptText)
      throw new ValidationError(`Task ${field} is a prompt text, which template: false excludes`, {
        hint: "Leave template out: a prompt text keeps what is interpolated literal.",
      });
}

/** @throws ValidationError for a value that is not a schema with a JSON Schema. */
export function checkSchema(type: unknown): void {
  if (type === undefined) return;
  const candidate =
    (typeof type === "object" && type !== null) || typeof type === "function"
      ? (type as Record<string, unknown>)
      : undefined;
  const standard = candidate?.["~standard"] as
    { validate?: unknown; jsonSchema?: unknown } | undefined;
  if (typeof standard?.validate === "function") {
    if (typeof standard.jsonSchema === "object") return;
    throw new ValidationError("Task outputType has no own JSON Schema", {
      hint: "Use zod 4.2 or later, or pass { schema, jsonSchema }.",
    });
  }
  const inner = candidate?.["schema"] as { "~standard"?: { validate?: unknown } } | undefined;
  if (
    typeof inner?.["~standard"]?.validate === "function" &&
    typeof candidate?.["jsonSchema"] === "object"
  )
    return;
  throw new ValidationError(
    `Task outputType must be a Standard Schema with a JSON Schema, or { schema, jsonSchema }, got: ${preview(type)}`,
  );
}
