import type { Queue } from "bullmq";
import type {
  DeadLetter,
  EnqueueReceipt,
  Lease,
  QueueDepth,
  QueueState,
  RequestQueue,
  WorkRequest,
} from "../../../contracts/network.js";
import type { JobData, RequestJob } from "./job-data.js";
import type { OpenLink, RedisLink } from "./redis-link.js";
import type { QueueRoom, QueueRooms } from "./queue-rooms.js";
import { RequestConflictError } from "../../../contracts/network-errors.js";
import {
  checkOptions,
  preview,
  requireDelay,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { deepFreeze } from "../../../util/objects.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { letterReason } from "../shared/dead-letters.js";
import { checkDequeue } from "../shared/local-queue.js";
import {
  checkWorkRequest,
  copiedRequest,
  priorityRank,
  workFingerprint,
} from "../shared/work-request.js";
import { countedDeliveries, requestIn } from "./job-data.js";
import { ifHeld } from "./lost-lock.js";
import { queueDepth } from "./queue-depth.js";
import { jobIdOf } from "./redis-names.js";

type DequeueCall = Parameters<RequestQueue["dequeue"]>[1];

/**
 * Length above which the content of a request is removed when the request is done. The id is kept.
 */
const KEPT_LENGTH = 1_024;
/** Time limit for returning a request, in ms. It is longer than two calls. */
const RETURN_MS = 15_000;

const STATES: Readonly<Record<string, QueueState>> = Object.freeze({
  waiting: "QUEUED",
  prioritized: "QUEUED",
  delayed: "QUEUED",
  active: "LEASED",
  completed: "DONE",
  failed: "DEAD",
});

/**
 * A queue whose requests are jobs of BullMQ. A lease is the lock of a job, and a dead letter is a
 * failed job.
 */
export class BullmqQueue implements RequestQueue {
  readonly #link: RedisLink;
  readonly #rooms: QueueRooms;
  /** The jobs of the leases of this object. */
  readonly #jobs = new WeakMap<Lease, RequestJob>();

  constructor(link: RedisLink, rooms: QueueRooms) {
    this.#link = link;
    this.#rooms = rooms;
  }

  async enqueue(
    queue: string,
    request: WorkRequest,
    options: { readonly maxQueued?: number | undefined } = {},
  ): Promise<EnqueueReceipt> {
    checkWorkRequest(request);
    checkOptions("enqueue()", options, ["maxQueued"]);
    requireInteger("enqueue() maxQueued", options.maxQueued, 0);
    const { maxQueued } = options;
    const copy = copiedRequest(request);
    const fingerprint = workFingerprint(copy);
    return this.#in(queue, async ({ queue: jobs }, { redis, storeNow }) => {
      const jobId = jobIdOf(copy.requestId);
      const key = jobs.toKey(jobId);
      if (maxQueued !== undefined) {
        const known = await redis.hget(key, "data");
        if (known !== null) return receiptOf(dataIn(known), copy, fingerprint);
        if ((await queuedIn(jobs)) >= maxQueued) return { status: "FULL" };
      }
      const call = uuidGenerator.next();
      const data = { request: copy, fingerprint, call, acceptedAt: storeNow(), forgiven: 0 };
      await jobs.add(copy.task, data, {
        jobId,
        priority: priorityRank(copy) + 1,
        removeOnComplete: { age: Math.ceil(this.#rooms.idTtlMs / 1_000) },
      });
      // If the id was known, this is the receipt of an earlier call.
      const kept = await redis.hget(key, "data");
      if (kept === null || kept.includes(call)) return { status: "ACCEPTED" };
      return receiptOf(dataIn(kept), copy, fingerprint);
    });
  }

  async dequeue(queue: string, options: DequeueCall): Promise<Lease | undefined> {
    checkDequeue(options);
    const { timeoutMs, leaseMs, signal } = options;
    if (signal?.aborted === true) return undefined;
    return this.#in(queue, async (room, link) => {
      const end = link.storeNow() + timeoutMs;
      for (;;) {
        const intake = await room.intake(leaseMs, (job) => this.#forgive(job));
        const job = await intake.take(end - link.storeNow(), signal);
        if (job === undefined) {
          // While Redis is unavailable, the library waits without an error. The ping fails in this
          // case, because there was no read.
          if (signal?.aborted !== true && timeoutMs > 0) await link.redis.ping();
          return undefined;
        }
        const lease = await this.#leaseOf(queue, job, { leaseMs, room, now: link.storeNow() });
        if (lease !== undefined) return lease;
      }
    });
  }

  async extend(lease: Lease, leaseMs: number = lease.leaseMs): Promise<boolean> {
    requireDuration("extend() leaseMs", leaseMs);
    return this.#ofHolder(lease, async (job) => isLocked(job, lease.token, leaseMs));
  }

  async acknowledge(lease: Lease): Promise<boolean> {
    return this.#ofHolder(lease, async (job) => {
      await job.moveToCompleted(undefined, lease.token, false);
      if (JSON.stringify(lease.request).length > KEPT_LENGTH) {
        const { request: _, ...kept } = job.data;
        await job.updateData(kept);
      }
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
    return this.#ofHolder(lease, async (job) => {
      if (!blame && !(await forgiven(job, lease.token))) return false;
      if (delayMs === 0) await job.moveToWait(lease.token);
      else await job.moveToDelayed(this.#rooms.clock.now().getTime() + delayMs, lease.token);
      return true;
    });
  }

  async deadLetter(lease: Lease, reason: string): Promise<boolean> {
    const kept = letterReason(reason);
    return this.#ofHolder(lease, (job, { engine }) =>
      buried(job, { engine, token: lease.token, reason: kept }),
    );
  }

  async deadLetters(queue: string): Promise<readonly DeadLetter[]> {
    return this.#in(queue, async ({ queue: jobs }) => {
      const failed = await jobs.getJobs(["failed"], 0, -1, true);
      return failed.flatMap(({ data, failedReason: reason }) =>
        // Jobs of other programs have no request.
        data.request === undefined ? [] : { request: deepFreeze(data.request), reason },
      );
    });
  }

  async redrive(queue: string, requestId: string): Promise<boolean> {
    return this.#in(queue, async ({ queue: jobs }, { storeNow }) => {
      const job = await jobs.getJob(jobIdOf(requestId));
      if (job === undefined || !(await job.isFailed())) return false;
      const { attemptsStarted, data } = job;
      await job.updateData({ ...data, forgiven: attemptsStarted, acceptedAt: storeNow() });
      return ifHeld(async () => {
        await job.retry("failed");
        return true;
      });
    });
  }

  async status(queue: string, requestId: string): Promise<QueueState | undefined> {
    return this.#in(
      queue,
      async ({ queue: jobs }) => STATES[await jobs.getJobState(jobIdOf(requestId))],
    );
  }

  async depth(queue: string): Promise<QueueDepth> {
    return this.#in(queue, ({ queue: jobs }, link) => queueDepth(jobs, link));
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  #in<T>(queue: string, work: (room: QueueRoom, link: OpenLink) => Promise<T>): Promise<T> {
    requireText(queue, `queue must be the name of a queue, got: ${preview(queue)}`);
    return this.#link.use(async (link) => work(await this.#rooms.room(queue, link), link));
  }

  /** Executes an operation for the holder of a lease. Returns false if the lease is lost. */
  #ofHolder(
    lease: Lease,
    work: (job: RequestJob, link: OpenLink) => Promise<boolean>,
  ): Promise<boolean> {
    return this.#in(lease.queue, async ({ queue: jobs }, link) => {
      const job = this.#jobs.get(lease) ?? (await jobs.getJob(jobIdOf(lease.request.requestId)));
      return job !== undefined && ifHeld(() => work(job, link));
    });
  }

  /**
   * Returns the lease of a job. Returns `undefined` if the lease was lost at once, or if the job
   * has no request.
   */
  async #leaseOf(
    queue: string,
    job: RequestJob,
    { leaseMs, room, now }: { leaseMs: number; room: QueueRoom; now: number },
  ): Promise<Lease | undefined> {
    const { token = "" } = job;
    let request: WorkRequest;
    try {
      request = deepFreeze(requestIn(job));
    } catch (error) {
      await this.#link.use(({ engine }) =>
        ifHeld(() => buried(job, { engine, token, reason: letterReason(messageOf(error)) })),
      );
      return undefined;
    }
    if (leaseMs !== room.lockMs && !(await isLocked(job, token, leaseMs))) return undefined;
    const waitedMs = Math.max(0, now - job.data.acceptedAt);
    const lease = { queue, request, token, attempt: countedDeliveries(job), leaseMs, waitedMs };
    this.#jobs.set(lease, job);
    return lease;
  }

  /** Returns a job whose consumer does not wait any more. */
  async #forgive(job: RequestJob): Promise<void> {
    const { token = "" } = job;
    await ifHeld(async () => {
      if (await forgiven(job, token)) await job.moveToWait(token);
      return true;
    });
  }
}

/** Parses the data of a job. */
function dataIn(json: string): JobData {
  return JSON.parse(json) as JobData; // written by `enqueue`
}

/** Returns the receipt. @throws RequestConflictError if the job of this id has other content. */
function receiptOf(
  known: JobData,
  { requestId }: WorkRequest,
  fingerprint: string,
): EnqueueReceipt {
  if (known.fingerprint !== fingerprint) throw new RequestConflictError(requestId);
  return { status: "DUPLICATE" };
}

/** Returns the number of waiting requests, including delayed ones. */
async function queuedIn(jobs: Queue<JobData>): Promise<number> {
  return jobs.getJobCountByTypes("prioritized", "waiting", "delayed");
}

async function isLocked(job: RequestJob, token: string, ms: number): Promise<boolean> {
  return (await job.extendLock(token, Math.ceil(ms))) === 1;
}

/**
 * Decrements the number of deliveries, if the lock is held. The lock stays held long enough to
 * return the job.
 */
async function forgiven(job: RequestJob, token: string): Promise<boolean> {
  if (!(await isLocked(job, token, RETURN_MS))) return false;
  await job.updateData({ ...job.data, forgiven: job.data.forgiven + 1 });
  return true;
}

async function buried(
  job: RequestJob,
  o: { readonly engine: OpenLink["engine"]; readonly token: string; readonly reason: string },
): Promise<boolean> {
  await job.moveToFailed(new o.engine.UnrecoverableError(o.reason), o.token, false);
  return true;
}
