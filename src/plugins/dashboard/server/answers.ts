import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { HttpRoute, Principal } from "../../../contracts/http-route.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { ErrorBody } from "../protocol/http-bodies.js";
import { ValidationError } from "../../../contracts/errors.js";
import { RunStoreError } from "../../../contracts/state-errors.js";
import { badRequest, HttpRefusal } from "../../shared/http/http-refusal.js";
import { acceptsGzip } from "./page-files.js";

/** Minimum length of a compressed answer in characters. */
const SMALL = 1_024;

/** A request that the user may make. */
export interface BoardExchange {
  readonly request: Request;
  readonly principal: Principal;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** A route whose refusals have the form `{ error, message, hint? }`. `role` is never `public`. */
export function boardRoute(
  method: HttpRoute["method"],
  path: string,
  role: Exclude<HttpRoute["role"], "public">,
  answer: (exchange: BoardExchange) => Awaitable<Response>,
): HttpRoute {
  return {
    method,
    path,
    role,
    async handle(request, principal, parameters) {
      if (principal === undefined)
        return refusalAnswer(new HttpRefusal(401, "UNAUTHORIZED", "Unauthorized"));
      const query = new URL(request.url).searchParams;
      try {
        return await answer({ request, principal, parameters, query });
      } catch (error) {
        if (error instanceof HttpRefusal) return refusalAnswer(error);
        if (ValidationError.isInstance(error))
          return refusalAnswer(badRequest(error.message), error.hint);
        if (RunStoreError.isInstance(error)) return refusalAnswer(storeRefusal(error), error.hint);
        throw error;
      }
    },
  };
}

/** Returns the refusal for a failure of a store of runs. */
function storeRefusal({ isReadOnly, message }: RunStoreError): HttpRefusal {
  return isReadOnly
    ? new HttpRefusal(409, "READ_ONLY", message)
    : new HttpRefusal(503, "STORE_UNAVAILABLE", message, { headers: { "Retry-After": "5" } });
}

function refusalAnswer(refusal: HttpRefusal, hint?: string): Response {
  const { status, code, message, extra } = refusal;
  const body: ErrorBody = {
    ...extra.fields,
    error: code,
    message,
    ...(hint !== undefined && { hint }),
  };
  return Response.json(body, { status, ...(extra.headers && { headers: extra.headers }) });
}

/** Returns JSON text as an answer, compressed if it is large and the client accepts that. */
export function boardJson(
  text: string,
  request: Request,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return boardText(text, request, { "Content-Type": "application/json", ...headers });
}

/** Like `boardJson`, for any text. */
export async function boardText(
  text: string,
  request: Request,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const isPacked = text.length >= SMALL && acceptsGzip(request);
  return new Response(isPacked ? Buffer.from(await promisify(gzip)(text)) : text, {
    headers: {
      Vary: "Accept-Encoding",
      ...(isPacked && { "Content-Encoding": "gzip" }),
      ...headers,
    },
  });
}

/** Returns an integer of the query. @throws HttpRefusal 400 */
export function countIn(
  query: URLSearchParams,
  name: string,
  o: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  const text = query.get(name);
  if (text === null) return o.otherwise;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= o.least && value <= o.most) return value;
  throw badRequest(`${name} must be a whole number from ${o.least} to ${o.most}`);
}
