import type {
  DeadLetter,
  EnqueueReceipt,
  Lease,
  QueueDepth,
  QueueState,
  RequestQueue,
  WorkRequest,
} from "../../../contracts/network.js";
import type { Broker, BrokerLink } from "./broker.js";
import { RequestConflictError } from "../../../contracts/network-errors.js";
import {
  checkOptions,
  preview,
  requireDelay,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { systemClock } from "../../../util/runtime.js";
import { jsonOf } from "../../shared/json-data.js";
import { letterReason } from "../shared/dead-letters.js";
import { checkDequeue } from "../shared/local-queue.js";
import { checkWorkRequest, workFingerprint } from "../shared/work-request.js";
import { NatsDeadLetters } from "./dead-letters.js";
import { NatsLeases } from "./nats-leases.js";
import { NatsDepth } from "./queue-depth.js";
import { FINGERPRINT, RequestRooms } from "./request-rooms.js";
import { RequestStates } from "./request-state.js";
import { delayTicket, endTicket } from "./tickets.js";

/** Maximum number of attempts for a request whose previous record ends concurrently. */
const TRIES = 10;

/** Requests in JetStream, for any number of processes. */
export class NatsQueue implements RequestQueue {
  readonly #broker: Broker;
  readonly #states: RequestStates;
  readonly #rooms: RequestRooms;
  readonly #dead: NatsDeadLetters;
  readonly #leases: NatsLeases;
  readonly #depth: NatsDepth;

  constructor(broker: Broker) {
    this.#broker = broker;
    this.#states = new RequestStates(broker);
    this.#rooms = new RequestRooms(broker);
    this.#dead = new NatsDeadLetters(broker, this.#states, this.#rooms);
    this.#leases = new NatsLeases({
      broker,
      states: this.#states,
      rooms: this.#rooms,
      bury: (link, key, record) => this.#dead.bury(link, key, record),
    });
    this.#depth = new NatsDepth(broker, this.#states);
  }

  async enqueue(
    queue: string,
    request: WorkRequest,
    options: { readonly maxQueued?: number | undefined } = {},
  ): Promise<EnqueueReceipt> {
    checkWorkRequest(request);
    checkOptions("enqueue()", options, ["maxQueued"]);
    requireInteger("enqueue() maxQueued", options.maxQueued, 0);
    jsonOf("A request", request);
    const key = this.#resultKey(queue, request.requestId);
    return this.#broker.run(async (link) => {
      await this.#states.keepFor(link, this.#broker.settings.idTtlMs);
      return { status: await this.#accept(link, { queue, key }, request, options.maxQueued) };
    });
  }

  async dequeue(
    queue: string,
    options: Parameters<RequestQueue["dequeue"]>[1],
  ): Promise<Lease | undefined> {
    checkDequeue(options);
    const { timeoutMs, leaseMs, signal } = options;
    this.#resultKey(queue, "");
    const pulls = this.#rooms.pullsOf(queue);
    const end = systemClock.monotonicMs() + timeoutMs;
    for (;;) {
      this.#broker.requireOpen();
      if (signal?.aborted === true) return undefined;
      const ticket = await pulls.take(end - systemClock.monotonicMs(), signal);
      if (ticket === undefined) return undefined;
      const lease = await this.#broker.run((link) =>
        this.#leases.take(link, ticket, { queue, leaseMs }),
      );
      if (lease !== undefined) return lease;
    }
  }

  async extend(lease: Lease, leaseMs: number = lease.leaseMs): Promise<boolean> {
    requireDuration("extend() leaseMs", leaseMs);
    return this.#ofHolder(lease, async (link, place) => {
      const held = await this.#leases.change(link, place, (record) => {
        return { ...record, durationMs: leaseMs };
      });
      if (held !== undefined) delayTicket(link, held.record.ack, leaseMs);
      return held !== undefined;
    });
  }

  async acknowledge(lease: Lease): Promise<boolean> {
    return this.#ofHolder(lease, async (link, place) => {
      const held = await this.#leases.change(link, place, (record) => {
        return { ...record, state: "DONE", durationMs: 0 };
      });
      if (held === undefined) return false;
      const { ack, parts, wasReleased } = held.record;
      await endTicket(link, ack);
      // The request is done. Parts that can't be removed only need space.
      await this.#rooms.parts.remove(link, parts).catch(() => undefined);
      if (wasReleased === true) await this.#states.unmark(link, place.key).catch(() => undefined);
      return true;
    });
  }

  async release(
    lease: Lease,
    options: { readonly delayMs?: number | undefined; readonly blame?: boolean | undefined } = {},
  ): Promise<boolean> {
    checkOptions("release()", options, ["delayMs", "blame"]);
    requireDelay("release() delayMs", options.delayMs);
    const { delayMs = 0, blame = true } = options;
    return this.#ofHolder(lease, async (link, place) => {
      const held = await this.#leases.change(link, place, (record) => {
        const attempt = blame ? record.attempt : record.attempt - 1;
        return { ...record, state: "QUEUED", attempt, durationMs: delayMs, wasReleased: true };
      });
      if (held === undefined) return false;
      const { ack, acceptedMs } = held.record;
      await this.#states.mark(link, place.key, acceptedMs);
      delayTicket(link, ack, delayMs);
      return true;
    });
  }

  async deadLetter(lease: Lease, reason: string): Promise<boolean> {
    const kept = letterReason(reason);
    return this.#ofHolder(lease, async (link, place) => {
      const held = await this.#leases.change(link, place, (record) => {
        return { ...record, state: "DEAD", durationMs: 0, reason: kept };
      });
      if (held === undefined) return false;
      await this.#dead.bury(link, place.key, held.record);
      return true;
    });
  }

  async deadLetters(queue: string): Promise<readonly DeadLetter[]> {
    this.#resultKey(queue, "");
    return this.#broker.run((link) => this.#dead.list(link, queue));
  }

  async redrive(queue: string, requestId: string): Promise<boolean> {
    const key = this.#resultKey(queue, requestId);
    return this.#broker.run((link) => this.#dead.redrive(link, key));
  }

  async status(queue: string, requestId: string): Promise<QueueState | undefined> {
    const key = this.#resultKey(queue, requestId);
    return this.#broker.run(async (link) => {
      const kept = await this.#states.get(link, key);
      if (kept === undefined)
        return (await this.#rooms.find(link, key)) === undefined ? undefined : "QUEUED";
      const { state, durationMs } = kept.record;
      if (state !== "LEASED") return state;
      const isOver = (await this.#broker.now(link)) >= kept.writtenMs + durationMs;
      return isOver ? "QUEUED" : "LEASED";
    });
  }

  async depth(queue: string): Promise<QueueDepth> {
    this.#resultKey(queue, "");
    return this.#broker.run(async (link) => {
      await this.#rooms.prepare(link, queue);
      const [depth, dead] = await Promise.all([
        this.#depth.of(link, queue),
        this.#dead.count(link, queue),
      ]);
      return { ...depth, dead };
    });
  }

  /** Ends all waits without a request. Later calls reject. */
  async close(): Promise<void> {
    this.#rooms.close();
  }

  #resultKey(queue: string, requestId: string): string {
    requireText(queue, `queue must be the name of a queue, got: ${preview(queue)}`);
    return this.#broker.names.requestKey(queue, requestId);
  }

  async #accept(
    link: BrokerLink,
    { queue, key }: { readonly queue: string; readonly key: string },
    request: WorkRequest,
    maxQueued: number | undefined,
  ): Promise<EnqueueReceipt["status"]> {
    const fingerprint = workFingerprint(request);
    const sameAs = (known: string | undefined): "DUPLICATE" => {
      if (known !== fingerprint) throw new RequestConflictError(request.requestId);
      return "DUPLICATE";
    };
    for (let n = 0; n < TRIES; n++) {
      const kept = await this.#states.get(link, key);
      if (kept !== undefined) return sameAs(kept.record.fingerprint);
      const isFull = maxQueued !== undefined && (await this.#isFull(link, queue, maxQueued));
      if (!isFull && (await this.#rooms.add(link, key, { request, fingerprint })))
        return "ACCEPTED";
      const waiting = await this.#rooms.find(link, key);
      if (waiting !== undefined) return sameAs(waiting.header.get(FINGERPRINT));
      if (isFull) return "FULL";
      // The wait has ended since.
    }
    throw this.#broker.unreachable(`request '${preview(request.requestId)}' keeps changing`);
  }

  async #isFull(link: BrokerLink, queue: string, maxQueued: number): Promise<boolean> {
    await this.#rooms.prepare(link, queue);
    return this.#depth.isFull(link, queue, maxQueued);
  }

  #ofHolder(
    { queue, request, token }: Lease,
    change: (
      link: BrokerLink,
      place: { readonly token: string; readonly key: string },
    ) => Promise<boolean>,
  ): Promise<boolean> {
    const place = { token, key: this.#resultKey(queue, request.requestId) };
    return this.#broker.run((link) => change(link, place));
  }
}
