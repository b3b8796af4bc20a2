import type { IncomingMessage, ServerResponse } from "node:http";
import type { FetchHandler } from "./serve-endpoints.js";
import { Readable } from "node:stream";
import { requireFunction } from "../../contracts/validation.js";
import { toError } from "../../util/errors.js";
import { sendResponse, webRequest } from "../shared/http/http-exchange.js";
import { reportFailure } from "./answers.js";

/** A request of `node:http`, or of a framework on it. */
export interface NodeRequest extends IncomingMessage {
  /** The original path, which a framework may shorten in `url`. */
  readonly originalUrl?: string | undefined;
  /** The body, if a framework has already read and parsed it. */
  readonly body?: unknown;
}

/**
 * Converts a handler to a listener for `node:http`, Express 5 and Fastify. The response is sent as
 * fast as the client reads it. The signal of the request aborts when the client disconnects. A body
 * that a framework has parsed is available as `body`.
 * @throws ValidationError for a handler that is not a function.
 */
export function toNodeListener(
  handler: FetchHandler,
): (request: NodeRequest, response: ServerResponse) => void {
  requireFunction("toNodeListener handler", handler ?? null);
  return (request, response) => void exchange(handler, request, response);
}

/**
 * Answers a request. Never rejects. If a request fails, it is answered or its connection is closed.
 */
async function exchange(
  handler: FetchHandler,
  request: NodeRequest,
  response: ServerResponse,
): Promise<void> {
  // The client has disconnected. The answer ends with its connection.
  response.on("error", () => undefined);
  try {
    const answer = await handler(webRequest(request, response, bodyOf(request)));
    // The connection can't be reused, because the rest of the body is not read.
    await sendResponse(answer, response, request.complete ? {} : { Connection: "close" });
  } catch (error) {
    if (!response.destroyed) reportFailure(toError(error));
    if (!response.headersSent && !response.destroyed) response.writeHead(500).end();
    else response.destroy();
  }
}

function bodyOf(request: NodeRequest): ReadableStream<Uint8Array> | string | undefined {
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  if (request.readableDidRead && request.body !== undefined) return JSON.stringify(request.body);
  return Readable.toWeb(request) as ReadableStream<Uint8Array>; // a request is a stream of bytes
}
