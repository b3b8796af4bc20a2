import type { StoredMsg } from "@nats-io/jetstream";
import type { WorkRequest } from "../../../contracts/network.js";
import type { Broker, BrokerLink } from "./broker.js";
import { codeOf } from "../../../util/objects.js";
import { nanosOf } from "./broker.js";
import { unlessChanged, unlessUnknown } from "./bucket.js";
import { subjectToken } from "./broker-names.js";
import { endLostTickets } from "./lost-tickets.js";
import { Parts } from "./parts.js";
import { TicketPulls } from "./ticket-pulls.js";

/** Headers of the messages of requests. */
export const FINGERPRINT = "AE-Fingerprint";
export const PARTS = "AE-Parts";

/** Time limit for a client between the receipt of a ticket and its lease. */
const ACK_WAIT_MS = 5_000;
const MOST_PULLS = 16_384;
const CONSUMER_EXISTS = [10_013, 10_105, 10_148];

/**
 * The places of queued requests. These are the subjects of one stream, and a consumer for each
 * queue.
 */
export class RequestRooms {
  readonly parts: Parts;
  readonly #broker: Broker;
  readonly #pulls = new Map<string, TicketPulls>();
  readonly #prepared = new Map<string, { readonly round: number; readonly done: Promise<void> }>();

  constructor(broker: Broker) {
    this.#broker = broker;
    const { names } = broker;
    this.parts = new Parts(names.parts, names.subject("parts"));
  }

  pullsOf(queue: string): TicketPulls {
    const consumer = subjectToken(queue);
    let pulls = this.#pulls.get(consumer);
    if (pulls === undefined) {
      pulls = new TicketPulls(this.#broker, consumer, (link) => this.prepare(link, queue));
      this.#pulls.set(consumer, pulls);
    }
    return pulls;
  }

  /** Ensures that the queue has its consumer. */
  async prepare(link: BrokerLink, queue: string): Promise<void> {
    const { round } = this.#broker;
    let made = this.#prepared.get(queue);
    if (made?.round !== round) {
      made = { round, done: this.#addConsumer(link, queue) };
      this.#prepared.set(queue, made);
    }
    try {
      await made.done;
    } catch (error) {
      this.#prepared.delete(queue);
      throw error;
    }
  }

  async #addConsumer(link: BrokerLink, queue: string): Promise<void> {
    const { names } = this.#broker;
    const name = subjectToken(queue);
    try {
      const consumer = await link.jsm.consumers.add(names.requests, {
        durable_name: name,
        ack_policy: "explicit",
        filter_subject: names.subject("requests", name, "*"),
        ack_wait: nanosOf(ACK_WAIT_MS),
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: MOST_PULLS,
      });
      await endLostTickets(link, consumer);
    } catch (error) {
      const code = codeOf(error);
      if (typeof code !== "number" || !CONSUMER_EXISTS.includes(code)) throw error;
    }
  }

  /** Adds a request. Returns false if there is one with its key. */
  async add(
    link: BrokerLink,
    key: string,
    body: { readonly request: WorkRequest; readonly fingerprint: string },
  ): Promise<boolean> {
    const sent = await this.parts.send(link, JSON.stringify(body.request));
    const isAdded = await this.put(link, key, sent.data, {
      [FINGERPRINT]: body.fingerprint,
      ...(sent.parts === undefined ? {} : { [PARTS]: sent.parts }),
    });
    if (!isAdded) await this.parts.remove(link, sent.parts);
    return isAdded;
  }

  /** Adds the message of a request. Returns false if there is one with its key. */
  async put(
    { js, headers }: BrokerLink,
    key: string,
    data: Uint8Array,
    fields: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const sent = headers();
    for (const [name, value] of Object.entries(fields)) sent.set(name, value);
    const subject = this.#broker.names.subject("requests", key);
    const seq = await unlessChanged(
      js.publish(subject, data, { headers: sent, expect: { lastSubjectSequence: 0 } }),
    );
    return seq !== undefined;
  }

  /** Returns the message of a request that is not done. */
  async find({ jsm }: BrokerLink, key: string): Promise<StoredMsg | undefined> {
    const { names } = this.#broker;
    const query = { last_by_subj: names.subject("requests", key) };
    // Reads from the leader, so that recent additions are included.
    const stored = await jsm.streams.getMessage(names.requests, query).catch(unlessUnknown);
    return stored ?? undefined;
  }

  close(): void {
    for (const pulls of this.#pulls.values()) pulls.close();
    this.#pulls.clear();
  }
}
