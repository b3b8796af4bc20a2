import type { Lease, WorkRequest, WorkResponse } from "../contracts/network.js";
import type { Clock } from "../contracts/runtime.js";
import type { ForeignUsage } from "../contracts/usage.js";
import type { WebhookSender } from "../plugins/shared/webhooks/webhook-sender.js";
import type { DeliveryParts } from "./delivery-parts.js";
import { WORK_VERSION } from "../contracts/network.js";
import { cancelledUsageKey } from "../plugins/network/shared/cancelled-usage.js";
import { UNDELIVERED } from "../plugins/network/shared/dead-letters.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";
import {
  MOST_WEBHOOK_BYTES,
  undeliveredReason,
} from "../plugins/shared/webhooks/webhook-sender.js";
import { messageOf } from "../util/errors.js";
import { isObject } from "../util/objects.js";
import { StoreCalls } from "./store-calls.js";
import { limitedResponse, jsonBytes, unstoredResponse } from "./work-response.js";

/**
 * Number of attempts to end a lease whose result is stored. If all fail, the next delivery ends the
 * lease.
 */
const ATTEMPTS = 3;
/** Maximum size of a message of a topic, in bytes. */
const MOST_TOPIC_BYTES = 4_096;

/** Maximum size of a result within a task. The other fields of the task also count. */
const MOST_NOTIFIED_BYTES = MOST_WEBHOOK_BYTES - 16_384;

/** The return of a request to the queue. */
export interface ReleaseRequest {
  readonly reason: string;
  readonly delayMs: number;
  /** Whether the delivery counts as a failed attempt. Default false. */
  readonly blame?: boolean | undefined;
}

/** Ends a delivery in the stores, and reports it. */
export class DeliveryEnd {
  readonly #lease: Lease;
  readonly #parts: DeliveryParts;
  readonly #calls: StoreCalls;
  #stopTimer: () => void = () => undefined;

  constructor(lease: Lease, parts: DeliveryParts) {
    this.#lease = lease;
    this.#parts = parts;
    this.#calls = new StoreCalls(parts.clock, (error) =>
      parts.events.warn(
        `The store failed at request '${lease.request.requestId}': ${messageOf(error)}`,
      ),
    );
  }

  /** Limits each later operation to one call of the store. Webhooks are no longer repeated. */
  giveUp(): void {
    this.#calls.giveUp();
  }

  /** Calls `fn` after `ms` milliseconds, unless the delivery has ended before. */
  stopAtEnd(clock: Clock, ms: number, fn: () => void): void {
    this.#stopTimer = startClockTimer(clock, ms, fn);
  }

  /** Stores the result, then ends the delivery. Repeats both while the store is unavailable. */
  async deliver(response: WorkResponse, ttlMs: number | undefined): Promise<void> {
    this.#stopTimer();
    const { events, settings, backend } = this.#parts;
    const kept = this.#kept(limitedResponse(response, settings.maxResultBytes));
    const { requestId } = kept;
    if (kept.truncated === true && response.truncated !== true)
      events.warn(`The result of request '${requestId}' was cut: ${jsonBytes(response)} bytes`);
    const ms = ttlMs ?? settings.resultTtlMs;
    const stored = await this.#calls.repeated(() => backend.results.store(requestId, kept, ms), {
      isThere: () => backend.results.retrieve(requestId),
    });
    if (stored.kind === "away") return; // the lease ends; another instance repeats the request
    if (stored.kind === "refused")
      return this.bury(unstoredResponse(kept, stored.error), messageOf(stored.error));
    const recorded = stored.value;
    if (!recorded) await this.#keepUsage(kept.usage ?? []); // the request may have been cancelled
    await this.conclude(recorded ? kept : undefined);
    await this.#spend(kept.usage ?? []);
    this.#finished(kept, recorded);
    await this.#publish(kept);
  }

  /**
   * Ends a request whose result is stored: sends it to its webhook, then acknowledges. A request
   * whose webhook can't be reached becomes a dead letter. A service that stops returns it to the
   * queue.
   */
  async conclude(known: WorkResponse | undefined): Promise<void> {
    const { queue } = this.#parts.backend;
    const problem = await this.#undelivered(known);
    if (problem === undefined)
      await this.#calls.repeated(() => queue.acknowledge(this.#lease), { attempts: ATTEMPTS });
    else if (this.#calls.givenUp.aborted)
      await this.release({ reason: `The webhook was not reached: ${problem}`, delayMs: 0 });
    else await this.#deadLetter(`${UNDELIVERED}: ${problem}`);
  }

  /**
   * Ends a cancelled request. The service that cancelled it has stored the result, without the
   * usage of the run.
   */
  async concludeCancelled(durationMs: number, usage: readonly ForeignUsage[]): Promise<void> {
    this.#stopTimer();
    await this.#keepUsage(usage);
    await this.conclude(undefined);
    await this.#spend(usage);
    const status = "CANCELLED";
    this.#parts.events.emit({
      type: "request_finished",
      ...this.#request(),
      status,
      reason: status,
      durationMs,
      ...(usage.length > 0 && { usage }),
      recorded: true,
    });
  }

  /**
   * Counts the usage in the caller's quota. Repeats the call a few times if the store is
   * unavailable.
   */
  async #spend(usage: readonly ForeignUsage[]): Promise<void> {
    const { quotas } = this.#parts;
    if (quotas === undefined || usage.length === 0) return;
    const { request } = this.#lease;
    await this.#calls.repeated(() => quotas.spend(request, usage), { attempts: ATTEMPTS });
  }

  /** Best effort: without this report, the caller counts its whole reservation. */
  async #keepUsage(usage: readonly ForeignUsage[]): Promise<void> {
    const { backend, settings } = this.#parts;
    const requestId = cancelledUsageKey(this.#lease.request.requestId);
    const kept: WorkResponse = {
      v: WORK_VERSION,
      requestId,
      status: "CANCELLED",
      durationMs: 0,
      usage,
    };
    await this.#calls.repeated(() => backend.results.store(requestId, kept, settings.resultTtlMs), {
      attempts: ATTEMPTS,
    });
  }

  /** Returns the request to the queue. */
  async release({ reason, delayMs, blame = false }: ReleaseRequest): Promise<void> {
    this.#stopTimer();
    const { queue } = this.#parts.backend;
    const released = await this.#calls.repeated(
      () => queue.release(this.#lease, { delayMs, blame }),
      { attempts: ATTEMPTS },
    );
    if (released.kind === "done" && !released.value) this.lost();
    else this.#parts.events.emit({ type: "request_released", ...this.#request(), reason });
  }

  /** Stores the result, ends all deliveries, and sends the result to its webhook. */
  async bury(response: WorkResponse, reason: string): Promise<void> {
    const { backend, events, settings } = this.#parts;
    const { requestId } = response;
    const stored = await this.#calls.repeated(
      () => backend.results.store(requestId, response, settings.resultTtlMs),
      { isThere: () => backend.results.retrieve(requestId) },
    );
    if (stored.kind === "away") return;
    await this.#deadLetter(reason);
    const problem = await this.#undelivered(response);
    if (problem !== undefined)
      events.warn(`The failure of request '${requestId}' was not delivered: ${problem}`);
  }

  lost(): void {
    this.#stopTimer();
    this.#parts.events.emit({ type: "lease_lost", ...this.#request() });
  }

  /**
   * Sends the stored result to the webhook of the request. Also sends it to the addresses that the
   * caller has configured over A2A. Returns the reason for a failure.
   */
  async #undelivered(known: WorkResponse | undefined): Promise<string | undefined> {
    const { request } = this.#lease;
    const { webhooks, push, backend } = this.#parts;
    if (webhooks === undefined || push === undefined) return undefined;
    const configs = await this.#calls.repeated(() => push.configsOf(request), {
      attempts: ATTEMPTS,
    });
    if (configs.kind === "refused") return messageOf(configs.error);
    if (configs.kind === "away") return "the configurations of its notifications can't be read";
    const isHooked = request.delivery?.method === "WEBHOOK";
    if (!isHooked && configs.value.length === 0) return undefined;
    const { requestId } = request;
    const found = known ?? (await this.#retrieved(() => backend.results.retrieve(requestId)));
    if (found === undefined) return "its result is not known any more";
    const { givenUp: signal } = this.#calls;
    const problem = isHooked ? await this.#unposted(webhooks, found, signal) : undefined;
    const response = limitedResponse(found, MOST_NOTIFIED_BYTES);
    return problem ?? push.ended(request, configs.value, { response, signal });
  }

  /** Sends the result to the webhook of the request. Returns the reason for a failure. */
  async #unposted(
    webhooks: WebhookSender,
    found: WorkResponse,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { delivery, requestId } = this.#lease.request;
    const body = JSON.stringify(limitedResponse(found, MOST_WEBHOOK_BYTES));
    const message = { url: delivery?.address ?? "", deliveryId: requestId, body };
    return undeliveredReason(await webhooks.send(message, signal));
  }

  async #retrieved(
    work: () => Promise<WorkResponse | undefined>,
  ): Promise<WorkResponse | undefined> {
    const answer = await this.#calls.repeated(work, { attempts: ATTEMPTS });
    return answer.kind === "done" ? answer.value : undefined;
  }

  async #deadLetter(text: string): Promise<void> {
    const { backend, events, redactor } = this.#parts;
    const reason = redactor.text(text);
    const buried = await this.#calls.repeated(() => backend.queue.deadLetter(this.#lease, reason), {
      attempts: ATTEMPTS,
    });
    if (buried.kind === "done" && buried.value)
      events.emit({ type: "dead_letter", ...this.#request(), reason });
  }

  /** Returns the stored form of a response: without the output if the request excludes it. */
  #kept(response: WorkResponse): WorkResponse {
    if (this.#lease.request.delivery?.method !== "NONE") return response;
    const { result: _, parsed: __, ...rest } = response;
    return rest;
  }

  /** Publishes the response at most once. Omits the output of a response that is too large. */
  async #publish(response: WorkResponse): Promise<void> {
    const { delivery } = this.#lease.request;
    if (delivery?.method !== "TOPIC" || delivery.address === undefined) return;
    const message = topicMessage(this.#lease.request, response);
    if (message === undefined) return;
    const { backend, events } = this.#parts;
    try {
      await backend.topics.publish(delivery.address, message);
    } catch (error) {
      events.warn(`Topic '${delivery.address}' was not reached: ${messageOf(error)}`);
    }
  }

  #finished(response: WorkResponse, recorded: boolean): void {
    const { status, reason, durationMs } = response;
    this.#parts.events.emit({
      type: "request_finished",
      ...this.#request(),
      status,
      ...(reason !== undefined && { reason }),
      durationMs,
      ...(response.usage !== undefined && { usage: response.usage }),
      recorded,
    });
  }

  #request(): {
    readonly requestId: string;
    readonly task: string;
    readonly from: string;
    readonly attempt: number;
  } {
    const { request, attempt } = this.#lease;
    const { requestId, task, from } = request;
    return { requestId, task, from, attempt };
  }
}

/** Returns the message for the topic of a request: its response, or the output of a schedule. */
function topicMessage(
  { schedule }: WorkRequest,
  response: WorkResponse,
): Readonly<Record<string, unknown>> | undefined {
  const { result: text, parsed, ...short } = response;
  if (!isObject(schedule)) return jsonBytes(response) <= MOST_TOPIC_BYTES ? response : short;
  if (response.status !== "COMPLETED") return undefined; // reported by events and results
  const { name, at } = schedule;
  const whole = { schedule: name, at, text, ...(parsed !== undefined && { parsed }) };
  return jsonBytes(whole) <= MOST_TOPIC_BYTES ? whole : { schedule: name, at, truncated: true };
}
