import type { A2aSettings } from "./a2a-options.js";
import { NetworkError } from "../../../../contracts/network-errors.js";
import { messageOf } from "../../../../util/errors.js";

/** Maximum size of an answer in bytes: a result of 16 MiB, escaped as JSON. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Maximum size of an agent card in bytes. */
const MOST_CARD_BYTES = 256 * 1024;
const REPEATABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Errors of connections that were never open, so that the agent has received nothing. */
const UNSENT: ReadonlySet<unknown> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The error for an agent that can't be reached or is overloaded. The request may be repeated. */
export class AgentAwayError extends NetworkError {
  /** Milliseconds after which a repetition may succeed. */
  readonly retryAfterMs: number | undefined;
  /** Whether the agent has not processed the request. */
  readonly isUnsent: boolean;
  readonly status: number | undefined;
  constructor(
    message: string,
    o: {
      readonly cause?: unknown;
      readonly hint?: string | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly isUnsent: boolean;
      readonly status?: number | undefined;
    },
  ) {
    super(message, { cause: o.cause, hint: o.hint });
    this.retryAfterMs = o.retryAfterMs;
    this.isUnsent = o.isUnsent;
    this.status = o.status;
  }
}

/**
 * Sends HTTP requests to one agent. Requests are sent to its origin only, with its token and
 * without redirects. Responses are limited.
 */
export class AgentTraffic {
  readonly #settings: A2aSettings;

  constructor(settings: A2aSettings) {
    this.#settings = settings;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { origin, token, cardUrl } = this.#settings;
    if (url.origin !== origin)
      throw new NetworkError(`The agent at ${origin} names an address at ${url.origin}`, {
        isPermanent: true,
        hint: "Requests and the token go to the given origin only. Give the address of that origin.",
      });
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    const response = await this.#sent(url, { ...init, headers, redirect: "manual" });
    await this.#requireUsable(response);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (isStream === true) return response; // the SDK limits each event
    const mostBytes = url.href === cardUrl ? MOST_CARD_BYTES : MOST_BYTES;
    return limited(response, mostBytes, (body) => this.#withoutToken(body));
  };

  #withoutToken(body: Buffer): Buffer | string {
    const { token, redact } = this.#settings;
    return token === undefined ? body : redact(body.toString());
  }

  async #sent(url: URL, init: RequestInit): Promise<Response> {
    try {
      return await globalThis.fetch(url, init);
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      const { cause } = error as { readonly cause?: { readonly code?: unknown } }; // of fetch
      const isUnsent = UNSENT.has(cause?.code);
      const reason = cause === undefined ? error : cause;
      throw new AgentAwayError(
        `The agent at ${url.origin} can't be reached: ${messageOf(reason)}`,
        {
          cause: error,
          hint: "Check the address, and whether the agent runs.",
          isUnsent,
        },
      );
    }
  }

  /** @throws AgentAwayError, NetworkError */
  async #requireUsable(response: Response): Promise<void> {
    const { status, headers } = response;
    const { origin, token } = this.#settings;
    const isRedirect = status >= 300 && status < 400;
    if (!isRedirect && status !== 401 && status !== 403 && !REPEATABLE.has(status)) return;
    await response.body?.cancel();
    if (isRedirect)
      throw new NetworkError(`The agent at ${origin} redirects, which is refused`, {
        isPermanent: true,
        hint: "Give the address that it redirects to, if you trust it.",
      });
    if (!REPEATABLE.has(status))
      throw new NetworkError(`The agent at ${origin} refuses the caller: HTTP ${status}`, {
        isPermanent: true,
        hint: token === undefined ? "Set the option token." : "Check the option token.",
      });
    throw new AgentAwayError(`The agent at ${origin} is not available: HTTP ${status}`, {
      retryAfterMs: retryHeaderMs(headers.get("retry-after")),
      isUnsent: status === 503 || status === 429,
      status,
    });
  }
}

/**
 * Returns the milliseconds of a Retry-After header with seconds. Dates are not read, because they
 * depend on clocks.
 */
function retryHeaderMs(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}

/** Returns a response whose body is read up to a limit, then changed. @throws NetworkError */
async function limited(
  response: Response,
  mostBytes: number,
  change: (body: Buffer) => Buffer | string,
): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    bytes += chunk.byteLength; // leaving the loop cancels the body
    if (bytes > mostBytes)
      throw new NetworkError(`An answer of the agent is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return new Response(change(Buffer.concat(chunks)), { status, statusText, headers });
}
