/**
 * Texts for the prompt of a state that is visited again, by name. `{name}` is replaced by a value.
 * `docs/prompts.md` lists the values.
 */
export const GRAPH_TEMPLATES = Object.freeze({
  "graph.feedback":
    "Graph state '{state}' visit #{visit}. Prior visit's output is provided above; refine your response based on it.",
} as const);
