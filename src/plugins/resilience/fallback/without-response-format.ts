import type { LlmCall, Replace } from "../../../contracts/hooks.js";
import type { FallbackChain } from "../shared/fallback-chain.js";
import { replace } from "../../../contracts/hooks.js";

/** A request is made for the first model; one that can't keep to a schema must not be asked to. The prompt describes the schema anyway. */
export function withoutResponseFormat({ model, request }: LlmCall, chain: FallbackChain): Replace<Partial<Pick<LlmCall, "request">>> | undefined {
  if (request.responseFormat === undefined || model.capabilities?.structuredOutput === true || !chain.has(model)) return undefined;
  return replace({ request: { ...request, responseFormat: undefined } });
}
