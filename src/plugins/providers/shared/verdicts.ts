import type { ModelErrorCode } from "../../../contracts/model-error-code.js";

const QUOTA_WORDS =
  /insufficient_quota|billing|exceeded your current quota|insufficient (balance|credit)|credit balance is too low/i;
/** Texts that identify an empty account for vendors without a specific status. */
const EMPTY_ACCOUNT_WORDS =
  /billing_(error|hard_limit_reached)|credit balance is too low|reached your specified API usage limit/i;
/** Texts that identify a rate limit, even if they also name the account's billing page. */
const LIMIT_WORDS = /rate_limit_exceeded|rate limit reached|(again|retry) in \d/i;
const CONTEXT_WORDS =
  /context_length_exceeded|context (length|window|limit|size)|maximum (context|model length|prompt length|number of tokens allowed)|too many tokens|(prompt|input) is too long/i;
/** Codes of errors in a stream that blame the request. */
const REQUEST_WORDS =
  /invalid_(request|prompt|image|base64_image)|request_too_large|image_(too|parse|content|file)_|empty_image|unsupported_image|bio_policy|data_residency_mismatch/i;

/** The meaning of a failure: its code, whether a retry may help, and a hint. */
export interface Verdict {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly hint?: string;
}

/** The target of the call, for hints. */
export interface CalledPlace {
  readonly baseURL: string;
  readonly modelId: string;
  readonly keyVariable: string;
  /** Typical URL of this API. */
  readonly urlHint: string;
}

function refusedBy(code: ModelErrorCode, hint?: string): Verdict {
  return { code, retryable: false, ...(hint === undefined ? {} : { hint }) };
}

function isAccountEmpty(status: number, words: string): boolean {
  if (status === 429) return QUOTA_WORDS.test(words) && !LIMIT_WORDS.test(words);
  return status === 402 || EMPTY_ACCOUNT_WORDS.test(words);
}

function judgeRefusal(status: number, words: string, place: CalledPlace): Verdict {
  if (isAccountEmpty(status, words)) {
    return refusedBy(
      "AE_MODEL_QUOTA",
      "The account has no credit left: check its plan and billing.",
    );
  }
  if (status === 401 || status === 403)
    return refusedBy(
      "AE_MODEL_AUTH",
      `Check the API key (apiKey or ${place.keyVariable}) and its permissions.`,
    );
  if (status === 404) {
    return refusedBy(
      "AE_MODEL_BAD_REQUEST",
      `Check that ${place.baseURL} offers a model named '${place.modelId}', and that baseURL is right (${place.urlHint}).`,
    );
  }
  if (status === 408) return { code: "AE_MODEL_TIMEOUT", retryable: true };
  if (status === 409) return { code: "AE_MODEL_SERVER", retryable: true };
  if (status === 429) return { code: "AE_MODEL_RATE_LIMITED", retryable: true };
  if (CONTEXT_WORDS.test(words)) {
    return refusedBy(
      "AE_MODEL_CONTEXT_LENGTH",
      "The conversation is longer than the model can read: shorten it, or use a model with a larger context.",
    );
  }
  return refusedBy("AE_MODEL_BAD_REQUEST");
}

/** Returns the meaning of an error status. The words distinguish failures with the same status. */
export function judgeStatus(status: number, words: string, place: CalledPlace): Verdict {
  if (status >= 500) return { code: "AE_MODEL_SERVER", retryable: status !== 501 };
  return status >= 400 ? judgeRefusal(status, words, place) : refusedRedirect(place);
}

/** Returns the meaning of a redirect. */
export function refusedRedirect(place: CalledPlace): Verdict {
  return refusedBy(
    "AE_MODEL_BAD_RESPONSE",
    `Redirects are not followed, because they would take the key elsewhere. Set baseURL to the final address (now ${place.baseURL}).`,
  );
}

/** Judges an error without a status, as in streams, by its words. */
export function judgeWords(words: string, place: CalledPlace): Verdict {
  if (QUOTA_WORDS.test(words) || /rate_limit/i.test(words)) return judgeStatus(429, words, place);
  if (CONTEXT_WORDS.test(words) || REQUEST_WORDS.test(words)) return judgeStatus(400, words, place);
  if (/authentication|invalid_api_key|permission/i.test(words))
    return judgeStatus(401, words, place);
  if (/not_found/i.test(words)) return judgeStatus(404, words, place);
  if (/timeout_error/i.test(words)) return judgeStatus(408, words, place);
  return judgeStatus(500, words, place);
}
