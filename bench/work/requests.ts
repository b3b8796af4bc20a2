import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NetworkBackend } from "agentensemble/network";

const REQUESTS = 2_000;
const AT_ONCE = 20;
const CONSUMERS = 10;
const TEXT = "x".repeat(400);
const QUEUE = "kitchen";
const TTL_MS = 86_400_000;

/** CPU of one request in microseconds: of its acceptance, and of its work. */
export type RequestCost = readonly [enqueue: number, work: number];

/** Microseconds of CPU that `work` takes, for each request. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
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

async function costsOf(backend: NetworkBackend): Promise<RequestCost> {
  await backend.queue.depth(QUEUE); // opens it
  const enqueue = await cpuOf(() => accept(backend));
  let done = 0;
  const work = await cpuOf(async () => {
    const counts = Array.from({ length: CONSUMERS }, () => consume(backend));
    done = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  });
  await backend.close();
  if (done !== REQUESTS) throw new Error(`${done} of ${REQUESTS} requests were worked off`);
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
