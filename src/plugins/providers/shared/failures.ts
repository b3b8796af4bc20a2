import { ModelCallError, type ModelErrorCode } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { InvalidResponseError, ErrorDocument } from "./invalid-response-error.js";
import type { ExceededLimit } from "./call-deadline.js";
import type { Endpoint, Vendor } from "./endpoint.js";
import { retryAfterMs, shouldRetry } from "./retry-headers.js";
import { TransportFailure } from "./strict-fetch.js";
import { UnsupportedRequest } from "./unsupported-request.js";
import { judgeStatus, judgeWords, type Verdict } from "./verdicts.js";
import { asFields, type Fields } from "../../../util/objects.js";
import { textOf } from "../../../util/text.js";
import { messageOf } from "../../../util/errors.js";

/** Texts that come from outside are cut here, so that no error page fills a log. */
const OUTSIDE_TEXT_LIMIT = 2048;
/** How much of a wrong answer is searched for secrets before the start of it is shown. */
const REDACTED_TEXT_LIMIT = 64 * 1024;
const TIMEOUT_CODES = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/;

/** What an error needs to know about the call it ended. */
export interface FailedCall {
  readonly vendor: Pick<Vendor, "name" | "keyVariable" | "urlHint">;
  readonly modelId: string;
  readonly partialText: string;
  /** Absent where the call failed before there was one. */
  readonly endpoint: Pick<Endpoint, "baseURL" | "redact"> | undefined;
}

/** What a server said about a failure, whatever way it came. */
export interface VendorFailure {
  readonly status: number | undefined;
  readonly message: string;
  /** Code, type and message, to look for words in. */
  readonly words: string;
  readonly retryAfterMs: number | undefined;
  /** Whether the server wants another try; undefined where it does not say. */
  readonly shouldRetry: boolean | undefined;
}

/** What an error document calls the failure, in the order in which servers use these fields. */
function namedIn(document: unknown, outer: Fields | undefined, inner: Fields | undefined): unknown {
  const named = [inner?.["message"], outer?.["error"], outer?.["message"], outer?.["detail"]];
  return named.find((value) => value !== undefined && value !== null) ?? document;
}

/** Reads an error document: the vendors' `{ error: { message, type, code } }`, or what other servers send in its place. */
export function readErrorDocument(
  document: unknown,
  { status, headers }: { readonly status?: number; readonly headers?: Headers } = {},
): VendorFailure {
  const outer = asFields(document);
  const inner = asFields(outer?.["error"]) ?? outer;
  const code = inner?.["code"];
  const message = textOf(namedIn(document, outer, inner));
  // Gateways that stream put the status of the server behind them into `code`.
  const isStatus = typeof code === "number" && code >= 400 && code < 600;
  return {
    status: status ?? (isStatus ? code : undefined),
    message,
    words: [textOf(code), textOf(inner?.["type"]), message].join(" "),
    retryAfterMs: headers && retryAfterMs(headers),
    shouldRetry: headers && shouldRetry(headers),
  };
}

/** The error of an answer with this status, headers and (the start of) this body. */
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

/** The first error of this class among `e` and its causes. */
export function findCause<E extends Error>(
  e: unknown,
  type: abstract new (...args: never[]) => E,
): E | undefined {
  return causes(e).find((error): error is E => error instanceof type);
}

/** The system's own code for a broken connection (`ECONNREFUSED`), and the message nearest to it. */
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

/** Makes the errors of one call: the right code, nothing secret in them, nothing endless. */
export class FailureReport {
  readonly #call: FailedCall;
  readonly #baseURL: string;

  constructor(call: FailedCall) {
    this.#call = call;
    this.#baseURL = call.endpoint?.baseURL ?? "";
  }

  /** For what the server itself reported. */
  vendor(failure: VendorFailure): ModelCallError {
    const { status, words } = failure;
    const place = {
      baseURL: this.#baseURL,
      modelId: this.#call.modelId,
      keyVariable: this.#call.vendor.keyVariable,
      urlHint: this.#call.vendor.urlHint,
    };
    const judged =
      status === undefined ? judgeWords(words, place) : judgeStatus(status, words, place);
    const verdict = { ...judged, retryable: failure.shouldRetry ?? judged.retryable };
    const said = failure.message === "" ? "(no message)" : failure.message;
    const head = status === undefined ? "the server reported an error" : `status ${status}`;
    return this.error(verdict, `${head}: ${said}`, { status, retryAfterMs: failure.retryAfterMs });
  }

  /** For a success that is no answer. */
  badAnswer(e: InvalidResponseError): ModelCallError {
    const verdict: Verdict = {
      code: "AE_MODEL_BAD_RESPONSE",
      retryable: true,
      ...(e.hint === undefined ? {} : { hint: e.hint }),
    };
    if (e.shown === undefined) return this.error(verdict, e.message);
    // Redacted before it is cut: half a key would not be recognised.
    return this.error(
      verdict,
      `${e.message}: ${preview(this.#redact(preview(e.shown, REDACTED_TEXT_LIMIT)))}`,
    );
  }

  /** For a call that went over one of its limits. */
  timeout(exceeded: ExceededLimit, limitMs: number): ModelCallError {
    const what =
      exceeded === "timeoutMs"
        ? `no complete answer within ${limitMs} ms`
        : `nothing came for ${limitMs} ms`;
    return this.error(
      {
        code: "AE_MODEL_TIMEOUT",
        retryable: true,
        hint: `Raise ${exceeded} in the options of the model.`,
      },
      what,
    );
  }

  /** For a call that got no answer. */
  connection(e: unknown): ModelCallError {
    const { code, text } = describeConnection(e);
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
    // No `cause`: the clients' errors hold request options, headers and unlimited bodies.
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

  #redact(text: string): string {
    return this.#call.endpoint?.redact(text) ?? text;
  }
}

/** Turns whatever ended a call, save an HTTP failure, whose body has to be read first, into a ModelCallError. */
export function toModelCallError(e: unknown, call: FailedCall): ModelCallError {
  if (ModelCallError.isInstance(e)) return e;
  const report = new FailureReport(call);
  if (e instanceof ErrorDocument) return report.vendor(readErrorDocument(e.document));
  if (e instanceof InvalidResponseError) return report.badAnswer(e);
  if (e instanceof UnsupportedRequest)
    return report.error(
      { code: "AE_MODEL_BAD_REQUEST", retryable: false, hint: e.hint },
      e.message,
    );
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

/** The vendor's own wish, where it named one. */
function waiting(retryAfterMs: number | undefined): string | undefined {
  if (retryAfterMs === undefined) return undefined;
  return `The vendor asks to wait ${Math.ceil(retryAfterMs / 1000)} s; retries wait up to maxRetryAfterMs of retry().`;
}
