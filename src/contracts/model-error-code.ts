/** Kinds of model failures that a program may distinguish. */
export type ModelErrorCode =
  | "AE_MODEL_CALL"
  | "AE_MODEL_RATE_LIMITED"
  | "AE_MODEL_AUTH"
  | "AE_MODEL_BAD_REQUEST"
  | "AE_MODEL_UNSUPPORTED_INPUT"
  | "AE_MODEL_BAD_RESPONSE"
  | "AE_MODEL_TIMEOUT"
  | "AE_MODEL_CONNECTION"
  | "AE_MODEL_QUOTA"
  | "AE_MODEL_CONTEXT_LENGTH"
  | "AE_MODEL_SERVER";
