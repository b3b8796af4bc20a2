import { ValidationError } from "../../../contracts/errors.js";
import {
  preview,
  requireDuration,
  requireFunction,
  requireInteger,
} from "../../../contracts/validation.js";
import type { FetchFunction } from "./strict-fetch.js";
import { isObject } from "../../../util/objects.js";

/** Options for the API of a vendor, or of another server with a compatible API. */
export interface ProviderOptions {
  /**
   * API key. Default: the vendor's environment variable (OPENAI_API_KEY, ANTHROPIC_API_KEY), read
   * at the first call. Optional for a server of another vendor.
   */
  readonly apiKey?: string | undefined;
  /**
   * URL of the API. Default: the vendor's environment variable (OPENAI_BASE_URL,
   * ANTHROPIC_BASE_URL), or else the URL of the vendor.
   */
  readonly baseURL?: string | undefined;
  /**
   * Time limit of a whole call in milliseconds, including the streamed response. Default 600,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Limit of the idle time in milliseconds, before the response begins and between its parts. Raise
   * the limit for models that reason for a long time before they respond. Default 60,000.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Limit of the size of a response in bytes, after decompression. Default 16,777,216. */
  readonly maxResponseBytes?: number | undefined;
  /** Headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A function used in place of the platform's `fetch`, for proxies and tests. */
  readonly fetch?: FetchFunction | undefined;
}

/**
 * The validated options with defaults. Missing values are read from the environment at the first
 * call.
 */
export interface ResolvedProviderOptions {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxResponseBytes: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchFunction | undefined;
}

/** The names of the options common to all vendors. */
export const PROVIDER_OPTIONS = [
  "apiKey",
  "baseURL",
  "timeoutMs",
  "idleTimeoutMs",
  "maxResponseBytes",
  "headers",
  "fetch",
] as const;

const DEFAULTS = Object.freeze({
  timeoutMs: 600_000,
  idleTimeoutMs: 60_000,
  maxResponseBytes: 16 * 1024 * 1024,
});

/**
 * Returns the reason why `value` is not a valid key, or `undefined` if it is valid. The reason
 * never contains the value.
 */
export function keyProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be a string, got: ${typeof value}`;
  if (value.trim() === "") return "must not be blank";
  return /^[\x21-\x7e]+$/.test(value.trim())
    ? undefined
    : "must consist of printable ASCII characters without spaces";
}

/**
 * Returns the reason why `value` is not a valid URL of an API, or `undefined` if it is valid. The
 * reason never contains credentials or query strings.
 */
export function baseURLProblem(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) {
    const shown = typeof value === "string" && value.includes("@") ? "(not shown)" : preview(value);
    return `must be an absolute URL such as http://localhost:11434/v1, got: ${shown}`;
  }
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `must start with http:// or https://, got: ${url.protocol}`;
  if (url.username !== "" || url.password !== "")
    return "must not contain credentials; pass them as apiKey or in headers";
  if (url.search !== "" || url.hash !== "")
    return "must not contain a query or fragment; pass keys as apiKey or in headers";
  return undefined;
}

function checkHeaders(what: string, headers: unknown): void {
  if (headers === undefined) return;
  if (!isObject(headers)) {
    throw new ValidationError(
      `${what} headers must be an object of strings, got: ${typeof headers}`,
    );
  }
  for (const [name, value] of Object.entries(headers)) {
    try {
      if (typeof value !== "string") throw new TypeError("not a string");
      new Headers([[name, value]]);
    } catch {
      // The platform's message contains the value, which may be a secret.
      throw new ValidationError(`${what} header '${preview(name)}' is not a valid HTTP header`, {
        hint: "Names are tokens; values are strings without line breaks.",
      });
    }
  }
}

/**
 * Validates the options common to all vendors and applies the defaults. `what` is the name of the
 * called function.
 *
 * @throws ValidationError for a blank key, an invalid URL, an invalid header or an invalid limit.
 */
export function resolveProviderOptions(
  what: string,
  options: ProviderOptions,
): ResolvedProviderOptions {
  const { apiKey, baseURL, timeoutMs, idleTimeoutMs, maxResponseBytes, headers, fetch } = options;
  const badKey = apiKey === undefined ? undefined : keyProblem(apiKey);
  if (badKey !== undefined)
    throw new ValidationError(`${what} apiKey ${badKey}`, {
      hint: "Leave it out to use the environment variable.",
    });
  const badURL = baseURL === undefined ? undefined : baseURLProblem(baseURL);
  if (badURL !== undefined) throw new ValidationError(`${what} baseURL ${badURL}`);
  requireDuration(`${what} timeoutMs`, timeoutMs);
  requireDuration(`${what} idleTimeoutMs`, idleTimeoutMs);
  requireInteger(`${what} maxResponseBytes`, maxResponseBytes, 1);
  requireFunction(`${what} fetch`, fetch);
  checkHeaders(what, headers);
  return Object.freeze({
    apiKey: apiKey?.trim(),
    baseURL,
    timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
    idleTimeoutMs: idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
    maxResponseBytes: maxResponseBytes ?? DEFAULTS.maxResponseBytes,
    headers: Object.freeze({ ...headers }),
    fetch,
  });
}
