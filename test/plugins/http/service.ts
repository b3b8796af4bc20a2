import type { Authenticate, Principal } from "agentensemble";
import type { FetchHandler } from "agentensemble/http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { toNodeListener } from "agentensemble/http";

/** Who the header `x-user` names. */
export const PEOPLE: Readonly<Record<string, Principal>> = {
  ada: { name: "ada", role: "caller" },
  bob: { name: "bob", role: "caller" },
  cleo: { name: "cleo", role: "caller", reviewRoles: ["finance"] },
  max: { name: "max", role: "caller", reviewRoles: ["*"] },
  rev: { name: "rev", role: "reviewer" },
  vic: { name: "vic", role: "viewer" },
  root: { name: "root", role: "operator" },
};

export const authenticate: Authenticate = (request) => PEOPLE[request.headers.get("x-user") ?? ""];

/** How a test asks. */
export interface Ask {
  /** Default `ada`; `null` for no principal. */
  readonly by?: string | null;
  readonly method?: string;
  /** Sent as JSON; a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | null;
}

/** A server on loopback. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  fetch(path: string, ask?: Ask): Promise<Response>;
  /** Status and body, as JSON where it is some. */
  ask(path: string, ask?: Ask): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** Serves a handler. */
export async function serve(handler: FetchHandler): Promise<Service> {
  const server = createServer(toNodeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const url = `http://127.0.0.1:${port}`;
  const send: Service["fetch"] = (path, { by = "ada", body, headers, ...rest } = {}) =>
    fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(by !== null && { "x-user": by }),
        ...headers,
      },
      ...rest,
    });
  return {
    url,
    port,
    fetch: send,
    ask: async (path, ask) => {
      const answer = await send(path, ask);
      const text = await answer.text();
      const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
      return { status: answer.status, body: isJson ? (JSON.parse(text) as unknown) : text };
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The header with which a client asks for a stream. */
export const STREAM = { accept: "text/event-stream" } as const;
