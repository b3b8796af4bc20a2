import type { HttpRoute, Principal } from "../../contracts/http-route.js";
import type { Awaitable } from "../../contracts/types.js";
import { NetworkError } from "../../contracts/network-errors.js";
import { PRIVATE_HEADERS } from "../../plugins/http/answers.js";
import { HttpRefusal } from "../../plugins/shared/http/http-refusal.js";

/** Seconds after which a client may repeat a request to a service that currently accepts none. */
const RETRY_S = 5;

/** Answers a request. A thrown refusal is sent to the client. */
type Handle = (request: Request, principal: Principal | undefined) => Awaitable<Response>;

export function route(
  method: HttpRoute["method"],
  path: string,
  role: HttpRoute["role"],
  handle: Handle,
): HttpRoute {
  return Object.freeze({
    method,
    path,
    role,
    handle: async (request: Request, principal: Principal | undefined) => {
      try {
        return await handle(request, principal);
      } catch (error) {
        if (NetworkError.isInstance(error))
          return refusalJson(
            notNow(503, "UNAVAILABLE", "The storage of requests can't be reached"),
          );
        if (error instanceof HttpRefusal) return refusalJson(error);
        throw error;
      }
    },
  });
}

/** Returns an answer that caches must not keep. */
export function privateAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { ...PRIVATE_HEADERS, ...headers } });
}

/** Returns a refusal. The same request may be accepted later. */
export function notNow(
  status: 429 | 503,
  code: string,
  message: string,
  retryS: number = RETRY_S,
): HttpRefusal {
  return new HttpRefusal(status, code, message, { headers: { "Retry-After": String(retryS) } });
}

/** The form of all refusals of the listener. */
function refusalJson({ status, code, message, extra }: HttpRefusal): Response {
  return privateAnswer(status, { error: code, message }, extra.headers);
}
