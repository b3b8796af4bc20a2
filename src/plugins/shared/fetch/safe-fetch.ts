import type { FetchRequest } from "./safe-fetch-exchange.js";
import type { SafeFetchOptions, SafeFetchSettings } from "./safe-fetch-options.js";
import type { IncomingMessage } from "node:http";
import { ValidationError } from "../../../contracts/errors.js";
import { FetchError } from "../../../contracts/state-errors.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { readBody } from "./safe-fetch-body.js";
import { connectionError, sendRequest } from "./safe-fetch-exchange.js";
import { checkFetchHeaders, resolveSafeFetchOptions } from "./safe-fetch-options.js";
import { redirected } from "./safe-fetch-redirect.js";
import { parseUrl, AddressPolicy } from "./address-policy.js";
import { mediaType, SafeResponse } from "./safe-response.js";
import { shownUrl } from "./shown-url.js";

/** One request of a function created by {@link safeFetch}. */
export interface SafeRequestInit {
  /** Default `GET`. */
  readonly method?: string | undefined;
  /** Added to the headers of {@link SafeFetchOptions}. A header given here has precedence. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** Aborts the request with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches a URL that may come from a model.
 * @throws AccessDeniedError for a target that is not allowed; FetchError for a failure;
 * ValidationError for an invalid URL; the reason of the signal after an abort.
 */
export type SafeFetch = (url: string | URL, init?: SafeRequestInit) => Promise<SafeResponse>;

/**
 * Creates a `fetch` for tools whose URLs come from models. It connects only to public addresses and
 * to targets in `allow`. It checks all addresses of a host, then connects to one of these
 * addresses. A later change of the host's addresses has no effect. Each redirect is checked again
 * and sends no credentials to another origin. Time, size and decompression are limited. Proxies in
 * environment variables are not used.
 *
 * @example
 * const fetchPage = safeFetch({ contentTypes: ["text/html"], timeoutMs: 5_000 });
 * const page = await fetchPage(url, { signal });
 * @throws ValidationError for an unknown option or an invalid value.
 */
export function safeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const settings = resolveSafeFetchOptions("safeFetch", options);
  const rules = new AddressPolicy(settings);
  return async (url, init = {}) => {
    const request = requestOf(url, init, settings);
    const late = (): never => {
      throw new FetchError(
        `Could not fetch ${shownUrl(request.url)}: it took longer than ${settings.timeoutMs} ms`,
        { reason: "timeout" },
      );
    };
    return withTimeout((signal) => followRedirects(request, rules, settings, signal), {
      ms: settings.timeoutMs,
      late,
      signal: init.signal,
    });
  };
}

function requestOf(
  url: string | URL,
  init: SafeRequestInit,
  settings: SafeFetchSettings,
): FetchRequest {
  checkOptions("safeFetch request", init, ["method", "headers", "body", "signal"]);
  const { method = "GET", body, signal } = init;
  if (
    typeof method !== "string" ||
    !/^[A-Za-z]{1,20}$/.test(method) ||
    /^(CONNECT|TRACE)$/i.test(method)
  ) {
    throw new ValidationError(
      `safeFetch request method must be one such as GET or POST, got: ${preview(method)}`,
    );
  }
  if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new ValidationError(
      `safeFetch request body must be a text or bytes, got: ${typeof body}`,
    );
  }
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new ValidationError(
      `safeFetch request signal must be an AbortSignal, got: ${preview(signal)}`,
    );
  return {
    url: parseUrl(url),
    method: method.toUpperCase(),
    headers: new Map([
      ...settings.headers,
      ...checkFetchHeaders("safeFetch request headers", init.headers),
    ]),
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  };
}

async function followRedirects(
  first: FetchRequest,
  rules: AddressPolicy,
  settings: SafeFetchSettings,
  signal: AbortSignal,
): Promise<SafeResponse> {
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const result = await step(request, rules, settings, signal);
    if (result instanceof SafeResponse) return result;
    if (redirects >= settings.maxRedirects) {
      throw new FetchError(
        `Could not fetch ${shownUrl(first.url)}: there are more than ${settings.maxRedirects} redirects`,
        { reason: "redirect" },
      );
    }
    request = result;
  }
}

/** Sends one request. Returns the response, or the request that it redirects to. */
async function step(
  request: FetchRequest,
  rules: AddressPolicy,
  settings: SafeFetchSettings,
  signal: AbortSignal,
): Promise<SafeResponse | FetchRequest> {
  const target = await rules.resolve(request.url, signal);
  const { answer, close } = await sendRequest(request, target, settings, signal);
  try {
    const next = settings.follows
      ? redirected(request, answer.statusCode ?? 0, answer.headers.location)
      : undefined;
    return next ?? (await responseOf(request, answer, settings));
  } catch (error) {
    throw connectionError(request.url, error, signal);
  } finally {
    close();
  }
}

async function responseOf(
  { url, method }: FetchRequest,
  answer: IncomingMessage,
  settings: SafeFetchSettings,
): Promise<SafeResponse> {
  const headers = new Map(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  const status = answer.statusCode ?? 0;
  const isError = status < 200 || status > 299; // an error's body is only for the message
  if (!isError)
    checkContentType(url, mediaType(headers.get("content-type")), settings.contentTypes);
  // such responses have no body, even if their headers declare one
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  return new SafeResponse(
    url,
    status,
    headers,
    hasBody ? await readBody(url, answer, settings) : NO_BODY,
  );
}

const NO_BODY = Object.freeze({ bytes: new Uint8Array(), truncated: false });

function checkContentType(url: URL, type: string, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || allowed.some((pattern) => fits(type, pattern))) return;
  const told =
    type === ""
      ? "the response has no content type"
      : `the answer is of the type '${type.slice(0, 100)}'`;
  throw new FetchError(
    `Could not fetch ${shownUrl(url)}: ${told}, and only ${allowed.join(", ")} can be read`,
    { reason: "content_type" },
  );
}

function fits(type: string, pattern: string): boolean {
  const [main = "", sub = ""] = type.split("/", 2);
  const [wantedMain = "", wantedSub = ""] = pattern.split("/", 2);
  return main !== "" && fitsPart(main, wantedMain) && fitsPart(sub, wantedSub);
}

/** `*` matches any part of a name. */
function fitsPart(part: string, pattern: string): boolean {
  const [before = "", after] = pattern.split("*", 2);
  if (after === undefined) return part === pattern;
  return (
    part.length >= before.length + after.length && part.startsWith(before) && part.endsWith(after)
  );
}
