import type { ResultStore, WorkResponse } from "../../../contracts/network.js";
import type { QueueClock } from "./clock-timer.js";
import { ValidationError } from "../../../contracts/errors.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { preview, requireDuration, requireFunction } from "../../../contracts/validation.js";
import { deepFreeze, isObject } from "../../../util/objects.js";
import { MinHeap } from "../../../util/min-heap.js";
import { jsonOf } from "../../shared/json-data.js";
import { requireRequestId } from "./work-request.js";

/** A stored result. */
export interface KeptResult {
  readonly id: string;
  readonly response: WorkResponse;
  /** The time of its expiry. */
  readonly until: number;
}

/** A change of the results. */
export type ResultChange =
  ({ readonly op: "result" } & KeptResult) | { readonly op: "forget"; readonly id: string };

/** Persists changes. */
export interface ResultLog {
  add(change: ResultChange): void;
  /** Withdraws a change. Returns false if that is too late. */
  remove(change: ResultChange): boolean;
  /** `undefined` if there is nothing to await. */
  settled(): Promise<void> | undefined;
}

interface LocalResultsParts {
  readonly clock: Pick<QueueClock, "monotonicMs">;
  readonly log?: ResultLog | undefined;
}

type ResultCallback = (response: WorkResponse) => void;

/** The results of one process. */
export class LocalResults implements ResultStore {
  readonly #parts: LocalResultsParts;
  readonly #results = new Map<string, KeptResult>();
  readonly #expiring = new MinHeap<KeptResult>((a, b) => a.until < b.until);
  readonly #callbacks = new Map<string, Set<ResultCallback>>();
  #isClosed = false;

  constructor(parts: LocalResultsParts) {
    this.#parts = parts;
  }

  async store(requestId: string, response: WorkResponse, ttlMs: number): Promise<boolean> {
    requireRequestId(requestId);
    requireDuration("store() ttlMs", ttlMs ?? null);
    if (!isObject(response))
      throw new ValidationError(`A result must be an object, got: ${preview(response)}`);
    // The object was checked, and JSON keeps its form.
    const copy = JSON.parse(jsonOf("A result", response)) as WorkResponse;
    this.#begin();
    if (this.#results.has(requestId)) {
      await this.#settled();
      return false;
    }
    const until = this.#now() + ttlMs;
    const change = { op: "result", id: requestId, response: deepFreeze(copy), until } as const;
    this.#change(change);
    try {
      await this.#settled();
    } catch (error) {
      this.#undo(change); // the next attempt may store it
      throw error;
    }
    this.#announce(requestId);
    return true;
  }

  async retrieve(requestId: string): Promise<WorkResponse | undefined> {
    this.#begin();
    const kept = this.#results.get(requestId)?.response;
    await this.#settled();
    return kept;
  }

  async forget(requestId: string): Promise<void> {
    this.#begin();
    if (this.#results.has(requestId)) this.#change({ op: "forget", id: requestId });
    await this.#settled();
  }

  async subscribe(requestId: string, callback: ResultCallback): Promise<() => void> {
    requireFunction("subscribe() callback", callback ?? null);
    this.#begin();
    // The same callback may occur twice.
    const once: ResultCallback = (response) => callback(response);
    const callbacks = this.#callbacks.get(requestId) ?? new Set();
    this.#callbacks.set(requestId, callbacks.add(once));
    if (this.#results.has(requestId)) {
      await this.#settled();
      this.#announce(requestId);
    }
    return () => this.#leave(requestId, once);
  }

  /** Ends all subscriptions. Later calls reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callbacks.clear();
  }

  /** Number of requests with subscriptions. */
  get subscribed(): number {
    return this.#callbacks.size;
  }

  /** Applies a change from a log. */
  apply(change: ResultChange): void {
    if (change.op === "forget") this.#results.delete(change.id);
    else {
      const { op: _, ...kept } = change;
      this.#results.set(kept.id, kept);
      this.#expiring.push(kept);
    }
  }

  /** The results that have not expired. */
  contents(): Iterable<KeptResult> {
    return this.#results.values();
  }

  #now(): number {
    return this.#parts.clock.monotonicMs();
  }

  #begin(): void {
    if (this.#isClosed)
      throw new NetworkError("The result store is closed", {
        hint: "Close the backend after its services and callers.",
      });
    const now = this.#now();
    for (let next = this.#expiring.peek(); next !== undefined && next.until <= now;) {
      this.#expiring.pop();
      if (this.#results.get(next.id) === next) this.#results.delete(next.id);
      next = this.#expiring.peek();
    }
  }

  #change(change: ResultChange): void {
    this.apply(change);
    this.#parts.log?.add(change);
  }

  #undo(change: ResultChange): void {
    const forgotten = { op: "forget", id: change.id } as const;
    this.apply(forgotten);
    if (this.#parts.log?.remove(change) === false) this.#parts.log.add(forgotten);
  }

  #announce(requestId: string): void {
    const kept = this.#results.get(requestId);
    const callbacks = this.#callbacks.get(requestId);
    if (kept === undefined || callbacks === undefined) return;
    this.#callbacks.delete(requestId);
    for (const callback of callbacks) {
      try {
        callback(kept.response);
      } catch {
        // A failing subscriber must not affect the store and other subscribers.
      }
    }
  }

  #leave(requestId: string, callback: ResultCallback): void {
    const callbacks = this.#callbacks.get(requestId);
    if (callbacks?.delete(callback) === true && callbacks.size === 0)
      this.#callbacks.delete(requestId);
  }

  async #settled(): Promise<void> {
    await this.#parts.log?.settled();
  }
}
