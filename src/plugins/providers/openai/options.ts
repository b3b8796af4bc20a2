import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireDuration, requireFunction } from "../../../contracts/validation.js";
import type { FetchFunction } from "../shared/strict-fetch.js";

/** How to reach OpenAI, or another server that speaks Chat Completions (Ollama, vLLM, LM Studio, ...). */
export interface OpenAIOptions {
  /** Default: the environment variable OPENAI_API_KEY, read at the first call. A server other than OpenAI's may do without. */
  readonly apiKey?: string | undefined;
  /** Where the API is, usually ending in `/v1`. Default: OPENAI_BASE_URL, else OpenAI's own. */
  readonly baseURL?: string | undefined;
  /** Time for a whole call in milliseconds, the streamed answer included. Default 600000. */
  readonly timeoutMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Used instead of the platform's fetch: for proxies and tests. */
  readonly fetch?: FetchFunction | undefined;
}

/** The options once checked, with defaults applied; what is still open is read from the environment at the first call. */
export interface ResolvedOpenAIOptions {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchFunction | undefined;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const KNOWN_OPTIONS = ["apiKey", "baseURL", "timeoutMs", "headers", "fetch"] as const;

/** Why `value` cannot be a key, or `undefined` when it can. Never shows the value. */
export function keyProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be a string, got: ${typeof value}`;
  if (value.trim() === "") return "must not be blank";
  return /^[\x21-\x7e]+$/.test(value.trim()) ? undefined : "must consist of printable ASCII characters without spaces";
}

/** Why `value` cannot be the address of an API, or `undefined` when it can. Does not repeat credentials or query strings. */
export function baseURLProblem(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) {
    const shown = typeof value === "string" && value.includes("@") ? "(not shown)" : preview(value);
    return `must be an absolute URL such as http://localhost:11434/v1, got: ${shown}`;
  }
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") return `must start with http:// or https://, got: ${url.protocol}`;
  if (url.username !== "" || url.password !== "") return "must not contain credentials; pass them as apiKey or in headers";
  if (url.search !== "" || url.hash !== "") return "must not contain a query or fragment; pass keys as apiKey or in headers";
  return undefined;
}

function checkHeaders(headers: unknown): void {
  if (headers === undefined) return;
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    throw new ValidationError(`openai() headers must be an object of strings, got: ${typeof headers}`);
  }
  for (const [name, value] of Object.entries(headers)) {
    try {
      if (typeof value !== "string") throw new TypeError("not a string");
      new Headers([[name, value]]);
    } catch {
      // The platform's message would show the value, which may be a secret.
      throw new ValidationError(`openai() header '${preview(name)}' is not a valid HTTP header`, {
        hint: "Names are tokens; values are strings without line breaks.",
      });
    }
  }
}

/**
 * Checks the options and applies the defaults.
 * @throws ValidationError for an unknown option, a blank key, an address that is no URL, a header that cannot be sent.
 */
export function resolveOpenAIOptions(options: OpenAIOptions): ResolvedOpenAIOptions {
  checkOptions("openai()", options, KNOWN_OPTIONS);
  const { apiKey, baseURL, timeoutMs, headers, fetch } = options;
  const badKey = apiKey === undefined ? undefined : keyProblem(apiKey);
  if (badKey !== undefined) throw new ValidationError(`openai() apiKey ${badKey}`, { hint: "Leave it out to use OPENAI_API_KEY." });
  const badURL = baseURL === undefined ? undefined : baseURLProblem(baseURL);
  if (badURL !== undefined) throw new ValidationError(`openai() baseURL ${badURL}`);
  requireDuration("openai() timeoutMs", timeoutMs);
  requireFunction("openai() fetch", fetch);
  checkHeaders(headers);
  return Object.freeze({
    apiKey: apiKey?.trim(),
    baseURL,
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    headers: Object.freeze({ ...headers }),
    fetch,
  });
}
