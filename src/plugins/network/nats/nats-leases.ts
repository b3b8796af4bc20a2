import type { Lease, WorkRequest } from "../../../contracts/network.js";
import type { Broker, BrokerLink } from "./broker.js";
import type { KeptRecord, RequestRecord, RequestStates } from "./request-state.js";
import type { RequestRooms } from "./request-rooms.js";
import type { Ticket } from "./tickets.js";
import { deepFreeze } from "../../../util/objects.js";
import { systemClock, uuidGenerator } from "../../../util/runtime.js";
import { delayTicket, endTicket } from "./tickets.js";
import { FINGERPRINT, PARTS } from "./request-rooms.js";

/** A lease of this client. */
export interface HeldLease {
  readonly key: string;
  record: RequestRecord;
  revision: number;
  /**
   * The end of the lease by the monotonic clock of this process. It is never later than the end by
   * the clock of the server.
   */
  until: number;
}

interface LeasePorts {
  readonly broker: Broker;
  readonly states: RequestStates;
  readonly rooms: RequestRooms;
  /** Moves a request whose record has the state DEAD to the dead letters. */
  bury(link: BrokerLink, key: string, record: RequestRecord): Promise<void>;
}

/** Maximum number of attempts for one record with concurrent changes. */
const TRIES = 5;

/**
 * Turns tickets into leases, and changes requests for their holders. The record of a request is
 * authoritative. It is written only if it has not changed since it was read. A ticket only triggers
 * a read. Tickets are delayed by the duration of the lease, so that the server delivers them again
 * when the lease ends.
 */
export class NatsLeases {
  readonly #ports: LeasePorts;
  readonly #held = new Map<string, HeldLease>();
  readonly #prefix = uuidGenerator.next();
  #count = 0;

  constructor(ports: LeasePorts) {
    this.#ports = ports;
  }

  /** Leases the request of a ticket. Returns `undefined` if the request is done, dead or leased. */
  async take(
    link: BrokerLink,
    ticket: Ticket,
    { queue, leaseMs }: { readonly queue: string; readonly leaseMs: number },
  ): Promise<Lease | undefined> {
    const { broker, rooms } = this.#ports;
    const held = await this.#acquire(link, ticket, leaseMs);
    if (held === undefined) return undefined;
    delayTicket(link, ticket.ack, leaseMs);
    const { record } = held;
    this.#held.set(record.token, held);
    const json = await rooms.parts.read(link, { data: ticket.data, parts: record.parts });
    return {
      queue,
      // The request was checked when it was accepted.
      request: deepFreeze(JSON.parse(json) as WorkRequest),
      token: record.token,
      attempt: record.attempt,
      leaseMs,
      waitedMs: Math.max(0, (await broker.now(link)) - ticket.acceptedMs),
    };
  }

  /**
   * Writes the next record of a leased request. Returns the new lease. Returns `undefined` if the
   * lease is lost.
   */
  async change(
    link: BrokerLink,
    { token, key }: { readonly token: string; readonly key: string },
    next: (record: RequestRecord) => RequestRecord,
  ): Promise<HeldLease | undefined> {
    const held = this.#held.get(token) ?? (await this.#elsewhere(link, key, token));
    if (held === undefined || held.until <= systemClock.monotonicMs()) return this.#drop(token);
    const { states } = this.#ports;
    for (let n = 0; n < TRIES; n++) {
      const start = systemClock.monotonicMs();
      const record = next(held.record);
      const revision = await states.put(link, key, record, held.revision);
      const present = revision === undefined ? await states.get(link, key) : undefined;
      if (revision !== undefined || hasTakenPlace(present, record)) {
        held.revision = revision ?? present?.revision ?? held.revision;
        held.record = record;
        held.until = start + record.durationMs;
        if (record.state !== "LEASED") this.#held.delete(token);
        return held;
      }
      // An earlier write of this lease was stored even though its answer was lost.
      if (present?.record.token !== token || present.record.state !== "LEASED") break;
      held.revision = present.revision;
    }
    return this.#drop(token);
  }

  #drop(token: string): undefined {
    this.#held.delete(token);
    return undefined;
  }

  /** Returns a lease that another client of this storage has taken. */
  async #elsewhere(link: BrokerLink, key: string, token: string): Promise<HeldLease | undefined> {
    const kept = await this.#ports.states.get(link, key);
    if (kept?.record.token !== token || kept.record.state !== "LEASED") return undefined;
    const until = systemClock.monotonicMs() + (await this.#leftMs(link, kept));
    return { key, record: kept.record, revision: kept.revision, until };
  }

  async #acquire(
    link: BrokerLink,
    ticket: Ticket,
    leaseMs: number,
  ): Promise<HeldLease | undefined> {
    const { states } = this.#ports;
    const { key } = ticket;
    let known = ticket.deliveries === 1 ? undefined : await states.get(link, key);
    for (let n = 0; n < TRIES; n++) {
      if (known !== undefined && !(await this.#isFree(link, ticket, known))) return undefined;
      const until = systemClock.monotonicMs() + leaseMs;
      const record = this.#leaseRecord(ticket, known?.record, leaseMs);
      const revision = await states.put(link, key, record, known?.revision ?? 0);
      if (revision !== undefined) {
        if (known?.record.state === "QUEUED") await states.unmark(link, key);
        return { key, record, revision, until };
      }
      known = await states.get(link, key);
    }
    delayTicket(link, ticket.ack, 0);
    return undefined;
  }

  #leaseRecord(ticket: Ticket, known: RequestRecord | undefined, leaseMs: number): RequestRecord {
    return {
      fingerprint: known?.fingerprint ?? ticket.header(FINGERPRINT) ?? "",
      state: "LEASED",
      token: `${this.#prefix}-${++this.#count}`,
      attempt: (known?.attempt ?? 0) + 1,
      durationMs: leaseMs,
      ack: ticket.ack,
      acceptedMs: ticket.acceptedMs,
      parts: known?.parts ?? ticket.header(PARTS),
      wasReleased: known?.wasReleased,
    };
  }

  /** Returns whether the request of a ticket may be leased. Otherwise ends or delays the ticket. */
  async #isFree(link: BrokerLink, { key, ack }: Ticket, known: KeptRecord): Promise<boolean> {
    const { state } = known.record;
    if (state === "DONE") await endTicket(link, ack);
    else if (state === "DEAD") await this.#ports.bury(link, key, { ...known.record, ack });
    else {
      const leftMs = await this.#leftMs(link, known);
      if (leftMs <= 0) return true;
      delayTicket(link, ack, leftMs);
    }
    return false;
  }

  /** Returns the remaining time of a lease or of a delay. */
  async #leftMs(link: BrokerLink, { record, writtenMs }: KeptRecord): Promise<number> {
    if (record.durationMs === 0) return 0;
    return writtenMs + record.durationMs - (await this.#ports.broker.now(link));
  }
}

function hasTakenPlace(present: KeptRecord | undefined, record: RequestRecord): boolean {
  return (
    present !== undefined &&
    present.record.state === record.state &&
    record.state !== "LEASED" &&
    present.record.token === record.token
  );
}
