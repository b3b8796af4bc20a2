import type {
  DeadLetter,
  EnqueueReceipt,
  Lease,
  QueueDepth,
  QueueState,
  RequestQueue,
  WorkRequest,
} from "../../../contracts/network.js";
import type { QueueClock } from "./clock-timer.js";
import type { QueueChange, QueueEntry, QueueRules } from "./queue-table.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import {
  checkOptions,
  preview,
  requireDelay,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { QueueTable } from "./queue-table.js";
import { QueueWaiters } from "./queue-waiters.js";
import { letterReason } from "./dead-letters.js";
import { checkWorkRequest, copiedRequest } from "./work-request.js";

/** Persists changes. Resolves when all previously added changes are on disk. */
export interface ChangeLog {
  /** Adds a completed change. */
  add(queue: string, change: QueueChange): void;
  /** Awaited after changes. `undefined` if there is nothing to await. */
  settled(): Promise<void> | undefined;
  /** Awaited before changes. Repeats failed writes. `undefined` without a failure. */
  ready(): Promise<void> | undefined;
}

interface LocalQueueParts {
  readonly clock: QueueClock;
  readonly rules: QueueRules;
  /** Returns the token of a new lease. Each call returns a different token. */
  readonly nextToken: () => string;
  readonly log?: ChangeLog | undefined;
  readonly tables?: Map<string, QueueTable> | undefined;
}

type DequeueOptions = Parameters<RequestQueue["dequeue"]>[1];

/** The queue of one process. With a log, its answers remain valid after a restart. */
export class LocalQueue implements RequestQueue {
  readonly #parts: LocalQueueParts;
  readonly #tables: Map<string, QueueTable>;
  readonly #waiters = new Map<string, QueueWaiters>();
  #isClosed = false;

  constructor(parts: LocalQueueParts) {
    this.#parts = parts;
    this.#tables = parts.tables ?? new Map<string, QueueTable>();
  }

  async enqueue(
    queue: string,
    request: WorkRequest,
    options: { readonly maxQueued?: number | undefined } = {},
  ): Promise<EnqueueReceipt> {
    checkWorkRequest(request);
    checkOptions("enqueue()", options, ["maxQueued"]);
    requireInteger("enqueue() maxQueued", options.maxQueued, 0);
    await this.#parts.log?.ready();
    const table = this.#table(queue);
    const status = this.#accept(queue, table, request, options.maxQueued);
    await this.#settled();
    return { status };
  }

  async dequeue(queue: string, options: DequeueOptions): Promise<Lease | undefined> {
    checkDequeue(options);
    const { timeoutMs, leaseMs, signal } = options;
    const end = this.#now() + timeoutMs;
    for (;;) {
      const ready = this.#parts.log?.ready();
      if (ready !== undefined) await ready;
      const table = this.#table(queue);
      const lease = signal?.aborted === true ? undefined : this.#take(queue, table, leaseMs);
      const leftMs = end - this.#now();
      if (lease !== undefined || leftMs <= 0 || signal?.aborted === true) {
        // The wake-up of another consumer may have been sent to this consumer.
        this.#wakeNext(queue, table);
        if (lease !== undefined) await this.#delivered(lease);
        return lease;
      }
      const waiting = this.#waitersOf(queue).wait(leftMs, signal);
      this.#wakeNext(queue, table);
      await waiting;
      if (this.#isClosed) return undefined;
    }
  }

  /** Withdraws a delivery that could not be written. */
  async #delivered(lease: Lease): Promise<void> {
    try {
      await this.#settled();
    } catch (error) {
      const table = this.#table(lease.queue);
      const id = lease.request.requestId;
      if (table.held(id, lease.token) !== undefined)
        this.#change(lease.queue, table, { op: "release", id, due: 0, blame: false });
      throw error;
    }
  }

  async extend(lease: Lease, leaseMs: number = lease.leaseMs): Promise<boolean> {
    requireDuration("extend() leaseMs", leaseMs);
    const until = this.#now() + leaseMs;
    return this.#ofHolder(lease, ({ request: { requestId } }) => {
      return { op: "extend", id: requestId, until };
    });
  }

  async acknowledge(lease: Lease): Promise<boolean> {
    return this.#ofHolder(lease, ({ request: { requestId } }) => {
      return { op: "done", id: requestId, at: this.#now() };
    });
  }

  async release(
    lease: Lease,
    options: { readonly delayMs?: number | undefined; readonly blame?: boolean | undefined } = {},
  ): Promise<boolean> {
    checkOptions("release()", options, ["delayMs", "blame"]);
    requireDelay("release() delayMs", options.delayMs);
    const { delayMs = 0, blame = true } = options;
    const due = delayMs === 0 ? 0 : this.#now() + delayMs;
    return this.#ofHolder(lease, ({ request: { requestId } }) => {
      return { op: "release", id: requestId, due, blame };
    });
  }

  async deadLetter(lease: Lease, reason: string): Promise<boolean> {
    const kept = letterReason(reason);
    return this.#ofHolder(lease, ({ request: { requestId } }) => {
      return { op: "dead", id: requestId, reason: kept };
    });
  }

  async deadLetters(queue: string): Promise<readonly DeadLetter[]> {
    const letters = this.#table(queue).deadLetters();
    await this.#settled();
    return letters;
  }

  async redrive(queue: string, requestId: string): Promise<boolean> {
    await this.#parts.log?.ready();
    const table = this.#table(queue);
    const isDead = table.isDead(requestId);
    if (isDead) this.#change(queue, table, { op: "redrive", id: requestId, at: this.#now() });
    await this.#settled();
    return isDead;
  }

  async status(queue: string, requestId: string): Promise<QueueState | undefined> {
    const state = this.#table(queue).stateOf(requestId);
    await this.#settled();
    return state;
  }

  async depth(queue: string): Promise<QueueDepth> {
    return this.#table(queue).depth(this.#now());
  }

  /** Ends all waits without a request. Later calls reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiters of this.#waiters.values()) waiters.wakeAll();
  }

  #now(): number {
    return this.#parts.clock.monotonicMs();
  }

  /** Returns the current state of a queue. */
  #table(queue: string): QueueTable {
    requireText(queue, `queue must be the name of a queue, got: ${preview(queue)}`);
    if (this.#isClosed)
      throw new NetworkError("The request queue is closed", {
        hint: "Close the backend after its services and callers.",
      });
    let table = this.#tables.get(queue);
    if (table === undefined) {
      table = new QueueTable(this.#parts.rules);
      this.#tables.set(queue, table);
    }
    table.advance(this.#now());
    return table;
  }

  #waitersOf(queue: string): QueueWaiters {
    let waiters = this.#waiters.get(queue);
    if (waiters === undefined) {
      waiters = new QueueWaiters(this.#parts.clock);
      this.#waiters.set(queue, waiters);
    }
    return waiters;
  }

  #accept(
    queue: string,
    table: QueueTable,
    request: WorkRequest,
    maxQueued = Number.POSITIVE_INFINITY,
  ): EnqueueReceipt["status"] {
    if (table.isKnown(request)) return "DUPLICATE";
    if (table.queued >= maxQueued) return "FULL";
    this.#change(queue, table, {
      op: "accept",
      request: copiedRequest(request),
      at: this.#now(),
    });
    return "ACCEPTED";
  }

  #take(queue: string, table: QueueTable, leaseMs: number): Lease | undefined {
    const entry = table.next();
    if (entry === undefined) return undefined;
    const { request, acceptedAt } = entry;
    const token = this.#parts.nextToken();
    const now = this.#now();
    const until = now + leaseMs;
    this.#change(queue, table, { op: "lease", id: request.requestId, token, until });
    const waitedMs = Math.max(0, now - acceptedAt);
    return { queue, request, token, attempt: entry.attempt, leaseMs, waitedMs };
  }

  /** Makes a change for the holder of a lease. Returns false if the lease is lost. */
  async #ofHolder(lease: Lease, change: (entry: QueueEntry) => QueueChange): Promise<boolean> {
    const { queue, token } = lease;
    await this.#parts.log?.ready();
    const table = this.#table(queue);
    const entry = table.held(lease.request.requestId, token);
    if (entry !== undefined) this.#change(queue, table, change(entry));
    await this.#settled();
    return entry !== undefined;
  }

  #change(queue: string, table: QueueTable, change: QueueChange): void {
    table.apply(change);
    this.#parts.log?.add(queue, change);
    this.#wakeNext(queue, table);
  }

  /** Wakes a consumer if a request is ready, otherwise at the time of the next request. */
  #wakeNext(queue: string, table: QueueTable): void {
    const waiters = this.#waiters.get(queue);
    if (waiters === undefined) return;
    if (table.next() === undefined) waiters.wakeAt(table.nextDue, this.#now());
    else waiters.wake();
  }

  async #settled(): Promise<void> {
    await this.#parts.log?.settled();
  }
}

export function checkDequeue(options: DequeueOptions): void {
  checkOptions("dequeue()", options, ["timeoutMs", "leaseMs", "signal"]);
  const { timeoutMs, leaseMs } = options;
  requireDelay("dequeue() timeoutMs", timeoutMs ?? null);
  requireDuration("dequeue() leaseMs", leaseMs ?? null);
}
