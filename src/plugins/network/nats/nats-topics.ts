import type { Topics } from "../../../contracts/network.js";
import type { Broker } from "./broker.js";
import { preview, requireFunction, requireText } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { parseJson } from "../../../util/json/parse-json.js";
import { messageJson } from "../shared/local-topics.js";
import { callSubscriber } from "./call-subscriber.js";
import { subjectToken } from "./broker-names.js";

/** Messages to the currently connected subscribers. */
export class NatsTopics implements Topics {
  readonly #broker: Broker;
  readonly #subscriptions = new Set<() => void>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async publish(topic: string, message: unknown): Promise<void> {
    const json = messageJson(topic, message);
    await this.#broker.run(async ({ nc }) => nc.publish(this.#subject(topic), json));
  }

  async subscribe(topic: string, callback: (message: unknown) => void): Promise<() => void> {
    requireText(topic, `topic must be a text that is not blank, got: ${preview(topic)}`);
    requireFunction("subscribe() callback", callback ?? null);
    return this.#broker.run(async ({ nc }) => {
      const subscription = nc.subscribe(this.#subject(topic), {
        callback: (_, message) => {
          const value = parseJson(message.string());
          if (value !== undefined) callSubscriber(callback, deepFreeze(value));
        },
      });
      const end = (): void => {
        if (this.#subscriptions.delete(end)) subscription.unsubscribe();
      };
      this.#subscriptions.add(end);
      await nc.flush();
      return end;
    });
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    for (const end of [...this.#subscriptions]) end();
  }

  #subject(topic: string): string {
    return this.#broker.names.subject("topics", subjectToken(topic));
  }
}
