import type { Queue } from "bullmq";
import type { QueueDepth } from "../../../contracts/network.js";
import type { JobData } from "./job-data.js";
import type { OpenLink } from "./redis-link.js";

/**
 * The factor of priorities in the sort order of BullMQ. The number of the job is added to the
 * product.
 */
const PRIORITY_STEP = 0x100000000;
const PRIORITIES = [1, 2, 3, 4];

/** Returns the counts of a queue, and the wait of its oldest request. */
export async function queueDepth(
  jobs: Queue<JobData>,
  { redis, storeNow }: OpenLink,
): Promise<QueueDepth> {
  const counts = await jobs.getJobCounts(
    ...(["prioritized", "waiting", "delayed", "active", "failed"] as const),
  );
  const { prioritized = 0, waiting = 0, delayed = 0, active = 0, failed = 0 } = counts;
  const queued = prioritized + waiting + delayed;
  const depth = { queued, leased: active, dead: failed };
  if (queued === 0) return { ...depth, oldestWaitMs: 0 };
  const ids = await firstIds(jobs, redis);
  const found = await Promise.all(ids.map((id) => jobs.getJob(id)));
  const times = found.flatMap((job) => job?.data.acceptedAt ?? []);
  return { ...depth, oldestWaitMs: Math.max(0, storeNow() - Math.min(storeNow(), ...times)) };
}

/** Returns the first job of each priority, of the returned jobs, and of the delayed jobs. */
async function firstIds(
  jobs: Queue<JobData>,
  redis: OpenLink["redis"],
): Promise<readonly string[]> {
  const key = jobs.toKey("prioritized");
  const found = await Promise.all([
    ...PRIORITIES.map((priority) => {
      const [from, to] = [priority * PRIORITY_STEP, (priority + 1) * PRIORITY_STEP];
      return redis.zrangebyscore(key, String(from), `(${to}`, "LIMIT", 0, 1);
    }),
    redis.lrange(jobs.toKey("wait"), -1, -1),
    redis.zrange(jobs.toKey("delayed"), "0", "0"),
  ]);
  return found.flat();
}
