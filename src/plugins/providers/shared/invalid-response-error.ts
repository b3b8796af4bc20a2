/**
 * The status was successful, but the response is invalid: empty, not JSON, of the wrong shape, or
 * cut off. Converted into a ModelCallError when the call ends.
 */
export class InvalidResponseError extends Error {
  /**
   * The invalid part of the response. Separate from the message, because secrets must be removed
   * before it is cut.
   */
  readonly shown: unknown;
  /** The advice for the user. */
  readonly hint: string | undefined;

  constructor(message: string, o: { readonly shown?: unknown; readonly hint?: string } = {}) {
    super(message);
    this.name = "InvalidResponseError";
    this.shown = o.shown;
    this.hint = o.hint;
  }
}

/** The status was successful, but the body is an error document, as some gateways send it. */
export class ErrorDocument extends Error {
  readonly document: unknown;

  constructor(document: unknown) {
    super("error document");
    this.name = "ErrorDocument";
    this.document = document;
  }
}
