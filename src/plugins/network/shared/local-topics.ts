import type { Topics } from "../../../contracts/network.js";
import { ValidationError } from "../../../contracts/errors.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { preview, requireFunction, requireText } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { jsonOf } from "../../shared/json-data.js";

const LARGEST_BYTES = 4_096;

type MessageCallback = (message: unknown) => void;

/**
 * Returns the JSON of a message.
 * @throws ValidationError for a blank topic, a message without JSON, and more than 4 KiB.
 */
export function messageJson(topic: string, message: unknown): string {
  requireText(topic, `topic must be a text that is not blank, got: ${preview(topic)}`);
  const json = jsonOf("A message", message);
  const bytes = Buffer.byteLength(json);
  if (bytes > LARGEST_BYTES)
    throw new ValidationError(
      `A message must have at most ${LARGEST_BYTES} bytes as JSON, got: ${bytes}`,
      { hint: "Keep larger content in the result of a request." },
    );
  return json;
}

/** The topics of one process. */
export class LocalTopics implements Topics {
  readonly #callbacks = new Map<string, Set<MessageCallback>>();
  #isClosed = false;

  async publish(topic: string, message: unknown): Promise<void> {
    const json = messageJson(topic, message);
    this.#requireOpen();
    const callbacks = this.#callbacks.get(topic);
    if (callbacks === undefined) return;
    const copy: unknown = deepFreeze(JSON.parse(json));
    for (const callback of [...callbacks]) {
      try {
        callback(copy);
      } catch {
        // A failing subscriber must not affect the publisher and other subscribers.
      }
    }
  }

  async subscribe(topic: string, callback: MessageCallback): Promise<() => void> {
    requireText(topic, `topic must be a text that is not blank, got: ${preview(topic)}`);
    requireFunction("subscribe() callback", callback ?? null);
    this.#requireOpen();
    // The same callback may occur twice.
    const own: MessageCallback = (message) => callback(message);
    const callbacks = this.#callbacks.get(topic) ?? new Set();
    this.#callbacks.set(topic, callbacks.add(own));
    return () => {
      if (callbacks.delete(own) && callbacks.size === 0) this.#callbacks.delete(topic);
    };
  }

  /** Ends all subscriptions. Later calls reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callbacks.clear();
  }

  #requireOpen(): void {
    if (this.#isClosed)
      throw new NetworkError("The topics are closed", {
        hint: "Close the backend after its services and callers.",
      });
  }
}
