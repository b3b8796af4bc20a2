import { ModelCallError, messageOf, type ModelErrorCode } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { retryAfterMs } from "../shared/retry-after.js";
import type { Redactor } from "../shared/redactor.js";
import { HttpFailure } from "../shared/strict-fetch.js";
import { asFields } from "./answer.js";
import { BadAnswer, ErrorDocument } from "./bad-answer.js";
import type { Connection } from "./connection.js";

/** Texts that come from outside are cut here, so that no error page fills a log. */
const OUTSIDE_TEXT_LIMIT = 2048;
/** How much of a wrong answer is searched for secrets before the start of it is shown. */
const REDACTED_TEXT_LIMIT = 64 * 1024;
const QUOTA_WORDS = /insufficient_quota|billing|exceeded your current quota|insufficient (balance|credit)/i;
const CONTEXT_WORDS = /context_length_exceeded|context (length|window)|maximum context|too many tokens|prompt is too long/i;

/** What an error needs to know about the call it ended. */
export interface FailedCall {
  readonly modelId: string;
  readonly partialText: string;
  /** Absent where the call failed before there was one. */
  readonly connection: Connection | undefined;
}

/** What a server said about a failure, whatever way it came. */
interface VendorFailure {
  readonly status: number | undefined;
  readonly message: string;
  /** Code, type and message, to look for words in. */
  readonly words: string;
  readonly retryAfterMs: number | undefined;
}

interface Verdict {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly hint?: string;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Reads an error document: OpenAI's `{ error: { message, type, code } }`, or what other servers send in its place. */
function readErrorDocument(document: unknown, o: { readonly status?: number; readonly headers?: Headers }): VendorFailure {
  const outer = asFields(document);
  const inner = asFields(outer?.["error"]) ?? outer;
  const named = inner?.["message"] ?? outer?.["error"] ?? outer?.["message"] ?? outer?.["detail"] ?? document;
  const code = inner?.["code"];
  const message = textOf(named);
  // Gateways that stream put the status of the server behind them into `code`.
  const status = o.status ?? (typeof code === "number" && code >= 400 && code < 600 ? code : undefined);
  return {
    status,
    message,
    words: [textOf(code), textOf(inner?.["type"]), message].join(" "),
    retryAfterMs: o.headers === undefined ? undefined : retryAfterMs(o.headers),
  };
}

function readHttpFailure(failure: HttpFailure): VendorFailure {
  let document: unknown;
  try {
    document = JSON.parse(failure.body);
  } catch {
    document = failure.body.trimStart().startsWith("<") ? "(a web page)" : failure.body.trim();
  }
  return readErrorDocument(document, { status: failure.status, headers: failure.headers });
}

function judgeStatus(status: number, words: string, baseURL: string, modelId: string): Verdict {
  if (status < 400) {
    return {
      code: "AE_MODEL_BAD_RESPONSE",
      retryable: false,
      hint: `Redirects are not followed, because they would take the key elsewhere. Set baseURL to the final address (now ${baseURL}).`,
    };
  }
  if (status === 401 || status === 403)
    return { code: "AE_MODEL_AUTH", retryable: false, hint: "Check the API key (apiKey or OPENAI_API_KEY) and what it is allowed to use." };
  if (status === 402 || (status === 429 && QUOTA_WORDS.test(words)))
    return { code: "AE_MODEL_QUOTA", retryable: false, hint: "The account has no credit left: check its plan and billing." };
  if (status === 404)
    return {
      code: "AE_MODEL_BAD_REQUEST",
      retryable: false,
      hint: `Check that ${baseURL} offers a model named '${modelId}', and that baseURL is right (it usually ends in /v1).`,
    };
  if (status === 408) return { code: "AE_MODEL_TIMEOUT", retryable: true };
  if (status === 409) return { code: "AE_MODEL_SERVER", retryable: true };
  if (status === 429) return { code: "AE_MODEL_RATE_LIMITED", retryable: true };
  if (status >= 500) return { code: "AE_MODEL_SERVER", retryable: status !== 501 };
  if (CONTEXT_WORDS.test(words))
    return {
      code: "AE_MODEL_CONTEXT_LENGTH",
      retryable: false,
      hint: "The conversation is longer than the model can read: shorten it, or use a model with a larger context.",
    };
  return { code: "AE_MODEL_BAD_REQUEST", retryable: false };
}

/** An error without a status, as streams carry them, is judged by its words. */
function judgeWords(words: string, baseURL: string, modelId: string): Verdict {
  if (QUOTA_WORDS.test(words) || /rate_limit/i.test(words)) return judgeStatus(429, words, baseURL, modelId);
  if (CONTEXT_WORDS.test(words) || /invalid_request/i.test(words)) return judgeStatus(400, words, baseURL, modelId);
  if (/authentication|invalid_api_key|permission/i.test(words)) return judgeStatus(401, words, baseURL, modelId);
  return judgeStatus(500, words, baseURL, modelId);
}

function causes(e: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let current = e; current instanceof Error && !chain.includes(current); current = current.cause) chain.push(current);
  return chain;
}

/** The system's own code for a broken connection (`ECONNREFUSED`), and the message nearest to it. */
function describeConnection(e: unknown): string {
  const chain = causes(e).flatMap((error) => (error instanceof AggregateError ? [error, ...causes(error.errors[0])] : [error]));
  const code = chain.map((error) => asFields(error)?.["code"]).find((value) => typeof value === "string");
  const message = chain.findLast((error) => error.message !== "")?.message ?? messageOf(e);
  return code === undefined || message.includes(String(code)) ? message : `${String(code)} ${message}`;
}

/** Makes the errors of one call: the right code, nothing secret in them, nothing endless. */
class FailureReport {
  readonly #call: FailedCall;
  readonly #redact: Redactor;
  readonly #baseURL: string;

  constructor(call: FailedCall) {
    this.#call = call;
    this.#redact = call.connection?.redact ?? ((text) => text);
    this.#baseURL = call.connection?.baseURL ?? "";
  }

  vendor(failure: VendorFailure): ModelCallError {
    const { status, words } = failure;
    const verdict = status === undefined ? judgeWords(words, this.#baseURL, this.#call.modelId) : judgeStatus(status, words, this.#baseURL, this.#call.modelId);
    const said = failure.message === "" ? "(no message)" : failure.message;
    const head = status === undefined ? "the server reported an error" : `status ${status}`;
    return this.error(verdict, `${head}: ${said}`, { status, retryAfterMs: failure.retryAfterMs });
  }

  badAnswer(e: BadAnswer): ModelCallError {
    const verdict: Verdict = { code: "AE_MODEL_BAD_RESPONSE", retryable: true, ...(e.hint === undefined ? {} : { hint: e.hint }) };
    if (e.shown === undefined) return this.error(verdict, e.message);
    // Redacted before it is cut: half a key would not be recognised.
    return this.error(verdict, `${e.message}: ${preview(this.#redact(preview(e.shown, REDACTED_TEXT_LIMIT)))}`);
  }

  connection(e: unknown): ModelCallError {
    const hint = "Check that the server runs and that baseURL, the network and a proxy, if there is one, are right.";
    return this.error({ code: "AE_MODEL_CONNECTION", retryable: true, hint }, `no connection to ${this.#baseURL}: ${describeConnection(e)}`);
  }

  error(verdict: Verdict, text: string, o: { readonly status?: number | undefined; readonly retryAfterMs?: number | undefined } = {}): ModelCallError {
    const { modelId, partialText } = this.#call;
    const safe = this.#redact(text);
    const message = `openai:${modelId}: ${safe.length > OUTSIDE_TEXT_LIMIT ? `${safe.slice(0, OUTSIDE_TEXT_LIMIT)}...` : safe}`;
    // No `cause`: the client's errors hold request options, headers and unlimited bodies.
    return new ModelCallError(
      message,
      { provider: "openai", modelId, code: verdict.code, retryable: verdict.retryable, ...o, ...(partialText === "" ? {} : { partialText }) },
      verdict.hint === undefined ? {} : { hint: verdict.hint },
    );
  }
}

/** The error for a call that took longer than its `timeoutMs`. */
export function timeoutError(modelId: string, timeoutMs: number, partialText: string): ModelCallError {
  const report = new FailureReport({ modelId, partialText, connection: undefined });
  return report.error(
    { code: "AE_MODEL_TIMEOUT", retryable: true, hint: "Raise timeoutMs in the options of the model." },
    `no complete answer within ${timeoutMs} ms`,
  );
}

/** Turns whatever ended a call into a ModelCallError. */
export function toModelCallError(e: unknown, call: FailedCall): ModelCallError {
  if (ModelCallError.isInstance(e)) return e;
  const report = new FailureReport(call);
  const refused = causes(e).find((error) => error instanceof HttpFailure);
  if (refused instanceof HttpFailure) return report.vendor(readHttpFailure(refused));
  if (e instanceof ErrorDocument) return report.vendor(readErrorDocument(e.document, {}));
  if (e instanceof BadAnswer) return report.badAnswer(e);
  if (call.connection?.isTimeout(e) === true)
    return report.error({ code: "AE_MODEL_TIMEOUT", retryable: true }, `the connection to ${call.connection.baseURL} timed out`);
  if (call.connection?.isConnectionError(e) === true) return report.connection(e);
  if (call.connection?.isStreamedError(e) === true) return report.vendor(readErrorDocument(e.error, {}));
  const verdict: Verdict = {
    code: "AE_MODEL_BAD_REQUEST",
    retryable: false,
    hint: "Check the messages, the tools and providerOptions of the request: they must be plain JSON.",
  };
  return report.error(verdict, `the request could not be sent: ${messageOf(e)}`);
}
