import type { ReasoningOptions } from "../../../contracts/content.js";
import { UnsupportedRequest } from "../shared/unsupported-request.js";

/** @throws UnsupportedRequest for a limit of reasoning tokens, because this vendor has none */
export function requireNoBudget(reasoning: ReasoningOptions | undefined, api: string): void {
  if (reasoning?.budgetTokens !== undefined)
    throw new UnsupportedRequest(
      `${api} has no limit of reasoning tokens`,
      "Set reasoning.effort in the place of reasoning.budgetTokens.",
      "AE_MODEL_UNSUPPORTED_INPUT",
    );
}
