import assert from "node:assert/strict";
import type { Lease, RequestQueue, WorkRequest, WorkResponse } from "../../contracts/network.js";
import type { Awaitable } from "../../contracts/types.js";
import { WORK_VERSION } from "../../contracts/network.js";

/** A queue for a test of `requestQueueContract`. */
export interface RequestQueueUnderTest {
  /** Empty. */
  readonly queue: RequestQueue;
  /** Another client of the same storage, as in another process. The suite closes it. */
  readonly another?: (() => Awaitable<RequestQueue>) | undefined;
  /** With `reopens`: opens the persisted data, after the suite has closed the queue. */
  readonly reopen?: (() => Awaitable<RequestQueue>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Optional features of an engine. All others are required. */
export interface RequestQueueCapabilities {
  /** Whether requests with a higher priority are delivered first. Default true. */
  readonly priorities?: boolean | undefined;
  /**
   * Whether a request of a lower priority waits only a limited time behind higher ones. Default
   * true.
   */
  readonly ageing?: boolean | undefined;
  /** Whether `maxQueued` also limits concurrent calls of `enqueue`. Default true. */
  readonly exactCapacity?: boolean | undefined;
  /** Maximum number of consuming clients in one process. Default: any number. */
  readonly consumersPerProcess?: number | undefined;
}

/** Options of `requestQueueContract`, with the features of the queues. */
export interface RequestQueueContractOptions {
  /** Called once per test. `agingMs` is the value of one rank of priority. */
  create(settings: { readonly agingMs: number }): Awaitable<RequestQueueUnderTest>;
  /** Whether waiting requests outlive `close()`. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
  /**
   * The shortest lease in milliseconds that the engine keeps with sufficient precision. Default
   * 100.
   */
  readonly leaseMs?: number | undefined;
  readonly capabilities?: RequestQueueCapabilities | undefined;
}

/** A queue in use by a test. */
export interface RequestQueueScenario extends RequestQueueUnderTest {
  /** A client that enqueues and queries. It is another client if there is one. */
  readonly other: RequestQueue;
  /** A client that also consumes. It is another client if several may consume. */
  readonly otherConsumer: RequestQueue;
  readonly leaseMs: number;
}

export type UseQueue = (
  body: (scenario: RequestQueueScenario) => Promise<void>,
  settings?: { readonly agingMs: number },
) => Promise<void>;

/** Longer than any test takes. */
export const LONG_MS = 60_000;
/** Time limit of a wait that must end. */
const END_MS = 15_000;

export const QUEUE = "kitchen";

export function requestNamed(requestId: string, o: Partial<WorkRequest> = {}): WorkRequest {
  return {
    v: WORK_VERSION,
    requestId,
    from: "room-service",
    to: QUEUE,
    type: "TASK",
    task: "prepare-meal",
    context: `for ${requestId}`,
    ...o,
  };
}

export function resultNamed(requestId: string, result = `done by ${requestId}`): WorkResponse {
  return { v: WORK_VERSION, requestId, status: "COMPLETED", result, durationMs: 5 };
}

export async function enqueueAll(
  queue: RequestQueue,
  requests: readonly (string | WorkRequest)[],
): Promise<void> {
  for (const request of requests) {
    const whole = typeof request === "string" ? requestNamed(request) : request;
    assert.equal((await queue.enqueue(QUEUE, whole)).status, "ACCEPTED", whole.requestId);
  }
}

/** Receives the next request, which must arrive. */
export async function takeNext(
  queue: RequestQueue,
  o: { readonly leaseMs?: number; readonly timeoutMs?: number } = {},
): Promise<Lease> {
  const { leaseMs = LONG_MS, timeoutMs = END_MS } = o;
  const lease = await queue.dequeue(QUEUE, { timeoutMs, leaseMs });
  return lease ?? assert.fail(`no request was delivered within ${timeoutMs} ms`);
}

/** Fails if a request is delivered within `timeoutMs`. */
export async function assertNothing(queue: RequestQueue, timeoutMs = 0): Promise<void> {
  const lease = await queue.dequeue(QUEUE, { timeoutMs, leaseMs: LONG_MS });
  assert.equal(lease?.request.requestId, undefined, "a request was delivered");
}

/** Returns the ids of `count` requests in the order of their delivery. */
export async function deliveredIds(queue: RequestQueue, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const lease = await takeNext(queue);
    ids.push(lease.request.requestId);
    assert.equal(await queue.acknowledge(lease), true, "a held lease was refused");
  }
  return ids;
}

/** Fails unless `wait` ends. */
export async function endsSoon<T>(wait: Promise<T>, ms = END_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the wait did not end within ${ms} ms`)), ms);
  });
  return Promise.race([wait, late]).finally(() => clearTimeout(timer));
}

export const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Converts a value to plain JSON data: without undefined fields and classes. */
export const asData = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
