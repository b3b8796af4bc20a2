import type { FetchRequest } from "./safe-fetch-exchange.js";
import { AccessDeniedError, FetchError } from "../../../contracts/state-errors.js";
import { shownUrl } from "./shown-url.js";

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that any server may receive. All other headers of a caller may be secrets. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
]);
const BODY_HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "content-language",
  "content-encoding",
]);

function withoutHeaders(
  headers: ReadonlyMap<string, string>,
  isDropped: (name: string) => boolean,
): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => !isDropped(name)));
}

/**
 * Whether a redirect changes the method to GET. As in browsers: 303 does, and so do 301 and 302
 * after a POST.
 */
function becomesGet(status: number, method: string): boolean {
  return (
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST")
  );
}

/**
 * Returns the request of a redirect; `undefined` for any other response.
 * @throws AccessDeniedError for a redirect from https to http, or of a body to another origin;
 * FetchError for an invalid target.
 */
export function redirected(
  request: FetchRequest,
  status: number,
  location: string | undefined,
): FetchRequest | undefined {
  if (location === undefined || !REDIRECTS.has(status)) return undefined;
  const from = request.url;
  if (!URL.canParse(location, from.href))
    throw new FetchError(`Could not fetch ${shownUrl(from)}: it redirects to no valid address`, {
      reason: "redirect",
    });
  const url = new URL(location, from);
  if (from.protocol === "https:" && url.protocol === "http:")
    throw redirectDenied(from, url, "it leads from https to http");
  const asGet = becomesGet(status, request.method);
  const next = asGet
    ? {
        ...request,
        url,
        method: "GET",
        body: undefined,
        headers: withoutHeaders(request.headers, (name) => BODY_HEADERS.has(name)),
      }
    : { ...request, url };
  if (url.origin === from.origin) return next;
  if (next.body !== undefined)
    throw redirectDenied(from, url, "it would send the request's body to another server");
  return { ...next, headers: withoutHeaders(next.headers, (name) => !HARMLESS_HEADERS.has(name)) };
}

function redirectDenied(from: URL, to: URL, reason: string): AccessDeniedError {
  return new AccessDeniedError(
    `The redirect of ${shownUrl(from)} to ${shownUrl(to)} is not followed: ${reason}`,
  );
}
