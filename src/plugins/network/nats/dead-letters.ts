import type { DeadLetter, WorkRequest } from "../../../contracts/network.js";
import type { Broker, BrokerLink } from "./broker.js";
import type { RequestRecord, RequestStates } from "./request-state.js";
import type { RequestRooms } from "./request-rooms.js";
import { storedMessages, unlessUnknown } from "./bucket.js";
import { subjectToken } from "./broker-names.js";
import { FINGERPRINT, PARTS } from "./request-rooms.js";
import { endTicket } from "./tickets.js";

/** The header of the reason. Its value is encoded, because headers have no line breaks. */
const REASON = "AE-Reason";
/** Unpaired surrogates, which can't be encoded. */
const LONE = /\p{Surrogate}/gu;

/** Requests that are not delivered any more, in a stream. */
export class NatsDeadLetters {
  readonly #broker: Broker;
  readonly #states: RequestStates;
  readonly #rooms: RequestRooms;

  constructor(broker: Broker, states: RequestStates, rooms: RequestRooms) {
    this.#broker = broker;
    this.#states = states;
    this.#rooms = rooms;
  }

  /** Moves a request whose record has the state DEAD to this stream. May be repeated. */
  async bury(link: BrokerLink, key: string, record: RequestRecord): Promise<void> {
    const ticket = await this.#rooms.find(link, key);
    if (ticket !== undefined) {
      const sent = link.headers();
      sent.set(REASON, encodeURIComponent((record.reason ?? "").replace(LONE, "\ufffd")));
      sent.set(FINGERPRINT, record.fingerprint);
      if (record.parts !== undefined) sent.set(PARTS, record.parts);
      await link.js.publish(this.#subject(key), ticket.data, { headers: sent });
    }
    if (record.wasReleased === true) await this.#states.unmark(link, key);
    await endTicket(link, record.ack);
  }

  async list(link: BrokerLink, queue: string): Promise<readonly DeadLetter[]> {
    const { names } = this.#broker;
    const found = await storedMessages(
      link.jsm,
      names.dead,
      this.#subject(`${subjectToken(queue)}.*`),
    );
    return Promise.all(
      found.map(async ({ data, header }) => {
        const parts = header.has(PARTS) ? header.get(PARTS) : undefined;
        const json = await this.#rooms.parts.read(link, { data, parts });
        const request = JSON.parse(json) as WorkRequest; // was checked when it was accepted
        return { request, reason: decodeURIComponent(header.get(REASON)) };
      }),
    );
  }

  async count({ jsm }: BrokerLink, queue: string): Promise<number> {
    const { state } = await jsm.streams.info(this.#broker.names.dead, {
      subjects_filter: this.#subject(`${subjectToken(queue)}.*`),
    });
    return Object.keys(state.subjects ?? {}).length;
  }

  /** Queues a dead letter again. Each step may be repeated after a failure. */
  async redrive(link: BrokerLink, key: string): Promise<boolean> {
    const { names } = this.#broker;
    const { jsm } = link;
    const subject = this.#subject(key);
    const dead = await jsm.streams
      .getMessage(names.dead, { last_by_subj: subject })
      .catch(unlessUnknown);
    if (dead === null) return false;
    const known = await this.#states.get(link, key);
    if (known?.record.state === "DEAD") {
      const { reason: _, ...rest } = known.record;
      const record = { ...rest, state: "QUEUED", attempt: 0, durationMs: 0, token: "" } as const;
      if ((await this.#states.put(link, key, record, known.revision)) === undefined) return false;
    }
    const fields = [FINGERPRINT, PARTS].filter((name) => dead.header.has(name));
    const headers = Object.fromEntries(fields.map((name) => [name, dead.header.get(name)]));
    await this.#rooms.put(link, key, dead.data, headers);
    await jsm.streams.purge(names.dead, { filter: subject });
    return true;
  }

  #subject(key: string): string {
    return this.#broker.names.subject("dead", key);
  }
}
