import type { A2aSettings } from "./a2a-options.js";
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

/** Returns the answer in an error of the SDK. Returns `undefined` for other errors. */
export function agentRefusalOf(error: unknown): AgentRefusal | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!NAMES.has(error.name))
    return error.cause === undefined ? undefined : agentRefusalOf(error.cause);
  const { data } = error as { readonly data?: unknown }; // of the SDK
  const details = asList(data).map((one) => asFields(asFields(one)?.["metadata"]));
  return { name: error.name, message: error.message, details: details[0] ?? {} };
}

/** An agent, and how to remove its token from a text. */
type ErrorPlace = Pick<A2aSettings, "origin" | "redact">;

/**
 * Returns the error for a caller. It is an error of this framework, without content that the agent
 * controls.
 */
export function networkErrorOf(error: unknown, { origin, redact }: ErrorPlace): NetworkError {
  if (error instanceof NetworkError) return error;
  const message = redact(agentRefusalOf(error)?.message ?? messageOf(error)).slice(0, 500);
  return new NetworkError(
    `The agent at ${origin} failed: ${message}`,
    harmlessCause(error, redact),
  );
}

/**
 * Returns an error after which a request may be repeated. Returns `undefined` for a permanent
 * error.
 */
export function awayErrorOf(
  error: unknown,
  { origin, redact }: ErrorPlace,
): AgentAwayError | undefined {
  if (error instanceof AgentAwayError) return error;
  if (error instanceof NetworkError || agentRefusalOf(error) !== undefined) return undefined;
  // A broken stream, or an invalid answer.
  const message = redact(messageOf(error));
  return new AgentAwayError(`The connection to the agent at ${origin} broke: ${message}`, {
    ...harmlessCause(error, redact),
    isUnsent: false,
  });
}

/** Returns the cause of an error, unless it repeats the token. */
function harmlessCause(error: unknown, redact: ErrorPlace["redact"]): { readonly cause?: unknown } {
  for (let e = error; e instanceof Error; e = e.cause) {
    const { data } = e as { readonly data?: unknown }; // of the SDK
    const text = `${e.stack ?? ""} ${e.message} ${JSON.stringify(data) ?? ""}`;
    if (redact(text) !== text) return {};
  }
  return { cause: error };
}
