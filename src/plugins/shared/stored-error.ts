import type { ModelErrorCode } from "../../contracts/model-error-code.js";
import {
  AgentEnsembleError,
  ExitEarlySignal,
  ModelCallError,
  RateLimitTimeoutError,
  TaskTimeoutError,
  ToolConfigurationError,
} from "../../contracts/errors.js";
import { BudgetExceededError } from "../../contracts/state-errors.js";
import { RateLimit } from "../../contracts/rate-limit.js";
import { messageOf, toError } from "../../util/errors.js";

/** An error as data. `kind` names its class and determines the fields. */
export interface StoredError {
  readonly kind:
    "model" | "rateLimit" | "timeout" | "budget" | "configuration" | "exit" | "framework" | "other";
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
  readonly cause?: { readonly name: string; readonly message: string } | undefined;
  readonly provider?: string | undefined;
  readonly modelId?: string | undefined;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly partialText?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly timedOut?: boolean | undefined;
  /** The budget option whose limit was exceeded. */
  readonly exceeded?: string | undefined;
  readonly limit?:
    | {
        readonly requests: number;
        readonly periodMs: number;
        readonly waitTimeoutMs: number;
        readonly tokens?: number | undefined;
      }
    | undefined;
}

export const ERROR_KINDS: readonly string[] = Object.freeze([
  "model",
  "rateLimit",
  "timeout",
  "budget",
  "configuration",
  "exit",
  "framework",
  "other",
]);

const TIMEOUT_MESSAGE = / did not finish within \d+(\.\d+)? ms$/;

/** Returns the stored form of an error, with all fields that determine the reaction of a run. */
export function storeError(thrown: unknown): StoredError {
  const error = toError(thrown);
  const base = {
    name: error.name,
    message: messageOf(error),
    ...(error.cause instanceof Error && {
      cause: { name: error.cause.name, message: messageOf(error.cause) },
    }),
    ...(AgentEnsembleError.isInstance(error) && { code: error.code, hint: error.hint }),
  };
  if (ModelCallError.isInstance(error)) {
    const { provider, modelId, status, retryable, retryAfterMs, partialText } = error;
    return {
      kind: "model",
      ...base,
      provider,
      modelId,
      status,
      retryable,
      retryAfterMs,
      partialText,
    };
  }
  if (RateLimitTimeoutError.isInstance(error))
    return { kind: "rateLimit", ...base, limit: { ...error.rateLimit } };
  if (TaskTimeoutError.isInstance(error))
    return { kind: "timeout", ...base, timeoutMs: error.timeoutMs };
  if (BudgetExceededError.isInstance(error))
    return { kind: "budget", ...base, exceeded: error.limit };
  if (ToolConfigurationError.isInstance(error)) return { kind: "configuration", ...base };
  if (ExitEarlySignal.isInstance(error)) return { kind: "exit", ...base, timedOut: error.timedOut };
  return { kind: AgentEnsembleError.isInstance(error) ? "framework" : "other", ...base };
}

/** Restores an error. */
export function restoreError(stored: StoredError): Error {
  const { message, hint, name } = stored;
  const cause =
    stored.cause === undefined
      ? undefined
      : withName(new Error(stored.cause.message), stored.cause.name);
  const details = { ...(cause !== undefined && { cause }), hint };
  switch (stored.kind) {
    case "model":
      return modelError(stored, details);
    case "rateLimit":
      return limitError(stored);
    case "timeout":
      return new TaskTimeoutError(message.replace(TIMEOUT_MESSAGE, ""), stored.timeoutMs ?? 0);
    case "budget":
      return new BudgetExceededError(message, stored.exceeded ?? "", details);
    case "configuration":
      return new ToolConfigurationError(message, details);
    case "exit":
      return new ExitEarlySignal(message, { timedOut: stored.timedOut });
    case "framework":
      return withName(
        new AgentEnsembleError(stored.code ?? "AE_TOOL_EXECUTION", message, details),
        name,
      );
    case "other":
      return withName(new Error(message, cause === undefined ? undefined : { cause }), name);
  }
}

function limitError({ limit, message }: StoredError): Error {
  if (limit === undefined) return new Error(message);
  const { requests, periodMs, waitTimeoutMs, tokens } = limit;
  return new RateLimitTimeoutError(
    RateLimit.of(requests, periodMs).with({ waitTimeoutMs, tokens }),
    waitTimeoutMs,
  );
}

function modelError(
  stored: StoredError,
  details: { readonly cause?: unknown; readonly hint: string | undefined },
): ModelCallError {
  const {
    provider = "",
    modelId = "",
    code,
    status,
    retryable,
    retryAfterMs,
    partialText,
  } = stored;
  return new ModelCallError(
    stored.message,
    {
      provider,
      modelId,
      code: (code ?? "AE_MODEL_CALL") as ModelErrorCode, // written by storeError from an error of this class
      status,
      retryable: retryable === true,
      retryAfterMs,
      partialText,
    },
    details,
  );
}

function withName<E extends Error>(error: E, name: string): E {
  if (error.name !== name)
    Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  return error;
}
