import type { Clock } from "../../../contracts/runtime.js";
import type { WebhookOptions } from "../../../contracts/webhooks.js";
import type { SafeFetch } from "../fetch/safe-fetch.js";
import type { SafeResponse } from "../fetch/safe-response.js";
import { ValidationError } from "../../../contracts/errors.js";
import { AccessDeniedError, FetchError } from "../../../contracts/state-errors.js";
import { backoffMs, clockPause } from "../../../util/abort/pauses.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { AddressPolicy, parseUrl } from "../fetch/address-policy.js";
import { safeFetch } from "../fetch/safe-fetch.js";
import { resolveSafeFetchOptions } from "../fetch/safe-fetch-options.js";
import { shownUrl } from "../fetch/shown-url.js";
import { signedHeaders } from "./webhook-signature.js";

/** Maximum size of the body of a message in bytes. */
export const MOST_WEBHOOK_BYTES = 1024 * 1024;
/** Number of bytes that are read from a response. */
const MOST_ANSWER_BYTES = 16 * 1024;
const TIMEOUT_MS = 10_000;
const ATTEMPTS = 5;
const BACKOFF = { firstMs: 1_000, mostMs: 30_000 };
/** Maximum accepted `Retry-After`, in seconds. */
const LONGEST_WAIT_S = 60;

/** Statuses after which a repetition may succeed, in addition to those from 500. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);

/** A message to a URL. The body is JSON. */
export interface WebhookMessage {
  readonly url: string;
  /** Identifies the message. Repetitions have the same id. */
  readonly deliveryId: string;
  readonly body: string;
  /** Added to the headers of the signature. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The outcome of a message. */
export type WebhookOutcome =
  | { readonly isDelivered: true; readonly attempts: number }
  | {
      readonly isDelivered: false;
      readonly attempts: number;
      /** The reason, without secrets. */
      readonly problem: string;
    };

/** The reason why a message was not delivered. */
export function undeliveredReason(outcome: WebhookOutcome): string | undefined {
  return outcome.isDelivered ? undefined : `${outcome.problem} (${outcome.attempts} attempts)`;
}

interface FailedPost {
  readonly problem: string;
  readonly isPermanent: boolean;
  readonly waitMs?: number;
}

/**
 * Sends signed messages to allowed hosts. Follows no redirects. Repeats an attempt without a
 * response, or with the status 408, 425, 429, or 500 and above.
 */
export class WebhookSender {
  readonly #options: WebhookOptions;
  readonly #clock: Pick<Clock, "now" | "sleep">;
  readonly #fetch: SafeFetch;
  readonly #policy: AddressPolicy;

  /** `checkWebhookOptions` must have checked the options. */
  constructor(options: WebhookOptions, clock: Pick<Clock, "now" | "sleep">) {
    const { hosts, allow, timeoutMs = TIMEOUT_MS } = options;
    const targets = { onlyHosts: hosts, ...(allow !== undefined && { allow }), timeoutMs };
    this.#options = options;
    this.#clock = clock;
    this.#policy = new AddressPolicy(resolveSafeFetchOptions("webhooks", targets));
    this.#fetch = safeFetch({
      ...targets,
      redirect: "manual",
      maxBytes: MOST_ANSWER_BYTES,
      overflow: "cut",
    });
  }

  /**
   * Checks an address as `send()` does, without a connection.
   * @throws AccessDeniedError for an address that is not allowed; FetchError for a host that is not
   * found; ValidationError for an invalid URL; the reason of the signal after an abort.
   */
  async check(url: string, signal: AbortSignal): Promise<void> {
    const target = parseUrl(url);
    const { timeoutMs: ms = TIMEOUT_MS } = this.#options;
    const late = (): never => {
      throw new FetchError(`The host of ${shownUrl(target)} was not found within ${ms} ms`, {
        reason: "timeout",
      });
    };
    await withTimeout((until) => this.#policy.resolve(target, until), { ms, late, signal });
  }

  /** Sends a message. Never rejects. An abort also ends an attempt in progress. */
  async send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookOutcome> {
    const { maxAttempts = ATTEMPTS } = this.#options;
    for (let attempts = 1; ; attempts++) {
      const failed = await this.#post(message, signal);
      if (failed === undefined) return { isDelivered: true, attempts };
      const { problem, isPermanent, waitMs = 0 } = failed;
      if (!isPermanent && attempts < maxAttempts)
        await clockPause(this.#clock, Math.max(waitMs, backoffMs(attempts, BACKOFF)), signal);
      if (isPermanent || attempts >= maxAttempts || signal.aborted)
        return { isDelivered: false, attempts, problem };
    }
  }

  /** Makes one attempt. Returns the reason of its failure. */
  async #post(
    { url, deliveryId, body, headers: more }: WebhookMessage,
    signal: AbortSignal,
  ): Promise<FailedPost | undefined> {
    const bytes = Buffer.byteLength(body);
    if (bytes > MOST_WEBHOOK_BYTES)
      return {
        problem: `The message has ${bytes} bytes, above ${MOST_WEBHOOK_BYTES}`,
        isPermanent: true,
      };
    try {
      const at = this.#clock.now();
      const headers = {
        "content-type": "application/json",
        ...more,
        ...signedHeaders({ deliveryId, body, at }, this.#options.secret),
      };
      return failedPostIn(await this.#fetch(url, { method: "POST", headers, body, signal }));
    } catch (error) {
      if (signal.aborted) return { problem: "The delivery was interrupted", isPermanent: false };
      const isPermanent = AccessDeniedError.isInstance(error) || ValidationError.isInstance(error);
      return { problem: messageOf(error), isPermanent };
    }
  }
}

function failedPostIn({ ok, status, headers }: SafeResponse): FailedPost | undefined {
  if (ok) return undefined;
  const problem = `The webhook answered with status ${status}`;
  const isPermanent = status < 500 && !TRANSIENT.has(status);
  // a date is ignored, because it is not a number
  const waitS = Number(headers.get("retry-after") ?? 0);
  return waitS > 0
    ? { problem, isPermanent, waitMs: Math.min(waitS, LONGEST_WAIT_S) * 1_000 }
    : { problem, isPermanent };
}
