import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NetworkBackend } from "agentensemble/network";

export const REQUESTS = 2_000;
export const AT_ONCE = 20;
export const CONSUMERS = 10;
export const TEXT = "x".repeat(400);
export const QUEUE = "kitchen";
export const TTL_MS = 86_400_000;

/** CPU time of one request in microseconds: of its acceptance, and of its execution. */
export type RequestCost = readonly [enqueue: number, work: number];

/** The cost, and requests per second: accepted, and executed. */
export type RequestFigures = readonly [...RequestCost, enqueued: number, worked: number];

/** Returns the microseconds of CPU per request of `work`, and requests per second. */
async function measured(work: () => Promise<unknown>): Promise<readonly [number, number]> {
  const [before, began] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / REQUESTS, (REQUESTS * 1_000) / (performance.now() - began)];
}

/**
 * Returns the cost of both parts. Each consumer calls `consume`. The result is the number of its
 * requests.
 */
export async function figuresOf(
  accept: () => Promise<unknown>,
  consume: () => Promise<number>,
): Promise<RequestFigures> {
  const [enqueue, enqueued] = await measured(accept);
  let done = 0;
  const [work, worked] = await measured(async () => {
    const counts = await Promise.all(Array.from({ length: CONSUMERS }, () => consume()));
    done = counts.reduce((sum, count) => sum + count, 0);
  });
  if (done !== REQUESTS) throw new Error(`${done} of ${REQUESTS} requests were worked off`);
  return [enqueue, work, enqueued, worked];
}

async function accept({ queue }: NetworkBackend): Promise<void> {
  const base = { v: 1, from: "bench", to: QUEUE, type: "TASK", task: "t", context: "x" } as const;
  for (let n = 0; n < REQUESTS; n += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) =>
        queue.enqueue(QUEUE, { ...base, requestId: `r${n + i}` }),
      ),
    );
}

/** Takes requests, stores results of 400 characters and acknowledges, until none is left. */
async function consume({ queue, results }: NetworkBackend): Promise<number> {
  for (let count = 0; ; count++) {
    const lease = await queue.dequeue(QUEUE, { timeoutMs: 0, leaseMs: 30_000 });
    if (lease === undefined) return count;
    const { requestId } = lease.request;
    const response = { v: 1, requestId, status: "COMPLETED", result: TEXT, durationMs: 1 } as const;
    await results.store(requestId, response, TTL_MS);
    await queue.acknowledge(lease);
  }
}

/** Returns the figures of a backend. Closes the backend. */
export async function backendFigures(backend: NetworkBackend): Promise<RequestFigures> {
  await backend.queue.depth(QUEUE); // opens it
  try {
    return await figuresOf(
      () => accept(backend),
      () => consume(backend),
    );
  } finally {
    await backend.close();
  }
}

async function costsOf(backend: NetworkBackend): Promise<RequestCost> {
  const [enqueue, work] = await backendFigures(backend);
  return [enqueue, work];
}

export function costsInMemory(): Promise<RequestCost> {
  return costsOf(NetworkBackend.inMemory());
}

export async function costsInFile(): Promise<RequestCost> {
  const folder = await mkdtemp(join(tmpdir(), "requests-"));
  try {
    return await costsOf(NetworkBackend.file(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
