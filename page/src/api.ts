import type { ErrorBody } from "../../src/plugins/dashboard/protocol/http-bodies.js";

/** A request that the server refused, or that did not reach the server (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  /** The stable code of the answer. `UNREACHABLE` without an answer. */
  readonly code: string;
  readonly hint: string | undefined;
  /** The complete answer. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? `The server answered ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.code = body.error ?? `HTTP_${status}`;
    this.hint = body.hint;
    this.body = body;
  }
}

export interface Api {
  /** @throws ApiError */
  get<T>(path: string): Promise<T>;
  /** Returns a file of the program. @throws ApiError */
  file(path: string): Promise<Blob>;
  /** Sends JSON. Returns `undefined` for an empty answer. @throws ApiError */
  send<T>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T>;
}

export interface ApiOptions {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly token: () => string | undefined;
  /** Called when the server refuses the token, or requires a token. */
  readonly onUnauthorized: () => void;
}

export function createApi({ fetch, token, onUnauthorized }: ApiOptions): Api {
  const answered = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const secret = token();
    if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`);
    let response: Response;
    try {
      const sent: RequestInit & { readonly cache: "no-store" } = {
        ...init,
        headers,
        cache: "no-store",
      };
      response = await fetch(path, sent);
    } catch {
      throw new ApiError(0, { error: "UNREACHABLE", message: "The program does not answer" });
    }
    if (response.ok) return response;
    if (response.status === 401) onUnauthorized();
    const body = await jsonOf(response);
    throw new ApiError(response.status, isRecord(body) ? body : {});
  };
  const request = async <T>(path: string, init: RequestInit): Promise<T> =>
    // The server and the page share the types of answers.
    (await jsonOf(await answered(path, init))) as T;
  return {
    get: (path) => request(path, { method: "GET" }),
    file: async (path) => (await answered(path, { method: "GET" })).blob(),
    send: (method, path, body) =>
      request(path, {
        method,
        headers: { "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined; // an answer without a body, or from a proxy
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
