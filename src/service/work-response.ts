import type { WorkReason, WorkRequest, WorkResponse } from "../contracts/network.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { ServiceSettings } from "./service-settings.js";
import type { WorkOutput } from "./shared-work.js";
import { PromptTemplateError, ValidationError } from "../contracts/errors.js";
import { WORK_VERSION } from "../contracts/network.js";
import { BudgetExceededError } from "../contracts/state-errors.js";
import { failureText } from "../plugins/shared/offers/run-result.js";
import { foreignUsageOf } from "./foreign-usage.js";

/** The common fields of all responses of one delivery. */
export interface ResponseOrigin {
  readonly request: Pick<WorkRequest, "requestId">;
  readonly attempt: number;
  readonly durationMs: number;
  readonly settings: ServiceSettings;
}

/** The reason why a request has no output. */
export interface WorkFailure {
  readonly status: "FAILED" | "REJECTED" | "CANCELLED";
  readonly reason: WorkReason;
  readonly error: string;
}

export function failureResponse(
  { request, attempt, durationMs, settings }: ResponseOrigin,
  { status, reason, error }: WorkFailure,
  output?: EnsembleOutput,
): WorkResponse {
  return {
    ...responseUsage(output, settings),
    v: WORK_VERSION,
    requestId: request.requestId,
    status,
    reason,
    error,
    durationMs: Math.round(durationMs),
    attempt,
    servedBy: settings.instance,
  };
}

export function completedResponse(origin: ResponseOrigin, work: WorkOutput): WorkResponse {
  const { request, attempt, durationMs, settings } = origin;
  const parsed = work.parsed === work.raw ? undefined : jsonValue(work.parsed);
  return {
    ...responseUsage(work.output, settings),
    v: WORK_VERSION,
    requestId: request.requestId,
    status: "COMPLETED",
    result: work.raw,
    ...(parsed !== undefined && { parsed }),
    durationMs: Math.round(durationMs),
    attempt,
    servedBy: settings.instance,
  };
}

/** Describes the error of a run to the caller, without secrets. */
export function failureOf(error: unknown): WorkFailure {
  const text = failureText(error);
  if (BudgetExceededError.find(error) !== undefined)
    return { status: "FAILED", reason: "BUDGET", error: text };
  return isInvalidInput(error)
    ? { status: "REJECTED", reason: "INVALID_INPUT", error: text }
    : { status: "FAILED", reason: "RUN_FAILED", error: text };
}

/** Returns whether a run was refused because of its inputs, before any spending. */
function isInvalidInput(error: unknown): boolean {
  if (PromptTemplateError.isInstance(error)) return true;
  return ValidationError.isInstance(error) && error.about === "inputs";
}

/** Maximum size of an error in a cut response, in bytes. */
const MOST_ERROR_BYTES = 10_000;

/**
 * Returns the response within the limit of the service. Omits `parsed`, and `usage` if it is larger
 * than half of the limit. Cuts `error` and `result`.
 */
export function limitedResponse(response: WorkResponse, maxBytes: number): WorkResponse {
  if (jsonBytes(response) <= maxBytes) return response;
  const { parsed: _, result, usage, error, ...rest } = response;
  const keepsUsage = usage !== undefined && jsonBytes(usage) <= maxBytes / 2;
  const cut: WorkResponse = {
    ...rest,
    truncated: true,
    ...(keepsUsage && { usage }),
    ...(error !== undefined && { error: longestWithin(error, MOST_ERROR_BYTES) }),
  };
  if (result === undefined) return cut;
  const room = Math.max(0, maxBytes - jsonBytes({ ...cut, result: "" }));
  return { ...cut, result: longestWithin(result, room) };
}

/** Returns the response to a request whose result the store refuses. */
export function unstoredResponse(response: WorkResponse, error: unknown): WorkResponse {
  const { v, requestId, durationMs, attempt, servedBy, usage } = response;
  return limitedResponse(
    {
      ...{ v, requestId, durationMs, attempt, servedBy, usage },
      status: "FAILED",
      reason: "RUN_FAILED",
      error: `The result could not be stored: ${failureText(error)}`,
    },
    2 * MOST_ERROR_BYTES,
  );
}

/**
 * Number of characters that are measured together. A long text must not be converted to JSON many
 * times.
 */
const STEP = 65_536;

/**
 * Returns the longest prefix of a text whose JSON has at most `bytes` bytes, without its quotes.
 */
function longestWithin(text: string, bytes: number): string {
  let end = 0;
  for (let left = bytes; end < text.length;) {
    const next = wholeUntil(text, Math.min(text.length, end + STEP));
    const size = jsonBytes(text.slice(end, next)) - 2;
    if (size > left) return text.slice(0, longestEnd(text, end, left));
    left -= size;
    end = next;
  }
  return text;
}

/**
 * Returns the end of the longest part of a text from `start` whose JSON has at most `bytes` bytes.
 */
function longestEnd(text: string, start: number, bytes: number): number {
  let low = start;
  let high = Math.min(text.length, start + STEP);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (jsonBytes(text.slice(start, middle)) - 2 <= bytes) low = middle;
    else high = middle - 1;
  }
  return wholeUntil(text, low);
}

/** Returns `end`, or an earlier position if it would split a character. */
function wholeUntil(text: string, end: number): number {
  if (end === text.length) return end;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}

/** Returns the number of bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

function responseUsage(
  output: EnsembleOutput | undefined,
  { name }: ServiceSettings,
): Pick<WorkResponse, "usage"> {
  const usage = foreignUsageOf(output?.metrics.ledger ?? [], name);
  return usage.length === 0 ? {} : { usage };
}

/** Returns the value as JSON data. Returns `undefined` for a value without JSON. */
function jsonValue(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // the text is sufficient
  }
}
