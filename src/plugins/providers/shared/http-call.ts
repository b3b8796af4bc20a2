import { ModelCallError } from "../../../contracts/errors.js";
import { InvalidResponseError, ErrorDocument } from "./invalid-response-error.js";
import { CallDeadline } from "./call-deadline.js";
import { createConnector, type Connector, type Endpoint, type Vendor } from "./endpoint.js";
import {
  FailureReport,
  findCause,
  readHttpFailure,
  toModelCallError,
  type FailedCall,
} from "./failures.js";
import { GuardedBody } from "./guarded-body.js";
import { JsonGuard, parseScanned } from "./json-guard.js";
import type { ResolvedProviderOptions } from "./provider-options.js";
import type { Fields } from "../../../util/objects.js";
import type { SecretFilter } from "../../../contracts/redaction.js";
import {
  secretReplacer,
  secretValues,
  secretWords,
} from "../../../util/redaction/secret-values.js";
import { HttpFailure } from "./strict-fetch.js";
import { asFields } from "../../../util/objects.js";

/** Maximum number of bytes read from an error body. It is sufficient for any error document. */
const ERROR_BODY_LIMIT = 64 * 1024;

/** The settings that all calls of a provider share. */
export interface TextLine {
  readonly vendor: Vendor;
  readonly connector: Connector;
  readonly limits: Pick<
    ResolvedProviderOptions,
    "timeoutMs" | "idleTimeoutMs" | "maxResponseBytes"
  >;
  /**
   * Replaces the secrets in the options. Keys from the environment are recognised by their names in
   * all texts.
   */
  readonly redact: SecretFilter;
}

/** Creates the settings for a vendor with these options. */
export function createLine(vendor: Vendor, options: ResolvedProviderOptions): TextLine {
  const { apiKey, headers } = options;
  const redact = secretReplacer([
    ...(apiKey === undefined ? [] : [apiKey]),
    ...secretValues(headers).flatMap(secretWords),
  ]);
  return { vendor, connector: createConnector(vendor, options), limits: options, redact };
}

/** One call to a vendor, from connecting to the last byte. Must be closed. */
export class HttpCall {
  readonly #line: TextLine;
  readonly #modelId: string;
  readonly #deadline: CallDeadline;
  readonly #partialText: () => string;
  #endpoint: Endpoint | undefined;
  #body: GuardedBody | undefined;

  /**
   * `partialText` returns the text streamed so far, for errors.
   * @throws the signal's reason if it is aborted
   */
  constructor(
    line: TextLine,
    o: {
      readonly modelId: string;
      readonly signal: AbortSignal | undefined;
      readonly partialText?: () => string;
    },
  ) {
    o.signal?.throwIfAborted();
    this.#line = line;
    this.#modelId = o.modelId;
    this.#partialText = o.partialText ?? (() => "");
    const { limits } = line;
    this.#deadline = new CallDeadline(o.signal, limits, (exceeded) =>
      new FailureReport(this.#failed()).timeout(exceeded, limits[exceeded]),
    );
  }

  /** Whether the caller has aborted. */
  get cancelled(): boolean {
    return this.#deadline.cancelled;
  }

  /** Returns the endpoint of the call. */
  async connect(): Promise<Endpoint> {
    this.#endpoint = await this.#deadline.race(this.#line.connector.connect(this.#modelId));
    return this.#endpoint;
  }

  /** Sends the request and waits until the response begins. */
  async post(endpoint: Endpoint, path: string, body: object): Promise<GuardedBody> {
    const response = await this.#deadline.race(endpoint.post(path, body, this.#deadline.signal));
    this.#body = new GuardedBody(response, this.#deadline, this.#line.limits.maxResponseBytes);
    return this.#body;
  }

  /**
   * Reads a whole body as a JSON document. `begun` is the part that was read before.
   * @throws InvalidResponseError if the body is not a JSON object; ErrorDocument if the server
   * reports an error instead
   */
  async readDocument(body: GuardedBody, begun = ""): Promise<Fields> {
    const guard = new JsonGuard();
    const pieces = [begun];
    guard.scan(begun);
    for (let piece = await body.next(); piece !== undefined; piece = await body.next()) {
      guard.scan(piece);
      pieces.push(piece);
    }
    const text = pieces.join("");
    const document = asFields(parseScanned(text, "The answer"));
    if (document === undefined)
      throw new InvalidResponseError("The answer is not a JSON object", { shown: text });
    if (document["error"] !== undefined && document["error"] !== null)
      throw new ErrorDocument(document);
    return document;
  }

  /** Returns the error of the call for the given cause. */
  async failure(error: unknown): Promise<unknown> {
    if (this.#deadline.signal.aborted) return this.#deadline.signal.reason;
    const refused = findCause(error, HttpFailure);
    if (refused === undefined || ModelCallError.isInstance(error))
      return toModelCallError(error, this.#failed());
    const body = await this.#readStart(refused.response);
    // If the body does not arrive, the status alone determines the error.
    return this.#deadline.cancelled
      ? this.#deadline.signal.reason
      : new FailureReport(this.#failed()).vendor(readHttpFailure(refused.response, body));
  }

  /**
   * Ends the call. Keeps the connection for reuse if the response was complete. Closes it
   * otherwise.
   */
  async close(o: { readonly isComplete: boolean }): Promise<void> {
    if (o.isComplete) await this.#body?.release();
    this.#body?.close();
    this.#deadline.close({ isDone: o.isComplete });
  }

  async #readStart(response: Response): Promise<string> {
    const body = new GuardedBody(response, this.#deadline, ERROR_BODY_LIMIT);
    let text = "";
    try {
      for (let piece = await body.next(); piece !== undefined; piece = await body.next())
        text += piece;
    } catch {
      // Too large or interrupted. The received part is sufficient.
    }
    body.close();
    return text;
  }

  #failed(): FailedCall {
    return {
      vendor: this.#line.vendor,
      modelId: this.#modelId,
      partialText: this.#partialText(),
      endpoint: this.#endpoint,
    };
  }
}
