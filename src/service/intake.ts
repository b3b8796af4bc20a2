import type { Lease } from "../contracts/network.js";
import type { ActiveRequest } from "../contracts/service.js";
import type { DeliveryParts } from "./delivery-parts.js";
import { messageOf } from "../util/errors.js";
import { Delivery } from "./delivery.js";
import { backoffMs, clockPause } from "../util/abort/pauses.js";
import { NO_LIMIT, type QueuePlace } from "./queue-gate.js";

/** Maximum wait of one read of the queue, in ms. */
const POLL_MS = 20_000;
/** Delays in ms between attempts while the queue can't be reached. */
const AWAY = { firstMs: 250, mostMs: 15_000 };
/**
 * From this delivery on, the request is a suspect: it may be the reason why earlier processes
 * ended.
 */
const SUSPECT_ATTEMPT = 3;
/** Time in ms without a successful read of the queue after which the intake is unhealthy. */
const SILENT_MS = 60_000;

/** Takes requests from the queue. Executes at most one request per slot concurrently. */
export class Intake {
  readonly #parts: DeliveryParts;
  readonly #running = new Set<Delivery>();
  readonly #closing = new AbortController();
  /**
   * A suspect that was returned to the queue. Until it has run in any instance, this instance
   * executes one request at a time.
   */
  #suspect: string | undefined;
  /** Whether a suspect is running. */
  #isAlone = false;
  #lastPollMs: number;
  /** The time at which a slot became free. */
  #freeSinceMs: number;
  #failures = 0;
  /** Called when a request has ended. */
  #onEnd: () => void = () => undefined;
  #loop: Promise<void> | undefined;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#lastPollMs = parts.clock.monotonicMs();
    this.#freeSinceMs = this.#lastPollMs;
  }

  get running(): number {
    return this.#running.size;
  }

  /** The requests whose runs have begun. */
  get active(): readonly ActiveRequest[] {
    return [...this.#running].flatMap(({ active }) => active ?? []);
  }

  /** Whether the queue was reached within the last minute with a free slot. */
  get isHealthy(): boolean {
    if (this.#isFull) return true;
    const since = Math.max(this.#lastPollMs, this.#freeSinceMs);
    return this.#parts.clock.monotonicMs() - since < SILENT_MS;
  }

  start(): void {
    this.#lastPollMs = this.#parts.clock.monotonicMs();
    this.#loop ??= this.#run();
  }

  /** Stops taking requests. */
  close(): void {
    this.#closing.abort();
    this.#onEnd();
  }

  /** Resolves when no request is being taken or executed. Call `close` before. */
  async drained(): Promise<void> {
    await this.#loop;
    while (this.#running.size > 0) await this.#nextEnd();
  }

  /** Ends all runs. Their requests return to the queue. */
  abandon(): void {
    for (const delivery of this.#running) delivery.drain();
  }

  /** Ends the run of a request that was cancelled. */
  cancel(requestId: string, reason: string): void {
    this.#find(requestId)?.cancel(reason);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      while (this.#isFull && !signal.aborted) await this.#nextEnd();
      if (signal.aborted) return;
      const admission = await this.#admitted();
      if (admission === undefined) continue;
      const lease = await this.#take();
      if (lease !== undefined) {
        await this.#begin(lease, admission);
        continue;
      }
      admission.leave();
      if (!signal.aborted) this.#suspect = undefined; // another instance has the request
    }
  }

  get #isFull(): boolean {
    const { maxConcurrentRequests } = this.#parts.settings;
    const one = this.#isAlone || this.#suspect !== undefined;
    return this.#running.size >= (one ? 1 : maxConcurrentRequests);
  }

  /** Waits until the limits of the queue admit one more request. */
  #admitted(): Promise<QueuePlace | undefined> | QueuePlace {
    const { gate } = this.#parts;
    const { signal } = this.#closing;
    if (gate === undefined) return NO_LIMIT;
    return this.#reached(() => gate.enter(signal, () => this.#looked()));
  }

  #take(): Promise<Lease | undefined> {
    const { backend, settings } = this.#parts;
    const { signal } = this.#closing;
    const { name, leaseMs } = settings;
    return this.#reached(async () => {
      const lease = await backend.queue.dequeue(name, { timeoutMs: POLL_MS, leaseMs, signal });
      this.#looked();
      return lease;
    });
  }

  #looked(): void {
    this.#lastPollMs = this.#parts.clock.monotonicMs();
    this.#failures = 0;
  }

  /**
   * Returns the answer of the queue. After a failure, waits and returns `undefined`. Each failure
   * increases the wait.
   */
  async #reached<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const { clock, events } = this.#parts;
    const { signal } = this.#closing;
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (++this.#failures === 1) events.warn(`The queue can't be reached: ${messageOf(error)}`);
      await clockPause(clock, backoffMs(this.#failures, AWAY), signal);
      return undefined;
    }
  }

  async #begin(lease: Lease, admission: QueuePlace): Promise<void> {
    const { requestId } = lease.request;
    if (this.#closing.signal.aborted) {
      admission.leave();
      return this.#giveBack(lease);
    }
    const isSuspect = lease.attempt >= SUSPECT_ATTEMPT;
    if (isSuspect && this.#running.size > 0) {
      // A waiting request must not have a lease. Otherwise it would become a suspect if another
      // request ended the process.
      this.#suspect = requestId;
      admission.leave();
      return this.#giveBack(lease);
    }
    admission.begin();
    this.#start(lease, { alone: isSuspect, admission });
    if (requestId === this.#suspect) this.#suspect = undefined;
    else if (this.#suspect !== undefined) await this.#forgetSuspectTaken(this.#suspect);
  }

  #start(
    lease: Lease,
    { alone, admission }: { readonly alone: boolean; readonly admission: QueuePlace },
  ): void {
    const { requestId } = lease.request;
    this.#find(requestId)?.lose(); // an earlier delivery has lost its lease
    const delivery = new Delivery(lease, this.#parts);
    this.#isAlone = alone;
    this.#running.add(delivery);
    void delivery.perform().then(() => {
      admission.leave();
      this.#running.delete(delivery);
      if (alone) this.#isAlone = false;
      this.#freeSinceMs = this.#parts.clock.monotonicMs();
      this.#onEnd();
    });
  }

  #find(requestId: string): Delivery | undefined {
    return [...this.#running].find(({ lease }) => lease.request.requestId === requestId);
  }

  async #giveBack(lease: Lease): Promise<void> {
    try {
      await this.#parts.backend.queue.release(lease, { blame: false });
    } catch {
      // The lease expires.
    }
  }

  /** Forgets the suspect for which this instance waits, if another instance has taken it. */
  async #forgetSuspectTaken(suspect: string): Promise<void> {
    const { backend, settings } = this.#parts;
    try {
      const state = await backend.queue.status(settings.name, suspect);
      if (state !== "QUEUED") this.#suspect = undefined;
    } catch {
      this.#suspect = undefined;
    }
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => (this.#onEnd = resolve));
  }
}
