/**
 * An invalid response with a successful status: empty, not JSON, of the wrong shape, or cut off.
 * Converted into a ModelCallError when the call ends.
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

/** An error document with a successful status, which some gateways send. */
export class ErrorDocument extends Error {
  readonly document: unknown;

  constructor(document: unknown) {
    super("error document");
    this.name = "ErrorDocument";
    this.document = document;
  }
}
