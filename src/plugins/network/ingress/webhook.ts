import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Ingress, IngressPort, IngressWork } from "../../../contracts/ingress.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { WebhookProblem } from "../../shared/webhooks/webhook-signature.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  NetworkError,
  RequestConflictError,
  ServiceStateError,
} from "../../../contracts/network-errors.js";
import { checkOptions, preview, requireFunction } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { secretReplacer } from "../../../util/redaction/secret-values.js";
import { badRequest, HttpRefusal } from "../../shared/http/http-refusal.js";
import { jsonObjectIn, readJsonText } from "../../shared/http/json-body.js";
import {
  requireWebhookSecret,
  WEBHOOK_HEADERS,
  webhookProblem,
} from "../../shared/webhooks/webhook-signature.js";
import { requireRequestId } from "../shared/work-request.js";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const RECEIVE_MS = 30_000;
/** Seconds after which a sender may repeat a message that was not accepted. */
const RETRY_S = "5";

/** A verified message, as `map` receives it. */
export interface WebhookDelivery {
  /** The id of the delivery, which becomes the id of the request. */
  readonly deliveryId: string;
  readonly headers: Headers;
}

/** Options of `webhook()`. */
export interface WebhookIngressOptions {
  /** The name of the sender of the requests, and the end of the path `/api/webhooks/{name}`. */
  readonly name: string;
  /**
   * The secret of the signatures, with at least 16 characters. Pass several secrets while one
   * replaces another.
   */
  readonly secret: string | readonly string[];
  /**
   * Converts the JSON of a message to a request. Returns `undefined` for a message that needs no
   * request.
   */
  readonly map: (
    body: Readonly<Record<string, unknown>>,
    delivery: WebhookDelivery,
  ) => Awaitable<IngressWork | undefined>;
}

const PROBLEMS: Readonly<Record<WebhookProblem, string>> = Object.freeze({
  UNSIGNED: `The headers ${WEBHOOK_HEADERS.timestamp} and ${WEBHOOK_HEADERS.signature} are required`,
  TOO_OLD: "The timestamp differs by more than five minutes",
  WRONG_SIGNATURE: "The signature is wrong",
});

/**
 * Receives signed messages at `POST /api/webhooks/{name}`, as an ingress of `start()`. A message
 * that is repeated within five minutes is executed once. An older message is refused.
 *
 * @example
 * const orders = webhook({
 *   name: "orders",
 *   secret,
 *   map: (order) => ({ task: "pack", inputs: { order } }),
 * });
 * await shop.start({ port: 8080, ingress: [orders] });
 * @throws ValidationError for an unknown or invalid option.
 */
export function webhook(options: WebhookIngressOptions): Ingress {
  checkOptions("webhook()", options, ["name", "secret", "map"]);
  const { name, secret, map } = options;
  if (typeof name !== "string" || !NAME.test(name))
    throw new ValidationError(
      `webhook() name must have 1 to 64 letters, digits, - and _, got: ${preview(name)}`,
    );
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) requireWebhookSecret("webhook() secret", undefined);
  for (const each of secrets) requireWebhookSecret("webhook() secret", each);
  requireFunction("webhook() map", map ?? null);
  const known = { name, map, secrets: secrets as readonly string[] }; // each is checked
  return Object.freeze({
    name,
    routes: (port: IngressPort) => [webhookRoute(known, port)],
    redact: secretReplacer(known.secrets),
  });
}

type KnownOptions = Omit<WebhookIngressOptions, "secret"> & { readonly secrets: readonly string[] };

function webhookRoute(options: KnownOptions, port: IngressPort): HttpRoute {
  return Object.freeze({
    method: "POST",
    path: `/api/webhooks/${options.name}`,
    role: "public", // the signature authenticates
    handle: async (request: Request) => {
      try {
        return await acceptMessage(request, options, port);
      } catch (error) {
        return refusedMessage(webhookRefusal(error));
      }
    },
  });
}

async function acceptMessage(
  request: Request,
  { name, secrets, map }: KnownOptions,
  port: IngressPort,
): Promise<Response> {
  const { headers } = request;
  const limits = { maxBodyBytes: port.maxMessageBytes, bodyTimeoutMs: RECEIVE_MS };
  const text = await readJsonText(request, limits);
  const problem = webhookProblem(headers, text, { secrets, at: port.clock.now() });
  if (problem !== undefined) throw new HttpRefusal(401, problem, PROBLEMS[problem]);
  const deliveryId = headers.get(WEBHOOK_HEADERS.delivery) ?? "";
  requireRequestId(deliveryId);
  const body = jsonObjectIn(text);
  let work: IngressWork | undefined;
  try {
    work = await map(body, { deliveryId, headers });
  } catch (error) {
    if (ValidationError.isInstance(error)) throw error;
    port.warn(`Webhook '${name}' can't map message '${deliveryId}': ${messageOf(error)}`);
    throw new HttpRefusal(422, "NOT_MAPPED", "The message could not be made a request");
  }
  if (work === undefined) return messageAnswer(200, { requestId: deliveryId, status: "IGNORED" });
  const { status } = await port.submit(deliveryId, work);
  if (status === "FULL") throw later(429, "AT_CAPACITY", "Too many requests wait");
  return messageAnswer(202, { requestId: deliveryId, status });
}

/** Returns the error for the sender. Errors of the program are not disclosed. */
function webhookRefusal(error: unknown): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (ServiceStateError.isInstance(error))
    return later(503, "DRAINING", "The service does not accept requests now");
  if (NetworkError.isInstance(error))
    return later(503, "UNAVAILABLE", "The storage of requests can't be reached");
  if (RequestConflictError.isInstance(error))
    return new HttpRefusal(409, "CONFLICT", "The delivery is known with other content");
  if (ValidationError.isInstance(error)) return badRequest(error.message);
  throw error;
}

function later(status: 429 | 503, code: string, message: string): HttpRefusal {
  return new HttpRefusal(status, code, message, { headers: { "Retry-After": RETRY_S } });
}

function refusedMessage({ status, code, message, extra }: HttpRefusal): Response {
  return messageAnswer(status, { error: code, message }, extra.headers);
}

function messageAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...headers } });
}
