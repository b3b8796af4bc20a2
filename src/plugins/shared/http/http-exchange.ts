import type { IncomingMessage, ServerResponse } from "node:http";

/** A body is larger than allowed. */
export class BodyTooLargeError extends Error {}

/** The property of a request with the address of its client. */
const PEER = Symbol("address of the client");

/**
 * Returns the address of the peer of a request. `undefined` if `webRequest` did not create the
 * request.
 */
export function peerOf(request: Request): string | undefined {
  return (request as { readonly [PEER]?: string })[PEER];
}

/**
 * Creates a request for fetch handlers, with a body if one is given. Its signal aborts when the
 * client disconnects.
 * @throws TypeError for an invalid address.
 */
export function webRequest(
  request: IncomingMessage,
  response?: ServerResponse,
  body?: ReadableStream<Uint8Array> | string,
): Request {
  const gone = new AbortController();
  response?.once("close", () => {
    if (!response.writableFinished) gone.abort(new Error("The client has closed the connection"));
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const single of typeof value === "string" ? [value] : (value ?? []))
      headers.append(name, single);
  }
  const made = new Request(wholeAddressOf(request), {
    method: request.method ?? "GET",
    headers,
    signal: gone.signal,
    ...(body !== undefined && { body, duplex: "half" }),
  });
  return Object.defineProperty(made, PEER, { value: request.socket.remoteAddress });
}

/**
 * Returns the complete requested address. For a mounted handler, frameworks shorten `url` and keep
 * the original in `originalUrl`.
 */
function wholeAddressOf(request: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = "/" } = request;
  const asked = typeof originalUrl === "string" ? originalUrl : url;
  if (!asked.startsWith("/")) return new URL(asked, "http://localhost").href;
  const scheme = "encrypted" in request.socket ? "https" : "http";
  const site = `${scheme}://${request.headers.host ?? "localhost"}`;
  const hasSite = URL.canParse(site) && new URL(site).href === `${new URL(site).origin}/`;
  return new URL(asked.replace(/^\/+/, "/"), hasSite ? site : "http://localhost").href;
}

/**
 * Reads the text of a body. `inspect` is called with each chunk before it is stored.
 * @throws BodyTooLargeError beyond the limit; the errors of `inspect`; the error of the socket if
 * the client has disconnected.
 */
export async function bodyText(
  request: IncomingMessage,
  maxBytes: number,
  inspect?: (chunk: Buffer) => void,
): Promise<string> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw new BodyTooLargeError();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyTooLargeError();
    inspect?.(chunk);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Sends a response at the pace of the client. Stops when the client disconnects.
 * @throws the errors of the body. The response is then not ended.
 */
export async function sendResponse(
  answer: Response,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const reader = answer.body?.getReader();
  if (response.destroyed) {
    await reader?.cancel();
    return;
  }
  const cookies = answer.headers.getSetCookie(); // the only header that may occur several times
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    ...(cookies.length > 0 && { "set-cookie": cookies }),
    ...headers,
  });
  if (reader === undefined) {
    response.end();
    return;
  }
  response.flushHeaders(); // a client waits for the headers before it reads the stream
  // the stream has no reader any more
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  response.once("close", cancel);
  try {
    for (
      let part = await reader.read();
      !part.done && !response.destroyed;
      part = await reader.read()
    ) {
      if (!response.write(part.value)) await drained(response);
    }
    response.end();
  } finally {
    response.off("close", cancel);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}
