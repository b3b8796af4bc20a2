import type * as bullmq from "bullmq";
import type { Redis } from "ioredis";
import type * as ioredis from "ioredis";
import type { Clock } from "../../../contracts/runtime.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { loadOptionalPackage } from "../../shared/optional-package.js";
import { RedisChannels } from "./redis-channels.js";

/** The settings of the connection. */
export interface LinkSettings {
  readonly url: string;
  /** The beginning of the names of all keys and channels. */
  readonly prefix: string;
  /** Time limit of an answer in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, "now" | "monotonicMs" | "sleep">;
}

/** An open connection. */
export interface OpenLink {
  readonly redis: Redis;
  readonly channels: RedisChannels;
  readonly engine: typeof bullmq;
  /** Returns the milliseconds since 1970 by the clock of Redis. */
  storeNow(): number;
}

const MOST_DELAY_MS = 1_000;

/**
 * Opens the connection at the first call. A failure is not cached, so that the next call tries
 * again.
 */
export class RedisLink {
  readonly #settings: LinkSettings;
  readonly #closers = new Set<() => Promise<void>>();
  #opening: Promise<OpenLink> | undefined;
  #closing: Promise<void> | undefined;
  #problem: Error | undefined;

  constructor(settings: LinkSettings) {
    this.#settings = settings;
  }

  get prefix(): string {
    return this.#settings.prefix;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Returns the result of `work` with the open connection.
   * @throws NetworkError if Redis can't be used, and after `close()`.
   */
  async use<T>(work: (link: OpenLink) => Promise<T>): Promise<T> {
    this.#requireOpen();
    try {
      return await work(await this.#opened());
    } catch (cause) {
      if (AgentEnsembleError.isInstance(cause)) throw cause;
      this.#requireOpen();
      const { host } = new URL(this.#settings.url);
      const reason = messageOf(this.#problem ?? cause);
      throw new NetworkError(`Redis at ${host} can't be used: ${reason}`, {
        cause,
        hint: "Check the address, and whether Redis runs. The call may be repeated.",
      });
    }
  }

  /**
   * Waits for a new object of the library, which would otherwise wait for Redis without a limit.
   * Disposes of the object if it does not get ready.
   */
  async ready(
    made: { waitUntilReady(): Promise<unknown> },
    undo: () => Promise<void>,
  ): Promise<void> {
    const late = AbortSignal.timeout(Math.ceil(this.#settings.timeoutMs));
    try {
      await settleWithin(made.waitUntilReady(), late);
    } catch (error) {
      await undo();
      throw error;
    }
  }

  /** Calls `close` before the connection ends. Returns a function that removes the callback. */
  beforeClose(close: () => Promise<void>): () => void {
    this.#closers.add(close);
    return () => this.#closers.delete(close);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // The callers received the error.
    const open = await this.#opening?.catch(() => undefined);
    await Promise.all([...this.#closers].map((close) => close()));
    open?.channels.close();
    open?.redis.disconnect();
  }

  #requireOpen(): void {
    if (this.isClosed)
      throw new NetworkError("The backend in Redis is closed", {
        hint: "Close the backend after its services and callers.",
      });
  }

  #opened(): Promise<OpenLink> {
    if (this.#opening === undefined) {
      const opening = this.#open();
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  async #open(): Promise<OpenLink> {
    const neededBy = "bullmq() needs";
    const [engine, driver] = await Promise.all([
      loadOptionalPackage<typeof bullmq>("bullmq", neededBy),
      loadOptionalPackage<typeof ioredis>("ioredis", neededBy),
    ]);
    const { url, clock, prefix, timeoutMs } = this.#settings;
    const redis = new driver.Redis(url, {
      connectionName: prefix,
      // BullMQ requires it, and the time limit ends calls while Redis is unavailable.
      maxRetriesPerRequest: null,
      commandTimeout: timeoutMs,
      retryStrategy: (times) => Math.min(20 * 2 ** Math.min(times, 10), MOST_DELAY_MS),
    });
    this.#watch(redis);
    try {
      const [seconds, microseconds] = await redis.time();
      const ahead = Number(seconds) * 1_000 + Number(microseconds) / 1_000 - clock.monotonicMs();
      const channels = new RedisChannels(redis.duplicate());
      return { redis, channels, engine, storeNow: () => clock.monotonicMs() + ahead };
    } catch (error) {
      redis.disconnect();
      throw error;
    }
  }

  /**
   * Records the reason of a lost connection. Calls that fail after their time limit report this
   * reason.
   */
  #watch(redis: Redis): void {
    redis.on("error", (error: Error) => (this.#problem = error));
    redis.on("ready", () => (this.#problem = undefined));
  }
}
