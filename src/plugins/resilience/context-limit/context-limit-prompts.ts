/**
 * The texts that replace shortened tool results, by name. `{name}` is replaced by a value.
 * `docs/prompts.md` lists the values.
 */
export const CONTEXT_LIMIT_TEMPLATES = Object.freeze({
  "context.shortened":
    "{beginning}\n[The rest of this result was removed to save space: {removed} of {length} characters. Call {toolName} again if you need it.]",
  "context.filesRemoved":
    "[The files of this result were removed to save space: {count}. Call {toolName} again if you need them.]",
} as const);

export type ContextLimitTemplateName = keyof typeof CONTEXT_LIMIT_TEMPLATES;
