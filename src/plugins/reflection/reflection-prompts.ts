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
  "reflection.prompt": `You improve the instructions of a task that is executed repeatedly. The task and its latest output follow. A name in braces is a placeholder for a value that differs between runs. Keep all placeholders.

## Task
{description}

## Expected Output
{expectedOutput}

## Output
{output}
{previous}
Improve the instructions so that the next output is better. Answer with these four sections and nothing else:

REFINED_DESCRIPTION:
the improved description of the task
REFINED_EXPECTED_OUTPUT:
the improved description of the expected output
OBSERVATIONS:
- an observation about this output
SUGGESTIONS:
- a suggestion for the next run`,
  "reflection.previous": `
## Notes So Far
{notes}
`,
} as const);

/** The name of a text of this plugin. */
export type ReflectionTemplateName = keyof typeof REFLECTION_TEMPLATES;
