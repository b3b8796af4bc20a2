import type { ModelRef } from "../../../contracts/chat-model.js";
import type { RetryPolicy } from "../../../contracts/retry.js";
import { checkModel } from "../../../contracts/agent.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { AttemptPolicy } from "../shared/attempt-policy.js";

/**
 * @throws ValidationError unless the list has at least one model or name of a model, each only
 * once.
 */
export function checkFallbackModels(models: readonly ModelRef[]): readonly ModelRef[] {
  const given: unknown = models;
  if (!Array.isArray(given) || given.length === 0)
    throw new ValidationError(
      `fallback models must be an array of at least one model, got: ${preview(models)}`,
    );
  models.forEach((model: ModelRef | undefined, index) => {
    const what = `fallback models[${index}]`;
    if (model === undefined) throw new ValidationError(`${what} must not be undefined`);
    checkModel(what, model);
    const first = models.indexOf(model);
    if (first !== index)
      throw new ValidationError(
        `${what} is the same as models[${first}]: a call would go in circles`,
      );
  });
  return Object.freeze([...models]);
}

/** @throws ValidationError for a policy that does not support fallback models. */
export function requireAttemptPolicy(policy: RetryPolicy): void {
  if (policy instanceof AttemptPolicy) return;
  throw new ValidationError(
    "fallback() needs the framework's retry policy, but another one is bound to Tokens.RetryPolicy",
    {
      hint: "Use retry({...}) instead of the other policy, or let that policy name the next model itself.",
    },
  );
}
