import type { Fields } from "../../../util/objects.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import {
  FailureReport,
  readErrorDocument,
  readHttpFailure,
  type FailedCall,
} from "../shared/failures.js";

import { UnsupportedRequest } from "../shared/unsupported-request.js";
import { asFields, asText } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

const BAD_ANSWERS =
  /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/;
const BAD_REQUESTS =
  /^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchModel)Error$/;
const BROKEN_CONNECTION = /fetch failed|terminated|socket|ECONN|network/i;

/** Texts in hints that replace a vendor's names. Only the wrapped model has these names. */
const PLACE = Object.freeze({
  keyVariable: "the environment variable of its provider",
  urlHint: "see the documentation of its provider",
});

function failureHeaders(value: unknown): Headers {
  const pairs = Object.entries(asFields(value) ?? {}).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return new Headers(pairs);
}

/**
 * Returns the SDK's error of a call. It has a status if the server rejected the call, and no status
 * without a connection. It is recognised by its fields, because several copies of the SDK may be
 * loaded.
 */
function callError(
  error: Fields,
  call: Omit<FailedCall, "vendor" | "endpoint"> & { readonly provider: string },
): ModelCallError {
  const endpoint = { baseURL: asText(error["url"]), redact: (text: string): string => text };
  const report = new FailureReport({
    vendor: { name: call.provider, ...PLACE },
    modelId: call.modelId,
    partialText: call.partialText,
    endpoint,
  });
  const status = error["statusCode"];
  if (typeof status !== "number") return report.connection(error["cause"] ?? error);
  if (status < 300) return report.badAnswer(new InvalidResponseError(asText(error["message"])));
  return report.vendor(
    readHttpFailure(
      { status, headers: failureHeaders(error["responseHeaders"]) },
      asText(error["responseBody"]) || asText(error["message"]),
    ),
  );
}

/**
 * Converts an error of an AI SDK model into a ModelCallError. The model threw it or sent it in its
 * stream.
 */
export function toModelCallError(
  e: unknown,
  call: { readonly provider: string; readonly modelId: string; readonly partialText: string },
): ModelCallError {
  if (ModelCallError.isInstance(e)) return e;
  const report = new FailureReport({
    vendor: { name: call.provider, ...PLACE },
    modelId: call.modelId,
    partialText: call.partialText,
    endpoint: undefined,
  });
  if (e instanceof InvalidResponseError) return report.badAnswer(e);
  if (e instanceof UnsupportedRequest)
    return report.error({ code: e.code, retryable: false, hint: e.hint }, e.message);
  const fields = asFields(e) ?? {};
  const name = asText(fields["name"]);
  const message = messageOf(e);
  if (name === "AI_APICallError") return callError(fields, call);
  if (name === "AI_LoadAPIKeyError")
    return report.error({ code: "AE_MODEL_AUTH", retryable: false }, message);
  if (BAD_ANSWERS.test(name)) return report.badAnswer(new InvalidResponseError(message));
  if (BAD_REQUESTS.test(name))
    return report.error({ code: "AE_MODEL_BAD_REQUEST", retryable: false }, message);
  if (e instanceof Error)
    return BROKEN_CONNECTION.test(message)
      ? report.connection(e)
      : report.error({ code: "AE_MODEL_CALL", retryable: false }, message);
  return report.vendor(readErrorDocument(typeof e === "string" ? { message: e } : e));
}
