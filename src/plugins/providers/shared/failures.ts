import type { ModelErrorCode } from "../../../contracts/model-error-code.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { InvalidResponseError, ErrorDocument } from "./invalid-response-error.js";
import type { ExceededLimit } from "./call-deadline.js";
import type { Endpoint, Vendor } from "./endpoint.js";
import { retryAfterMs, shouldRetry } from "./retry-headers.js";
import { TransportFailure } from "./strict-fetch.js";
import { UnsupportedRequest } from "./unsupported-request.js";
import {
  judgeStatus,
  judgeWords,
  refusedRedirect,
  type CalledPlace,
  type Verdict,
} from "./verdicts.js";
import { asFields, type Fields } from "../../../util/objects.js";
import { textOf } from "../../../util/text.js";
import { messageOf } from "../../../util/errors.js";

/** Maximum length of external texts in errors. A longer error page would fill a log. */
const OUTSIDE_TEXT_LIMIT = 2048;
/**
 * Number of characters of an invalid response in which secrets are replaced. The beginning of the
 * result is shown.
 */
const REDACTED_TEXT_LIMIT = 64 * 1024;
const TIMEOUT_CODES = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/;

/** Text that may be the content of a file in base64. */
const FILE_TEXT = /(?:data:[\w./+-]+;base64,[\w+/-]+|[\w+/-]{100,})={0,2}/g;

/**
 * Returns a server's text without the content of files. Some servers repeat this content in their
 * errors.
 */
function withoutFiles(text: string): string {
  return text.replace(FILE_TEXT, (found) =>
    found.startsWith("data:") ||
    (/[a-z]/.test(found) && /[A-Z]/.test(found) && /[\d+/]/.test(found))
      ? "[data]"
      : found,
  );
}

/** The properties of a failed call that its error needs. */
export interface FailedCall {
  readonly vendor: Pick<Vendor, "name" | "keyVariable" | "urlHint">;
  readonly modelId: string;
  readonly partialText: string;
  /** Absent if the call failed before connecting. */
  readonly endpoint: Pick<Endpoint, "baseURL" | "redact"> | undefined;
}

/** A failure as the server reported it, in any form. */
export interface VendorFailure {
  readonly status: number | undefined;
  readonly message: string;
  /** Code, type and message, searched for known words. */
  readonly words: string;
  readonly retryAfterMs: number | undefined;
  /** Whether the server requests a retry. `undefined` if unknown. */
  readonly shouldRetry: boolean | undefined;
}

/**
 * Returns the description of the failure in an error document. The order of the fields is the one
 * in which servers use them.
 */
function namedIn(document: unknown, outer: Fields | undefined, inner: Fields | undefined): unknown {
  const named = [inner?.["message"], outer?.["error"], outer?.["message"], outer?.["detail"]];
  return named.find((value) => value !== undefined && value !== null) ?? document;
}

/**
 * Reads an error document: the vendors' `{ error: { message, type, code } }`, or the forms of other
 * servers. Some servers send the document in a list.
 */
export function readErrorDocument(
  given: unknown,
  { status, headers }: { readonly status?: number; readonly headers?: Headers } = {},
): VendorFailure {
  const document: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given;
  const outer = asFields(document);
  const inner = asFields(outer?.["error"]) ?? outer;
  const code = inner?.["code"];
  const message = textOf(namedIn(document, outer, inner));
  // Streaming gateways put the upstream status into `code`.
  const isStatus = typeof code === "number" && code >= 400 && code < 600;
  return {
    status: status ?? (isStatus ? code : undefined),
    message,
    words: [textOf(code), textOf(inner?.["type"]), message].join(" "),
    retryAfterMs: headers && retryAfterMs(headers),
    shouldRetry: headers && shouldRetry(headers),
  };
}

/** Reads the failure from a response's status, headers and (the beginning of) its body. */
export function readHttpFailure(
  response: Pick<Response, "status" | "headers">,
  body: string,
): VendorFailure {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    document = body.trimStart().startsWith("<") ? "(a web page)" : body.trim();
  }
  return readErrorDocument(document, { status: response.status, headers: response.headers });
}

function causes(e: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (
    let current = e;
    current instanceof Error && !chain.includes(current);
    current = current.cause
  )
    chain.push(current);
  return chain;
}

/** Returns the first error of this class among `e` and its causes. */
export function findCause<E extends Error>(
  e: unknown,
  type: abstract new (...args: never[]) => E,
): E | undefined {
  return causes(e).find((error): error is E => error instanceof type);
}

/** Returns the system's code of a failed connection (`ECONNREFUSED`) and the nearest message. */
function describeConnection(e: unknown): { readonly code: string; readonly text: string } {
  const chain = causes(e).flatMap((error) =>
    error instanceof AggregateError ? [error, ...causes(error.errors[0])] : [error],
  );
  const code = chain
    .map((error) => asFields(error)?.["code"])
    .find((value) => typeof value === "string");
  const message = chain.findLast((error) => error.message !== "")?.message ?? messageOf(e);
  const name = code === undefined ? "" : String(code);
  return { code: name, text: message.includes(name) ? message : `${name} ${message}` };
}

/** Creates the errors of one call with the right code, without secrets and with limited length. */
export class FailureReport {
  readonly #call: FailedCall;
  readonly #baseURL: string;

  constructor(call: FailedCall) {
    this.#call = call;
    this.#baseURL = call.endpoint?.baseURL ?? "";
  }

  /** Creates the error for a failure that the server reported. */
  vendor(failure: VendorFailure): ModelCallError {
    const { status, words } = failure;
    const judged =
      status === undefined
        ? judgeWords(words, this.#place())
        : judgeStatus(status, words, this.#place());
    const verdict = { ...judged, retryable: failure.shouldRetry ?? judged.retryable };
    const said = failure.message === "" ? "(no message)" : failure.message;
    const head = status === undefined ? "the server reported an error" : `status ${status}`;
    return this.error(verdict, `${head}: ${said}`, { status, retryAfterMs: failure.retryAfterMs });
  }

  /** Creates the error for a successful status with an invalid response. */
  badAnswer(e: InvalidResponseError): ModelCallError {
    const verdict: Verdict = {
      code: "AE_MODEL_BAD_RESPONSE",
      retryable: true,
      ...(e.hint === undefined ? {} : { hint: e.hint }),
    };
    if (e.shown === undefined) return this.error(verdict, e.message);
    // Secrets are removed before the text is cut, because a part of a key would not match.
    return this.error(
      verdict,
      `${e.message}: ${preview(this.#redact(preview(e.shown, REDACTED_TEXT_LIMIT)))}`,
    );
  }

  /** Creates the error for a call that exceeded one of its limits. */
  timeout(exceeded: ExceededLimit, limitMs: number): ModelCallError {
    const what =
      exceeded === "timeoutMs"
        ? `no complete answer within ${limitMs} ms`
        : `no data arrived for ${limitMs} ms`;
    return this.error(
      {
        code: "AE_MODEL_TIMEOUT",
        retryable: true,
        hint: `Raise ${exceeded} in the options of the model.`,
      },
      what,
    );
  }

  /** Creates the error for a call without a response. */
  connection(e: unknown): ModelCallError {
    const { code, text } = describeConnection(e);
    if (/redirect/i.test(code === "" ? text : code))
      return this.error(refusedRedirect(this.#place()), "the server redirects the request");
    const said = `no connection to ${this.#baseURL}: ${text}`;
    if (TIMEOUT_CODES.test(code))
      return this.error({ code: "AE_MODEL_TIMEOUT", retryable: true }, said);
    const isCertificate = CERTIFICATE_CODES.test(code);
    const hint = isCertificate
      ? "The server's certificate is not trusted: check baseURL, or make its authority known (NODE_EXTRA_CA_CERTS)."
      : "Check that the server runs and that baseURL, the network and a proxy, if there is one, are right.";
    return this.error({ code: "AE_MODEL_CONNECTION", retryable: !isCertificate, hint }, said);
  }

  error(
    verdict: Verdict,
    text: string,
    o: { readonly status?: number | undefined; readonly retryAfterMs?: number | undefined } = {},
  ): ModelCallError {
    const { modelId, partialText, vendor } = this.#call;
    const safe = this.#redact(text);
    const message = `${vendor.name}:${modelId}: ${safe.length > OUTSIDE_TEXT_LIMIT ? `${safe.slice(0, OUTSIDE_TEXT_LIMIT)}...` : safe}`;
    // No `cause`: the clients' errors contain request options, headers and unlimited bodies.
    return new ModelCallError(
      message,
      {
        provider: vendor.name,
        modelId,
        code: verdict.code,
        retryable: verdict.retryable,
        ...o,
        ...(partialText === "" ? {} : { partialText }),
      },
      { hint: verdict.hint ?? waiting(o.retryAfterMs) },
    );
  }

  #place(): CalledPlace {
    const { modelId, vendor } = this.#call;
    const { keyVariable, urlHint } = vendor;
    return { baseURL: this.#baseURL, modelId, keyVariable, urlHint };
  }

  #redact(text: string): string {
    return withoutFiles(this.#call.endpoint?.redact(text) ?? text);
  }
}

/**
 * Converts an error that ended a call into a ModelCallError. It does not handle HTTP failures,
 * whose bodies must be read first.
 */
export function toModelCallError(e: unknown, call: FailedCall): ModelCallError {
  if (ModelCallError.isInstance(e)) return e;
  const report = new FailureReport(call);
  if (e instanceof ErrorDocument) return report.vendor(readErrorDocument(e.document));
  if (e instanceof InvalidResponseError) return report.badAnswer(e);
  if (e instanceof UnsupportedRequest)
    return report.error({ code: e.code, retryable: false, hint: e.hint }, e.message);
  const broken = findCause(e, TransportFailure);
  if (broken !== undefined) return report.connection(broken.reason);
  const code: ModelErrorCode = "AE_MODEL_BAD_REQUEST";
  const hint =
    "Check the messages, the tools and providerOptions of the request: they must be plain JSON.";
  return report.error(
    { code, retryable: false, hint },
    `the request could not be sent: ${messageOf(e)}`,
  );
}

/** Describes the waiting time that the vendor requested, if there is one. */
function waiting(retryAfterMs: number | undefined): string | undefined {
  if (retryAfterMs === undefined) return undefined;
  return `The vendor asks to wait ${Math.ceil(retryAfterMs / 1000)} s; retries wait up to maxRetryAfterMs of retry().`;
}
