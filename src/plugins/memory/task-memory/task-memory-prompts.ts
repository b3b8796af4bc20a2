/**
 * Texts that add memory to prompts, by name. `{name}` stands for a value. `docs/prompts.md` lists
 * the values of each text.
 */
export const MEMORY_TEMPLATES = Object.freeze({
  "memory.scope": `## Memory: {scope}
The following information from scope "{scope}" may be relevant:
{entries}`,
  "memory.scopeEntry": `
---
{content}
---`,
  "memory.shortTerm": `## Short-Term Memory (Current Run)
The following outputs from earlier tasks in this run may be relevant:
{entries}`,
  "memory.shortTermEntry": `
---
### {agentRole}: {taskDescription}
{content}
---
`,
  "memory.longTerm": `## Long-Term Memory
The following information recalled from past experience may be relevant:

---
{entries}---`,
  "memory.longTermEntry": "- {content}\n",
  "memory.entities": `## Entity Knowledge
The following known facts may be relevant:

{entries}`,
  "memory.entity": "- **{name}**: {fact}\n",
} as const);

/** The name of a text of this plugin. */
export type MemoryTemplateName = keyof typeof MEMORY_TEMPLATES;
