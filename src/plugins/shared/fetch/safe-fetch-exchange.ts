import type { LookupAddress, LookupOptions } from "node:dns";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { SafeFetchSettings } from "./safe-fetch-options.js";
import type { Target } from "./address-policy.js";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { FetchError } from "../../../contracts/state-errors.js";
import { shownUrl } from "./shown-url.js";

/** A request that is ready to be sent. */
export interface FetchRequest {
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array | undefined;
}

/** A response whose body has not been read yet. `close` releases the connection in any state. */
export interface Exchange {
  readonly answer: IncomingMessage;
  close(): void;
}

type LookupCallback = (
  error: Error | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * Returns a resolver that answers every name with the checked addresses. It answers asynchronously,
 * because an unreachable address fails at once. An error before the socket has a listener would end
 * the process.
 */
function pinned(
  addresses: readonly string[],
): (host: string, options: LookupOptions, callback: LookupCallback) => void {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: "", family: 0 }] = all;
  return (_host, options, callback) =>
    process.nextTick(() =>
      options.all === true ? callback(null, all) : callback(null, first.address, first.family),
    );
}

function headersOf({ headers, body, method }: FetchRequest): Record<string, string | number> {
  const needsLength = body !== undefined || (method !== "GET" && method !== "HEAD");
  return {
    accept: "*/*",
    "user-agent": "AgentEnsemble",
    ...Object.fromEntries(headers),
    "accept-encoding": "gzip, deflate, br",
    ...(needsLength && { "content-length": body?.byteLength ?? 0 }),
  };
}

/**
 * Describes common error codes in words. The messages of Node.js are not used, because they contain
 * addresses.
 */
function troubleOf(error: Error & { readonly code?: unknown }): string {
  const { code } = error;
  if (code === "HPE_HEADER_OVERFLOW") return "the head of the answer is too large";
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (code === "ECONNRESET") return "the connection was closed before the answer was complete";
  if (typeof code === "string" && code.startsWith("HPE_"))
    return `the answer is not HTTP (${code})`;
  return typeof code === "string" ? `the connection failed (${code})` : "the connection failed";
}

/**
 * Returns the error of the connection for the caller. The reason of the signal takes precedence.
 */
export function connectionError(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof Error) || AgentEnsembleError.isInstance(error)) return error;
  const text = troubleOf(error);
  const reason =
    text.includes("answer") && !text.includes("closed") ? "bad_response" : "connection";
  return new FetchError(`Could not fetch ${shownUrl(url)}: ${text}`, { reason }, { cause: error });
}

/** Sends a request to the checked addresses over a new connection, without an agent or a proxy. */
export async function sendRequest(
  request: FetchRequest,
  target: Target,
  settings: SafeFetchSettings,
  signal: AbortSignal,
): Promise<Exchange> {
  const { url } = request;
  signal.throwIfAborted();
  const isSecure = url.protocol === "https:";
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: false });
  const sent = (isSecure ? httpsRequest : httpRequest)({
    agent,
    hostname: target.host,
    port: target.port,
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: headersOf(request),
    lookup: pinned(target.addresses),
    maxHeaderSize: settings.maxHeaderBytes,
    insecureHTTPParser: false,
    ...(settings.ca !== undefined && { ca: settings.ca }),
  });
  const close = (): void => {
    signal.removeEventListener("abort", close);
    sent.destroy();
    agent.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    return { answer: await answerOf(sent, request.body), close };
  } catch (error) {
    close();
    throw connectionError(url, error, signal);
  }
}

function answerOf(sent: ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const broken = (code: string): void => reject(Object.assign(new Error("No answer"), { code }));
    // The listener remains after the promise is settled. Later failures appear in the body.
    sent.on("error", reject);
    sent.on("response", resolve);
    sent.on("upgrade", (_answer, socket) => {
      socket.destroy();
      broken("HPE_UPGRADE");
    });
    sent.on("close", () => broken("ECONNRESET"));
    sent.end(body);
  });
}
