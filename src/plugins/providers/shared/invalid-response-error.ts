/** The server said yes, but what came is no answer: empty, no JSON, the wrong shape, cut off. Turned into a ModelCallError where the call ends. */
export class InvalidResponseError extends Error {
  /** The part of the answer that is wrong. Kept apart from the message, because secrets have to be taken out before it is cut. */
  readonly shown: unknown;
  /** What to check. */
  readonly hint: string | undefined;

  constructor(message: string, o: { readonly shown?: unknown; readonly hint?: string } = {}) {
    super(message);
    this.name = "InvalidResponseError";
    this.shown = o.shown;
    this.hint = o.hint;
  }
}

/** The server said yes, but the body is an error document: some gateways answer so. */
export class ErrorDocument extends Error {
  readonly document: unknown;

  constructor(document: unknown) {
    super("error document");
    this.name = "ErrorDocument";
    this.document = document;
  }
}
