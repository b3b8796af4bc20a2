/**
 * The texts about earlier runs of a task, and the requests after a task, by name. `docs/prompts.md`
 * lists the values of each text.
 */
export const REFLECTION_TEMPLATES = Object.freeze({
  "reflection.notes": `## Task Improvement Notes (from prior executions)
These notes were drawn from earlier runs of this very task.
Use them where they help to do it better this time.
The task itself, below, comes first where they differ.

### Refined Instructions
{description}

### Output Guidance
{expectedOutput}{observations}{suggestions}

---`,
  "reflection.observations": `

### Observations
{items}`,
  "reflection.suggestions": `

### Suggestions
{items}`,
  "reflection.prompt": `You help to improve the instructions of a task that is done again and again. Here is the task, and what was produced this time. A name in braces stands for what differs from run to run: keep it.

## Task
{description}

## Expected Output
{expectedOutput}

## Output
{output}
{previous}
Say how the task should be put so that the next result is better. Answer with these four sections and nothing else:

REFINED_DESCRIPTION:
the task, put better
REFINED_EXPECTED_OUTPUT:
what the result should look like
OBSERVATIONS:
- what you noticed about this result
SUGGESTIONS:
- what to do differently`,
  "reflection.previous": `
## Notes So Far
{notes}
`,
} as const);

/** The name of a text of this plugin. */
export type ReflectionTemplateName = keyof typeof REFLECTION_TEMPLATES;
