/** The server said yes, but what came is no answer: empty, no JSON, the wrong shape, cut off. Turned into a ModelCallError where the call ends. */
export class BadAnswer extends Error {
  /** What to check. */
  readonly hint: string | undefined;

  constructor(message: string, o: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, o.cause === undefined ? undefined : { cause: o.cause });
    this.name = "BadAnswer";
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
