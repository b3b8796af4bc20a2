/** The request asks for something that this API does not have. Turned into a ModelCallError where the call ends. */
export class UnsupportedRequest extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "UnsupportedRequest";
    this.hint = hint;
  }
}
