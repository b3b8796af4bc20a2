import { createHash } from "node:crypto";

/** Names that keys contain unchanged. */
const PLAIN = /^[\w.#-]{1,200}$/;

/**
 * Returns a part of a key for any text. A plain text is unchanged, any other text becomes its
 * digest. Neither contains the colons and braces that have a meaning in keys.
 */
function redisPart(text: string): string {
  if (PLAIN.test(text)) return `r.${text}`;
  return `h.${createHash("sha256").update(JSON.stringify(text)).digest("base64url")}`;
}

/** Returns the id of the job of a request. BullMQ refuses integers and colons. */
export const jobIdOf: (requestId: string) => string = redisPart;

/**
 * Returns the name of a queue in BullMQ. Its braces keep all keys of the queue in one hash slot.
 */
export function queueNameOf(queue: string): string {
  return `{${PLAIN.test(queue) ? queue : redisPart(queue)}}`;
}

/** The names of the keys and channels, except those of the queues. All begin with the prefix. */
export class RedisNames {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Returns the key of a result, which is also the channel that announces the result. */
  result(requestId: string): string {
    return `${this.prefix}:result:${redisPart(requestId)}`;
  }

  topic(topic: string): string {
    return `${this.prefix}:topic:${redisPart(topic)}`;
  }

  /** The hash of the announced instances. */
  get catalogue(): string {
    return `${this.prefix}:catalogue`;
  }

  /** Returns the keys of a rate limit. The keys of all rate limits are in one hash slot. */
  rateWindow(key: string): readonly string[] {
    return ["starts", "places", "ends", "spent"].map((part) => this.#limit("rate", key, part));
  }

  /** Returns the keys of a budget. */
  budgetAccount(key: string): readonly string[] {
    const parts = ["used", "ends", "amounts", "settled"];
    return parts.map((part) => this.#limit("budget", key, part));
  }

  #limit(kind: string, key: string, part: string): string {
    return `${this.prefix}:{limits}:${kind}:${redisPart(key)}:${part}`;
  }
}
