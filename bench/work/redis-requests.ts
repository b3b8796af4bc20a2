import { randomUUID } from "node:crypto";
import { bullmq } from "agentensemble/network/redis";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import {
  AT_ONCE,
  backendFigures,
  figuresOf,
  QUEUE,
  REQUESTS,
  TEXT,
  TTL_MS,
  type RequestFigures,
} from "./requests.js";

const URL = process.env["AGENTENSEMBLE_TEST_REDIS"] ?? "redis://127.0.0.1:6379";

/** Measures with a separate prefix, and removes its keys. Returns `undefined` without Redis. */
async function inRedis(
  measure: (redis: Redis, prefix: string) => Promise<RequestFigures>,
): Promise<RequestFigures | undefined> {
  const redis = new Redis(URL, { lazyConnect: true, maxRetriesPerRequest: null });
  redis.on("error", () => undefined); // connect() reports it
  const prefix = `bench-${randomUUID()}`;
  try {
    await redis.connect();
  } catch {
    process.stderr.write("no Redis answers: its rows are left out\n");
    redis.disconnect();
    return undefined;
  }
  try {
    return await measure(redis, prefix);
  } finally {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 }))
      if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[])); // without a type
    redis.disconnect();
  }
}

/** Returns the figures of the adapter. */
export function redisFigures(): Promise<RequestFigures | undefined> {
  return inRedis((_, prefix) => backendFigures(bullmq({ url: URL, prefix })));
}

/**
 * Returns the figures of the client of BullMQ with the minimum of calls. They accept ids once, keep
 * the first result, and complete jobs.
 */
export function bareBullmqFigures(): Promise<RequestFigures | undefined> {
  return inRedis(async (redis, prefix) => {
    const queue = new Queue(QUEUE, { connection: redis, prefix });
    const worker = new Worker(QUEUE, null, { connection: redis, prefix, autorun: false });
    await worker.waitUntilReady();
    const accept = async (): Promise<void> => {
      for (let n = 0; n < REQUESTS; n += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, i) =>
            queue.add("t", { context: "x" }, { jobId: `r${n + i}`, priority: 3 }),
          ),
        );
    };
    const consume = async (): Promise<number> => {
      for (let count = 0; ; count++) {
        const token = randomUUID();
        const job = await worker.getNextJob(token, { block: false });
        if (job === undefined) return count;
        await redis.set(`${prefix}:result:${job.id}`, TEXT, "PX", TTL_MS, "NX");
        await job.moveToCompleted(undefined, token, false);
      }
    };
    try {
      return await figuresOf(accept, consume);
    } finally {
      await worker.close(true);
      await queue.close();
    }
  });
}
