import type { IncomingMessage, Server, ServerResponse } from "node:http";

import { emitProcessWarning } from "../../../util/process-warning.js";
import { messageOf } from "../../../util/errors.js";

/** The text of the metrics and its media type. */
export interface Exposition {
  readonly text: string;
  readonly contentType: string;
}

const HOSTS = /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?$/i;

/**
 * Answers a request with the metrics. A failure causes a process warning and is not shown to the
 * client.
 */
export async function answerScrape(
  request: IncomingMessage,
  response: ServerResponse,
  expose: () => Promise<Exposition>,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuse(response, 405, { allow: "GET, HEAD" });
  let exposition: Exposition;
  try {
    exposition = await expose();
  } catch (error) {
    emitProcessWarning(`The metrics can't be read: ${messageOf(error)}`);
    return refuse(response, 500);
  }
  response.writeHead(200, { "content-type": exposition.contentType, "cache-control": "no-store" });
  response.end(request.method === "HEAD" ? undefined : exposition.text);
}

function refuse(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, headers).end();
}

/**
 * Serves `/metrics` on this machine. Refuses requests with another host name, which a browser page
 * could send.
 */
export async function serveMetrics(
  o: { readonly port: number; readonly host: string },
  expose: () => Promise<Exposition>,
): Promise<Server> {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    request.resume();
    if (!HOSTS.test(request.headers.host ?? "")) refuse(response, 403);
    else if (request.url?.split("?")[0] !== "/metrics") refuse(response, 404);
    else void answerScrape(request, response, expose);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(o.port, o.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return server;
}

/** Returns the address of a listening server. */
export function urlOf(server: Server, host: string): string | undefined {
  const address = server.address();
  if (address === null || typeof address === "string") return undefined;
  return `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/metrics`;
}

/** Closes a server with all its connections. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
