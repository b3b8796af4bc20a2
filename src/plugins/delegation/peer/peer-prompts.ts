/**
 * The texts about delegation that models receive, by name. `{name}` is replaced by a value.
 * `docs/prompts.md` lists the values of each text.
 */
export const DELEGATION_TEMPLATES = Object.freeze({
  "delegation.tool":
    "Delegate a subtask to another agent in the ensemble. Use this when you need specialised help that another agent can give better than you. The other agent knows only what you write here; its answer is returned to you.",
  "delegation.agentRole": "The role of the agent to delegate to",
  "delegation.taskDescription": "What the agent is to do, with everything it has to know for it",
  "delegation.expectedOutput": "Complete the assigned subtask thoroughly",
} as const);

/** The name of a text of this plugin. */
export type DelegationTemplateName = keyof typeof DELEGATION_TEMPLATES;
