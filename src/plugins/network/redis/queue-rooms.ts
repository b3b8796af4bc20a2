import type { Queue } from "bullmq";
import type { Clock } from "../../../contracts/runtime.js";
import type { JobData, RequestJob } from "./job-data.js";
import type { OpenLink, RedisLink } from "./redis-link.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { JobIntake } from "./job-intake.js";
import { queueNameOf } from "./redis-names.js";

/** Settings of all queues. */
export interface RoomSettings {
  readonly clock: Pick<Clock, "now" | "monotonicMs" | "sleep">;
  /** Milliseconds for which ids of done requests are kept. */
  readonly idTtlMs: number;
  /**
   * Interval of checks for ended leases in ms. Default: a tenth of the lease, within
   * `LEASE_CHECK_MS`.
   */
  readonly leaseCheckMs: number | undefined;
}

/** Interval in seconds in which BullMQ reads without a notification. */
const LOOK_SECONDS = 5;
const LEASE_CHECK_MS = Object.freeze({ least: 250, most: 5_000 });

/** The objects of the library for one queue. */
export class QueueRoom {
  readonly queue: Queue<JobData>;
  readonly #name: string;
  readonly #link: OpenLink;
  readonly #parts: { readonly link: RedisLink; readonly settings: RoomSettings };
  #intake: Promise<JobIntake> | undefined;
  readonly #forgetClose: () => void;
  #lockMs = 0;

  constructor(
    name: string,
    link: OpenLink,
    parts: { readonly link: RedisLink; readonly settings: RoomSettings },
  ) {
    this.#name = name;
    this.#link = link;
    this.#parts = parts;
    const { redis, engine } = link;
    this.queue = new engine.Queue<JobData>(name, {
      connection: redis,
      prefix: parts.link.prefix,
    });
    this.queue.on("error", () => undefined); // calls report the error
    this.#forgetClose = parts.link.beforeClose(() => this.queue.close());
  }

  /** Resolves when the queue can be used. */
  async ready(): Promise<void> {
    await this.#parts.link.ready(this.queue, async () => {
      this.#forgetClose();
      await this.queue.close();
    });
  }

  /** The duration in milliseconds of the locks that `intake` takes. */
  get lockMs(): number {
    return this.#lockMs;
  }

  /** Receives jobs. The first call determines the duration of their locks. */
  intake(leaseMs: number, giveBack: (job: RequestJob) => Promise<void>): Promise<JobIntake> {
    if (this.#intake === undefined) {
      this.#lockMs = leaseMs;
      const intake = this.#open(giveBack);
      this.#intake = intake;
      intake.catch(() => (this.#intake = undefined));
    }
    return this.#intake;
  }

  async #open(giveBack: (job: RequestJob) => Promise<void>): Promise<JobIntake> {
    const { redis, engine } = this.#link;
    await redis.ping(); // without this check, the library would wait for Redis without a limit
    const { link, settings } = this.#parts;
    const { least, most } = LEASE_CHECK_MS;
    const checkMs = Math.ceil(Math.min(most, Math.max(least, this.#lockMs / 10)));
    const worker = new engine.Worker<JobData>(this.#name, null, {
      connection: redis,
      prefix: link.prefix,
      autorun: false,
      drainDelay: LOOK_SECONDS,
      lockDuration: Math.ceil(this.#lockMs),
      stalledInterval: settings.leaseCheckMs ?? checkMs,
      maxStalledCount: Number.MAX_SAFE_INTEGER, // the service checks suspect requests itself
    });
    worker.on("error", () => undefined); // calls report the error
    const intake = new JobIntake(worker, settings.clock, giveBack);
    const close = async (): Promise<void> => {
      intake.close(new NetworkError("The backend in Redis is closed"));
      await worker.close(true);
    };
    const forgetClose = link.beforeClose(close);
    await link.ready(worker, async () => {
      forgetClose();
      await close();
    });
    await worker.startStalledCheckTimer();
    return intake;
  }
}

/** The queues that this process uses. */
export class QueueRooms {
  readonly #parts: { readonly link: RedisLink; readonly settings: RoomSettings };
  readonly #rooms = new Map<string, Promise<QueueRoom>>();

  constructor(link: RedisLink, settings: RoomSettings) {
    this.#parts = { link, settings };
  }

  get clock(): RoomSettings["clock"] {
    return this.#parts.settings.clock;
  }

  get idTtlMs(): number {
    return this.#parts.settings.idTtlMs;
  }

  /** Returns the objects of a queue. A failure is not cached. */
  room(queue: string, link: OpenLink): Promise<QueueRoom> {
    const name = queueNameOf(queue);
    const known = this.#rooms.get(name);
    if (known !== undefined) return known;
    const opening = this.#open(name, link);
    this.#rooms.set(name, opening);
    opening.catch(() => this.#rooms.delete(name));
    return opening;
  }

  async #open(name: string, link: OpenLink): Promise<QueueRoom> {
    await link.redis.ping();
    const room = new QueueRoom(name, link, this.#parts);
    await room.ready();
    return room;
  }
}
