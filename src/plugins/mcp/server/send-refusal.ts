import type { ServerResponse } from "node:http";
import type { RequestRefusal } from "../../shared/http/http-gate.js";

/** A rejected request with a JSON-RPC error code. Default -32,000. */
export interface RpcRefusal extends RequestRefusal {
  readonly code?: number;
}

/** Rejects a request with a protocol error. */
export function sendRefusal(
  response: ServerResponse,
  { status, message, headers, code = -32_000 }: RpcRefusal,
  cors: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return;
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null });
  // The rest of the request is not read, so the connection can't be reused.
  response
    .writeHead(status, {
      "Content-Type": "application/json",
      Connection: "close",
      ...cors,
      ...headers,
    })
    .end(body);
}
