/** A fetch function with the platform's type. */
export type FetchFunction = typeof globalThis.fetch;

/**
 * An error status of the server. It contains the headers and the unread body, which the vendor
 * clients would lose.
 */
export class HttpFailure extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super(`status ${response.status}`);
    this.name = "HttpFailure";
    this.response = response;
  }
}

/** A request without a response. */
export class TransportFailure extends Error {
  /**
   * The error of the platform's fetch. It is not the `cause`, because the vendor clients replace
   * errors whose causes mention a timeout.
   */
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("no connection");
    this.name = "TransportFailure";
    this.reason = reason;
  }
}

/** Maximum pause of a response that the fetch of Node.js allows by default, in milliseconds. */
const PLATFORM_PAUSE_MS = 300_000;

/** The key of the object that sends the requests of the fetch of Node.js. Other platforms have none. */
const GLOBAL_DISPATCHER = Symbol.for("undici.globalDispatcher.1");

interface PlatformDispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

function globalDispatcher(): PlatformDispatcher | undefined {
  return (globalThis as { readonly [GLOBAL_DISPATCHER]?: PlatformDispatcher })[GLOBAL_DISPATCHER];
}

/** Sends requests like Node.js, without its limits for pauses. */
const PATIENT: PlatformDispatcher = Object.freeze({
  dispatch: (options: object, handler: unknown): boolean =>
    globalDispatcher()?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler) ??
    false,
});

/**
 * Returns a fetch that resolves only for success. It does not follow redirects, because they would
 * send the key to another server. With `redirect: "error"`, the fetch of Node.js does not copy the
 * body of the request. Without `inner` the platform's fetch is looked up at each call.
 * It allows pauses of `idleTimeoutMs`, even if they exceed the platform's limit.
 * @throws HttpFailure for any other status; TransportFailure without a response
 */
export function strictFetch(
  inner: FetchFunction | undefined,
  idleTimeoutMs: number,
): FetchFunction {
  return async (input, init) => {
    const isPatient =
      inner === undefined && idleTimeoutMs >= PLATFORM_PAUSE_MS && globalDispatcher() !== undefined;
    const options = { ...init, redirect: "error", ...(isPatient && { dispatcher: PATIENT }) };
    let response: Response;
    try {
      response = await (inner ?? globalThis.fetch)(input, options as RequestInit); // Node.js knows `dispatcher`
    } catch (error) {
      throw new TransportFailure(error);
    }
    if (response.ok) return response;
    throw new HttpFailure(response);
  };
}
