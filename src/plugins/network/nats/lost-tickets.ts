import type { ConsumerInfo } from "@nats-io/jetstream";
import type { BrokerLink } from "./broker.js";

/** Maximum length of the part of a stream that is searched. */
const MOST_SEEN = 100_000;

/**
 * Ends deliveries of messages that are not in the stream any more. A server that was killed may
 * treat them as not acknowledged, count them, and try to deliver them.
 */
export async function endLostTickets(
  { nc, jsm }: Pick<BrokerLink, "nc" | "jsm">,
  { stream_name: stream, name, num_ack_pending, ack_floor, delivered }: ConsumerInfo,
): Promise<void> {
  const floor = ack_floor.stream_seq;
  const last = delivered.stream_seq;
  if (num_ack_pending === 0 || last - floor > MOST_SEEN) return;
  const { state } = await jsm.streams.info(stream, { deleted_details: true });
  const removed = new Set(state.deleted);
  for (let seq = floor + 1; seq <= last; seq++)
    if (seq < state.first_seq || removed.has(seq))
      nc.publish(`$JS.ACK.${stream}.${name}.1.${seq}.${seq}.0.0`, "+TERM");
}
