import type { BrokerLink } from "./broker.js";
import type { Broker } from "./broker.js";
import type { KeptValue } from "./bucket.js";
import { Bucket } from "./bucket.js";

/**
 * The state of a request since its first delivery. The request itself is in the stream of requests
 * until it is done.
 */
export interface RequestRecord {
  /** The fingerprint of the content. */
  readonly fingerprint: string;
  readonly state: "QUEUED" | "LEASED" | "DONE" | "DEAD";
  /** The token of the latest lease. */
  readonly token: string;
  readonly attempt: number;
  /**
   * The duration of a lease, or the delay of a queued request. Counted from the time of writing.
   */
  readonly durationMs: number;
  /** The subject on which the latest delivery is acknowledged. */
  readonly ack: string;
  /** The time of acceptance by the clock of the server. */
  readonly acceptedMs: number;
  /** The name of its parts, if the request is large. */
  readonly parts?: string | undefined;
  /** Whether the request has been released, and therefore had a mark. */
  readonly wasReleased?: boolean | undefined;
  /** The reason of a dead letter. */
  readonly reason?: string | undefined;
}

/** A record in the form of the bucket. */
export interface KeptRecord {
  readonly record: RequestRecord;
  readonly revision: number;
  readonly writtenMs: number;
}

/** The records of requests, and marks of released ones. Writes of records are conditional. */
export class RequestStates {
  readonly #bucket: Bucket;

  constructor(broker: Broker) {
    this.#bucket = new Bucket(broker, broker.names.states);
  }

  async get(link: BrokerLink, key: string): Promise<KeptRecord | undefined> {
    const kept = await this.#bucket.get(link, `request.${key}`);
    return kept === undefined ? undefined : keptRecord(kept);
  }

  /**
   * Writes a record. Returns the new revision. Returns `undefined` if the record was changed.
   * Revision 0 means that there is no record.
   */
  async put(
    link: BrokerLink,
    key: string,
    record: RequestRecord,
    revision: number,
  ): Promise<number | undefined> {
    return this.#bucket.put(link, `request.${key}`, JSON.stringify(record), { revision });
  }

  /** Marks a request as released. It waits even though it was delivered. */
  async mark(link: BrokerLink, key: string, acceptedMs: number): Promise<void> {
    await this.#bucket.put(link, `released.${key}`, String(acceptedMs));
  }

  async unmark(link: BrokerLink, key: string): Promise<void> {
    await this.#bucket.remove(link, `released.${key}`);
  }

  /** Returns the acceptance times of the released requests of a queue. */
  async released(link: BrokerLink, queueToken: string): Promise<readonly number[]> {
    const marks = await this.#bucket.list(link, `released.${queueToken}.*`);
    return marks.map(({ data }) => Number(Buffer.from(data).toString()));
  }

  async keepFor(link: BrokerLink, ms: number): Promise<void> {
    await this.#bucket.keepFor(link, ms);
  }
}

function keptRecord({ data, revision, writtenMs }: KeptValue): KeptRecord {
  // written only by `put`
  const record = JSON.parse(Buffer.from(data).toString()) as RequestRecord;
  return { record, revision, writtenMs };
}
