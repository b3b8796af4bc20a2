import type { ChatModel, ModelOptions } from "./chat-model.js";
import type { ReasoningOptions } from "./content.js";
import { ValidationError } from "./errors.js";
import { checkOptions, requireInteger, requireOneOf } from "./validation.js";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const SUMMARIES = ["auto", "concise", "detailed", "off"] as const;

/**
 * @throws ValidationError for an unknown field, a value out of range, or both `effort` and
 * `budgetTokens`.
 */
export function checkReasoning(what: string, reasoning: ReasoningOptions | undefined): void {
  if (reasoning === undefined) return;
  checkOptions(what, reasoning, ["effort", "budgetTokens", "summary"]);
  requireOneOf(`${what}.effort`, reasoning.effort, EFFORTS);
  requireOneOf(`${what}.summary`, reasoning.summary, SUMMARIES);
  requireInteger(`${what}.budgetTokens`, reasoning.budgetTokens, 1024);
  if (reasoning.effort !== undefined && reasoning.budgetTokens !== undefined)
    throw new ValidationError(`${what} has both effort and budgetTokens; set one of them`);
}

/**
 * Checks by `capabilities.reasoning` that a model supports the reasoning settings.
 * @throws ValidationError with the first unsupported setting.
 */
export function requireReasoning(
  description: string,
  { reasoning }: ModelOptions,
  { provider, modelId, capabilities }: Pick<ChatModel, "provider" | "modelId" | "capabilities">,
): void {
  const taken = capabilities?.reasoning;
  if (reasoning === undefined || taken === undefined) return;
  for (const setting of ["effort", "budgetTokens"] as const)
    if (reasoning[setting] !== undefined && !taken.includes(setting))
      throw new ValidationError(
        `Task '${description}' can't be sent: model '${provider}:${modelId}' does not support reasoning.${setting}`,
        taken.length === 0 ? {} : { hint: `Set reasoning.${taken.join(" or reasoning.")}.` },
      );
}
