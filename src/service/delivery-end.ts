import type { Lease, WorkRequest, WorkResponse } from "../contracts/network.js";
import type { Clock } from "../contracts/runtime.js";
import type { DeliveryParts } from "./delivery-parts.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";
import { messageOf } from "../util/errors.js";
import { isObject } from "../util/objects.js";
import { backoffMs, clockPause } from "../util/abort/pauses.js";
import { limitedResponse, jsonBytes } from "./work-response.js";

/** Delays in ms between attempts to store a result. */
const STORE = { firstMs: 250, mostMs: 60_000 };
/** Attempts to end a lease whose result is stored. The next delivery would end it too. */
const ATTEMPTS = 3;
/** The largest message of a topic, in bytes. */
const MOST_TOPIC_BYTES = 4_096;

/** Ends a delivery in the stores, and reports it. */
export class DeliveryEnd {
  readonly #lease: Lease;
  readonly #parts: DeliveryParts;
  /** Ends waits for a store that is away. */
  readonly #givenUp = new AbortController();
  #stopTimer: () => void = () => undefined;

  constructor(lease: Lease, parts: DeliveryParts) {
    this.#lease = lease;
    this.#parts = parts;
  }

  /** From now on each store is asked once. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  /** Calls `fn` after `ms` milliseconds, unless the delivery has ended before. */
  stopAtEnd(clock: Clock, ms: number, fn: () => void): void {
    this.#stopTimer = startClockTimer(clock, ms, fn);
  }

  /** Stores the result, then acknowledges. Repeats both while the store is away. */
  async deliver(response: WorkResponse, ttlMs: number | undefined): Promise<void> {
    this.#stopTimer();
    const { events, settings, backend } = this.#parts;
    const kept = this.#kept(limitedResponse(response, settings.maxResultBytes));
    if (kept.truncated === true && response.truncated !== true)
      events.warn(
        `The result of request '${kept.requestId}' was cut: ${jsonBytes(response)} bytes`,
      );
    const ms = ttlMs ?? settings.resultTtlMs;
    const recorded = await this.#repeated(
      () => backend.results.store(kept.requestId, kept, ms),
      Number.POSITIVE_INFINITY,
    );
    if (recorded === undefined) return; // the lease ends, and another instance does it again
    await this.#repeated(() => backend.queue.acknowledge(this.#lease), ATTEMPTS);
    this.#finished(kept, recorded);
    await this.#publish(kept);
  }

  /** Ends a request whose result is already kept. */
  async acknowledge(): Promise<void> {
    await this.#repeated(() => this.#parts.backend.queue.acknowledge(this.#lease), ATTEMPTS);
  }

  /** The canceller has stored the result. */
  async acknowledgeCancelled(durationMs: number): Promise<void> {
    this.#stopTimer();
    await this.acknowledge();
    const { events } = this.#parts;
    const reason = "CANCELLED";
    events.emit({
      type: "request_finished",
      ...this.#request(),
      status: reason,
      reason,
      durationMs,
      recorded: true,
    });
  }

  /** Returns the request to the queue without blame. */
  async release(o: { readonly reason: string; readonly delayMs: number }): Promise<void> {
    this.#stopTimer();
    const { delayMs, reason } = o;
    const { queue } = this.#parts.backend;
    const released = await this.#repeated(
      () => queue.release(this.#lease, { delayMs, blame: false }),
      ATTEMPTS,
    );
    if (released === false) this.lost();
    else this.#parts.events.emit({ type: "request_released", ...this.#request(), reason });
  }

  /** Stores the result and ends all deliveries. */
  async bury(response: WorkResponse, reason: string): Promise<void> {
    const { backend, events, settings } = this.#parts;
    const stored = await this.#repeated(
      () => backend.results.store(response.requestId, response, settings.resultTtlMs),
      Number.POSITIVE_INFINITY,
    );
    if (stored === undefined) return;
    const buried = await this.#repeated(
      () => backend.queue.deadLetter(this.#lease, reason),
      ATTEMPTS,
    );
    if (buried === true) events.emit({ type: "dead_letter", ...this.#request(), reason });
  }

  lost(): void {
    this.#stopTimer();
    this.#parts.events.emit({ type: "lease_lost", ...this.#request() });
  }

  /** The response as it is stored: without the output where the caller wants none. */
  #kept(response: WorkResponse): WorkResponse {
    if (this.#lease.request.delivery?.method !== "NONE") return response;
    const { result: _, parsed: __, ...rest } = response;
    return rest;
  }

  /** At most once. A response that is too large is published without its output. */
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

  /** The result of `work`, repeated while it rejects. `undefined` after the last attempt. */
  async #repeated<T>(work: () => Promise<T>, attempts: number): Promise<T | undefined> {
    const { clock, events } = this.#parts;
    const { signal } = this.#givenUp;
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        if (failures === 1)
          events.warn(
            `The store failed at request '${this.#lease.request.requestId}': ${messageOf(error)}`,
          );
        if (failures >= attempts || signal.aborted) return undefined;
      }
      await clockPause(clock, backoffMs(failures, STORE), signal);
    }
  }
}

/** What the topic of a request gets: its response, or the output of a schedule. */
function topicMessage(
  { schedule }: WorkRequest,
  response: WorkResponse,
): Readonly<Record<string, unknown>> | undefined {
  const { result: text, parsed, ...short } = response;
  if (!isObject(schedule)) return jsonBytes(response) <= MOST_TOPIC_BYTES ? response : short;
  if (response.status !== "COMPLETED") return undefined; // events and results report it
  const { name, at } = schedule;
  const whole = { schedule: name, at, text, ...(parsed !== undefined && { parsed }) };
  return jsonBytes(whole) <= MOST_TOPIC_BYTES ? whole : { schedule: name, at, truncated: true };
}
