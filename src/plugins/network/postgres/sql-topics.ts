import type { Topics } from "../../../contracts/network.js";
import type { SqlNetwork } from "./sql-network.js";
import { preview, requireFunction, requireText } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { messageJson } from "../shared/local-topics.js";

/** Messages as notifications, which are not stored in a table. */
export class SqlTopics implements Topics {
  readonly #network: SqlNetwork;

  constructor(network: SqlNetwork) {
    this.#network = network;
  }

  async publish(topic: string, message: unknown): Promise<void> {
    const json = messageJson(topic, message);
    this.#network.requireOpen();
    await this.#network.notifications.send("topic", topic, json);
  }

  async subscribe(topic: string, callback: (message: unknown) => void): Promise<() => void> {
    requireText(topic, `topic must be a text that is not blank, got: ${preview(topic)}`);
    requireFunction("subscribe() callback", callback ?? null);
    this.#network.requireOpen();
    const leave = this.#network.notifications.on("topic", topic, (text) => {
      try {
        callback(deepFreeze(JSON.parse(text)));
      } catch {
        // A failing subscriber must not affect other subscribers.
      }
    });
    await this.#network.notifications.ready();
    return leave;
  }

  /** Closes the whole backend, because its parts share their connections. */
  close(): Promise<void> {
    return this.#network.close();
  }
}
