import type { Topics } from "../../../contracts/network.js";
import type { RedisLink } from "./redis-link.js";
import type { RedisNames } from "./redis-names.js";
import { preview, requireFunction, requireText } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { messageJson } from "../shared/local-topics.js";

/** Topics as channels of Redis. */
export class RedisTopics implements Topics {
  readonly #link: RedisLink;
  readonly #names: RedisNames;

  constructor(link: RedisLink, names: RedisNames) {
    this.#link = link;
    this.#names = names;
  }

  async publish(topic: string, message: unknown): Promise<void> {
    const json = messageJson(topic, message);
    await this.#link.use(({ redis }) => redis.publish(this.#names.topic(topic), json));
  }

  async subscribe(topic: string, callback: (message: unknown) => void): Promise<() => void> {
    requireText(topic, `topic must be a text that is not blank, got: ${preview(topic)}`);
    requireFunction("subscribe() callback", callback ?? null);
    return this.#link.use(({ channels }) =>
      channels.listen(this.#names.topic(topic), (json) => callback(deepFreeze(JSON.parse(json)))),
    );
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}
