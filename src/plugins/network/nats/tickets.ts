import type { Msg } from "@nats-io/transport-node";
import type { BrokerLink } from "./broker.js";
import { nanosOf } from "./broker.js";

/** A message of the stream of requests that was delivered to this client. */
export interface Ticket {
  /** Number of deliveries by the server. */
  readonly deliveries: number;
  /** The time of acceptance of the request by the clock of the server. */
  readonly acceptedMs: number;
  /** The subject of acknowledgements. */
  readonly ack: string;
  /** `{key of the queue}.{key of the request}`. */
  readonly key: string;
  readonly data: Uint8Array;
  header(name: string): string | undefined;
}

/**
 * `$JS.ACK.stream.consumer.deliveries.stream_seq.consumer_seq.time.pending`. In clusters, the
 * domain and the account precede the stream.
 */
const SHORT_ACK = 9;

export function ticketOf({ reply = "", subject, data, headers }: Msg): Ticket {
  const tokens = reply.split(".");
  const [deliveries = "1", , , time = "0"] = tokens.slice(tokens.length === SHORT_ACK ? 4 : 6);
  return {
    deliveries: Number(deliveries),
    acceptedMs: Number(BigInt(time) / 1_000n) / 1_000,
    ack: reply,
    key: subject.split(".").slice(-2).join("."),
    data,
    header: (name) => (headers?.has(name) === true ? headers.get(name) : undefined),
  };
}

const CONFIRM_MS = 2_000;

/**
 * Ends a delivery permanently. Waits for the server for a limited time. A ticket that is delivered
 * again is detected as done.
 */
export async function endTicket({ nc }: BrokerLink, ack: string): Promise<void> {
  await nc.request(ack, "+ACK", { timeout: CONFIRM_MS }).catch(() => undefined);
}

/**
 * Causes the server to deliver a ticket again after `ms` milliseconds, in place of an earlier
 * delay.
 */
export function delayTicket({ nc }: BrokerLink, ack: string, ms: number): void {
  nc.publish(ack, ms <= 0 ? "-NAK" : `-NAK {"delay": ${nanosOf(ms)}}`);
}
