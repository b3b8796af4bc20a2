/**
 * The error for a request with a feature that this API does not support. Converted into a
 * ModelCallError when the call ends.
 */
export class UnsupportedRequest extends Error {
  readonly hint: string;
  readonly code: "AE_MODEL_BAD_REQUEST" | "AE_MODEL_UNSUPPORTED_INPUT";

  constructor(
    message: string,
    hint: string,
    code: "AE_MODEL_BAD_REQUEST" | "AE_MODEL_UNSUPPORTED_INPUT" = "AE_MODEL_BAD_REQUEST",
  ) {
    super(message);
    this.name = "UnsupportedRequest";
    this.hint = hint;
    this.code = code;
  }
}
