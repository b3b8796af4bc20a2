import type { Redis } from "ioredis";

type ChannelListener = (message: string) => void;

/** The channels that this process subscribes to, on a separate connection. */
export class RedisChannels {
  readonly #redis: Redis;
  readonly #listeners = new Map<string, Set<ChannelListener>>();
  /** Subscriptions that Redis has confirmed, or has not answered yet. */
  readonly #confirmed = new Map<string, Promise<unknown>>();

  constructor(redis: Redis) {
    this.#redis = redis;
    // The next subscription reports the failure. Other subscriptions are renewed.
    redis.on("error", () => undefined);
    redis.on("message", (channel: string, message: string) => {
      for (const listener of [...(this.#listeners.get(channel) ?? [])]) {
        try {
          listener(message);
        } catch {
          // A failing listener, or a message of another program, must not affect other listeners.
        }
      }
    });
  }

  /** Number of channels with listeners. */
  get size(): number {
    return this.#listeners.size;
  }

  /**
   * Resolves when Redis has confirmed the subscription, with a function that ends the subscription.
   */
  async listen(channel: string, listener: ChannelListener): Promise<() => void> {
    // The same function may be registered twice.
    const own: ChannelListener = (message) => listener(message);
    const listeners = this.#listeners.get(channel) ?? new Set<ChannelListener>();
    this.#listeners.set(channel, listeners.add(own));
    const leave = (): void => {
      if (listeners.delete(own) && listeners.size === 0) this.#end(channel);
    };
    let confirmed = this.#confirmed.get(channel);
    if (confirmed === undefined) {
      confirmed = this.#redis.subscribe(channel);
      this.#confirmed.set(channel, confirmed);
    }
    try {
      await confirmed;
    } catch (error) {
      this.#confirmed.delete(channel);
      leave();
      throw error;
    }
    return leave;
  }

  close(): void {
    this.#listeners.clear();
    this.#redis.disconnect();
  }

  #end(channel: string): void {
    this.#listeners.delete(channel);
    this.#confirmed.delete(channel);
    // Messages without listeners are dropped.
    this.#redis.unsubscribe(channel).catch(() => undefined);
  }
}
