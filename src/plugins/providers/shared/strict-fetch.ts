/** A fetch function as the platform has it. */
export type FetchFunction = typeof globalThis.fetch;

/** The server answered, but not with success. Carries what the vendor clients would lose: headers and the body, which is still to be read. */
export class HttpFailure extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super(`status ${response.status}`);
    this.name = "HttpFailure";
    this.response = response;
  }
}

/** No answer came. */
export class TransportFailure extends Error {
  /** What the platform's fetch threw. Not the `cause`, because the vendor clients replace errors whose causes speak of time. */
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("no connection");
    this.name = "TransportFailure";
    this.reason = reason;
  }
}

/**
 * A fetch that resolves for success only, and does not follow redirects (they would carry the key elsewhere).
 * Without `inner` the platform's fetch is looked up at each call.
 * @throws HttpFailure for every other status; TransportFailure where there was no answer.
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
