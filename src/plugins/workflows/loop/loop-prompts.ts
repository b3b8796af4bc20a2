/**
 * Texts for the prompt of the first task in a further iteration, by name. `{name}` is replaced by a
 * value. `docs/prompts.md` lists the values.
 */
export const LOOP_TEMPLATES = Object.freeze({
  "loop.feedback":
    "Loop iteration {iteration} of {maxIterations}. Prior iteration's final body output is shown above; revise based on it.",
} as const);
