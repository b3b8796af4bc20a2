import { ValidationError } from "../../../contracts/errors.js";
import {
  preview,
  requireDuration,
  requireFunction,
  requireInteger,
} from "../../../contracts/validation.js";
import type { FetchFunction } from "./strict-fetch.js";
import { isObject } from "../../../util/objects.js";

/** How to reach a vendor, or another server that speaks its language. */
export interface ProviderOptions {
  /** Default: the vendor's environment variable (OPENAI_API_KEY, ANTHROPIC_API_KEY), read at the first call. A server other than the vendor's may do without. */
  readonly apiKey?: string | undefined;
  /** Where the API is. Default: the vendor's environment variable (OPENAI_BASE_URL, ANTHROPIC_BASE_URL), else its own address. */
  readonly baseURL?: string | undefined;
  /** Time for a whole call in milliseconds, the streamed answer included. Default 600000. */
  readonly timeoutMs?: number | undefined;
  /** The longest silence in milliseconds: before the answer begins, and within it. Default 60000; raise it for models that think long before they answer. */
  readonly idleTimeoutMs?: number | undefined;
  /** The largest answer that is read, in bytes after decompression. Default 16777216. */
  readonly maxResponseBytes?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Used instead of the platform's fetch: for proxies and tests. */
  readonly fetch?: FetchFunction | undefined;
}

/** The options once checked, with defaults applied; what is still open is read from the environment at the first call. */
export interface ResolvedProviderOptions {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxResponseBytes: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchFunction | undefined;
}

/** The names of the options that all vendors have. */
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

/** Why `value` cannot be a key, or `undefined` when it can. Never shows the value. */
export function keyProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be a string, got: ${typeof value}`;
  if (value.trim() === "") return "must not be blank";
  return /^[\x21-\x7e]+$/.test(value.trim())
    ? undefined
    : "must consist of printable ASCII characters without spaces";
}

/** Why `value` cannot be the address of an API, or `undefined` when it can. Does not repeat credentials or query strings. */
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
      // The platform's message would show the value, which may be a secret.
      throw new ValidationError(`${what} header '${preview(name)}' is not a valid HTTP header`, {
        hint: "Names are tokens; values are strings without line breaks.",
      });
    }
  }
}

/**
 * Checks the options that all vendors have, and applies the defaults. `what` names the function that was called.
 * @throws ValidationError for a blank key, an address that is no URL, a header that cannot be sent, a limit that is none.
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
