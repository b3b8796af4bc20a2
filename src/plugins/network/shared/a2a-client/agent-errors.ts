import type { Fields } from "../../../../util/objects.js";
import { NetworkError } from "../../../../contracts/network-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { asFields, asList } from "../../../../util/objects.js";
import { AgentAwayError } from "./agent-traffic.js";

const NAMES: ReadonlySet<unknown> = new Set([
  ...["TaskNotFoundError", "TaskNotCancelableError", "UnsupportedOperationError"],
  ...["RequestMalformedError", "VersionNotSupportedError", "ContentTypeNotSupportedError"],
  ...["ExtensionSupportRequiredError", "InvalidAgentResponseError", "JsonRpcTransportError"],
]);

/** An error that an agent returned. */
export interface AgentRefusal {
  readonly name: string;
  readonly message: string;
  /** Details of this framework. */
  readonly details: Fields;
}

/** Returns the answer in an error of the SDK; `undefined` for other errors. */
export function agentRefusalOf(error: unknown): AgentRefusal | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!NAMES.has(error.name))
    return error.cause === undefined ? undefined : agentRefusalOf(error.cause);
  const { data } = error as { readonly data?: unknown }; // of the SDK
  const details = asList(data).map((one) => asFields(asFields(one)?.["metadata"]));
  return { name: error.name, message: error.message, details: details[0] ?? {} };
}

/**
 * Returns the error for a caller: one of this framework, without content controlled by the agent.
 */
export function networkErrorOf(error: unknown, origin: string): NetworkError {
  if (error instanceof NetworkError) return error;
  const message = (agentRefusalOf(error)?.message ?? messageOf(error)).slice(0, 500);
  return new NetworkError(`The agent at ${origin} failed: ${message}`, { cause: error });
}

/** Returns an error after which a request may be repeated; `undefined` for a permanent one. */
export function awayErrorOf(error: unknown, origin: string): AgentAwayError | undefined {
  if (error instanceof AgentAwayError) return error;
  if (error instanceof NetworkError || agentRefusalOf(error) !== undefined) return undefined;
  // A broken stream, or an invalid answer.
  return new AgentAwayError(`The connection to the agent at ${origin} broke: ${messageOf(error)}`, {
    cause: error,
    isUnsent: false,
  });
}
