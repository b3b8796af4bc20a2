import type { ModelRef } from "../../../contracts/chat-model.js";
import type { Plan } from "../../../contracts/plan.js";
import type { Run } from "../../../contracts/run.js";
import type { Token } from "../../../contracts/token.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";

/** Returns a run's value of an optional token. */
export function findBound<T>(run: Run, token: Token<T>): T | undefined {
  try {
    return run.get(token);
  } catch (error) {
    // the run throws it if nothing is bound
    if (ValidationError.isInstance(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the manager's own model: the ensemble's `managerModel`, or else the first worker's.
 * Returns `undefined` if there is a common model.
 * @throws ValidationError if the manager or a worker would have no model
 */
export function managerModel({ options }: Plan, run: Run): ModelRef | undefined {
  const { managerModel: own, model, agents = [] } = options;
  if (model !== undefined || findBound(run, Tokens.ChatModel) !== undefined) return own;
  const bare = agents.find((agent) => agent.model === undefined);
  if (bare !== undefined) {
    throw new ValidationError(
      `No LLM available for agent '${bare.role}'. Set \`model\` on the agent or the ensemble.`,
      {
        hint: 'Set `model` on the ensemble, for instance "openai:gpt-5-mini".',
      },
    );
  }
  const found = own ?? run.workers.find((worker) => worker.model !== undefined)?.model;
  if (found !== undefined) return found;
  throw new ValidationError(
    "No LLM available for the manager of workflow HIERARCHICAL. Set `model` or `managerModel` on the ensemble.",
    {
      hint: "The options are called `model` and `managerModel`.",
    },
  );
}
