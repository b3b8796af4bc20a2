import type { LlmCall, Replace } from "../../../contracts/hooks.js";
import type { FallbackChain } from "../shared/fallback-chain.js";
import { replace } from "../../../contracts/hooks.js";
import { withoutResponseFormat } from "../shared/without-response-format.js";

/** Adapts a request for the first model to the fallback model. */
export function fittingRequest(
  { model, request }: LlmCall,
  chain: FallbackChain,
): Replace<Partial<Pick<LlmCall, "request">>> | undefined {
  if (request.responseFormat === undefined || !chain.has(model)) return undefined;
  const fitting = withoutResponseFormat(request, model);
  return fitting === request ? undefined : replace({ request: fitting });
}
