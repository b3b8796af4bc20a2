import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { PlanEntry } from "../engine/plan/plan.js";
import { Agent } from "../contracts/agent.js";
import { PromptTemplateError } from "../contracts/errors.js";
import { createPlan } from "../engine/plan/plan.js";

const NO_PROMPTS: NonNullable<ReturnType<typeof Agent.promptsOf>> = Object.freeze({});

/**
 * Returns the names of inputs that templates of the team use or its options set. Returns
 * `undefined` if a handler may read other inputs.
 */
export function inputNames(
  options: EnsembleOptions,
  entries: readonly PlanEntry[],
): readonly string[] | undefined {
  if (entries.some(({ task }) => task.handler !== undefined)) return undefined;
  const variables = (options.agents ?? []).flatMap((agent) => {
    const { goal, background } = Agent.promptsOf(agent) ?? NO_PROMPTS;
    return [goal, background].flatMap((text) => text?.variables ?? []);
  });
  return [
    ...new Set([
      ...Object.keys(options.inputs ?? {}),
      ...variablesOfTasks(options, entries),
      ...variables,
    ]),
  ];
}

/** Returns the variables of the plan: the variables that are missing without inputs. */
function variablesOfTasks(
  options: EnsembleOptions,
  entries: readonly PlanEntry[],
): readonly string[] {
  try {
    createPlan(options, entries, {});
    return [];
  } catch (error) {
    if (PromptTemplateError.isInstance(error)) return error.missingVariables;
    return []; // the run reports other problems of the plan
  }
}
