/**
 * The request needs a feature that this API does not have. Converted into a ModelCallError when the
 * call ends.
 */
export class UnsupportedRequest extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "UnsupportedRequest";
    this.hint = hint;
  }
}
