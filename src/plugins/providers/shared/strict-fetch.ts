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

/**
 * Returns a fetch that resolves only for success. It does not follow redirects, because they would
 * send the key to another server. Without `inner` the platform's fetch is looked up at each call.
 * @throws HttpFailure for any other status; TransportFailure without a response
 */
export function strictFetch(inner: FetchFunction | undefined): FetchFunction {
  return async (input, init) => {
    let response: Response;
    try {
      response = await (inner ?? globalThis.fetch)(input, { ...init, redirect: "manual" });
    } catch (error) {
      throw new TransportFailure(error);
    }
    if (response.ok) return response;
    throw new HttpFailure(response);
  };
}
