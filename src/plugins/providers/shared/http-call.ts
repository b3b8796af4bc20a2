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

/** How much of the body of a refusal is read, in bytes: enough for any real error document. */
const ERROR_BODY_LIMIT = 64 * 1024;

/** Where and how a provider's calls go: the same for all of them. */
export interface Line {
  readonly vendor: Vendor;
  readonly connector: Connector;
  readonly limits: Pick<
    ResolvedProviderOptions,
    "timeoutMs" | "idleTimeoutMs" | "maxResponseBytes"
  >;
  /** Knows the secrets in the options; of keys in the environment everyone knows by their names. */
  readonly redact: SecretFilter;
}

/** The way to a vendor with these options. */
export function createLine(vendor: Vendor, options: ResolvedProviderOptions): Line {
  const { apiKey, headers } = options;
  const redact = secretReplacer([
    ...(apiKey === undefined ? [] : [apiKey]),
    ...secretValues(headers).flatMap(secretWords),
  ]);
  return { vendor, connector: createConnector(vendor, options), limits: options, redact };
}

/** One call to a vendor, from the connection to the last byte. Must be closed. */
export class HttpCall {
  readonly #line: Line;
  readonly #modelId: string;
  readonly #deadline: CallDeadline;
  readonly #partialText: () => string;
  #endpoint: Endpoint | undefined;
  #body: GuardedBody | undefined;

  /** `partialText` gives what has been streamed so far, for errors. @throws the signal's reason when it is aborted. */
  constructor(
    line: Line,
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

  /** Whether the caller gave up. */
  get cancelled(): boolean {
    return this.#deadline.cancelled;
  }

  /** Where the call goes. */
  async connect(): Promise<Endpoint> {
    this.#endpoint = await this.#deadline.race(this.#line.connector.connect(this.#modelId));
    return this.#endpoint;
  }

  /** Sends the request and waits for the answer to begin. */
  async post(endpoint: Endpoint, path: string, body: object): Promise<GuardedBody> {
    const response = await this.#deadline.race(endpoint.post(path, body, this.#deadline.signal));
    this.#body = new GuardedBody(response, this.#deadline, this.#line.limits.maxResponseBytes);
    return this.#body;
  }

  /**
   * The JSON document that a whole body is; `begun` is what was read of it before.
   * @throws InvalidResponseError for what is no JSON object; ErrorDocument when the server reports an error instead.
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

  /** What the call is to reject with, given what ended it. */
  async failure(error: unknown): Promise<unknown> {
    if (this.#deadline.signal.aborted) return this.#deadline.signal.reason;
    const refused = findCause(error, HttpFailure);
    if (refused === undefined || ModelCallError.isInstance(error))
      return toModelCallError(error, this.#failed());
    const body = await this.#readStart(refused.response);
    // A body that never comes does not change what the status says.
    return this.#deadline.cancelled
      ? this.#deadline.signal.reason
      : new FailureReport(this.#failed()).vendor(readHttpFailure(refused.response, body));
  }

  /** Ends the call. Where the answer was complete the connection is kept for further use, else it is closed. */
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
      // Too long or broken off: what came says enough.
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
