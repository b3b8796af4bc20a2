import type { IncomingMessage, ServerResponse } from "node:http";

/** Says that a body is larger than allowed. */
export class BodyTooLargeError extends Error {}

/** A request as the SDK takes it, without its body. Its signal tells that the client is gone. */
export function webRequest(request: IncomingMessage, response?: ServerResponse): Request {
  const gone = new AbortController();
  response?.once("close", () => {
    if (!response.writableFinished) gone.abort(new Error("The client has closed the connection"));
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const single of typeof value === "string" ? [value] : (value ?? []))
      headers.append(name, single);
  }
  const method = request.method ?? "GET";
  return new Request(new URL(request.url ?? "/", "http://localhost"), {
    method,
    headers,
    signal: gone.signal,
  });
}

/**
 * The text of a body. `inspect` sees each chunk before it is kept.
 * @throws BodyTooLargeError, without having kept more than the limit; what `inspect` throws; the socket's error where the client is gone.
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

/** Sends what the SDK answers, at the pace of the client; ends the answer when the client is gone. */
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
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...headers });
  if (reader === undefined) {
    response.end();
    return;
  }
  response.flushHeaders(); // a client waits for them before it reads the stream
  const cancel = (): void => void reader.cancel().catch(() => undefined); // nobody reads it any more
  response.once("close", cancel);
  try {
    for (
      let part = await reader.read();
      !part.done && !response.destroyed;
      part = await reader.read()
    ) {
      if (!response.write(part.value)) await drained(response);
    }
  } finally {
    response.off("close", cancel);
    response.end();
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
