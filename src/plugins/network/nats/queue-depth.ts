import type { QueueDepth } from "../../../contracts/network.js";
import type { Broker, BrokerLink } from "./broker.js";
import type { RequestStates } from "./request-state.js";
import { subjectToken } from "./broker-names.js";
import { timeOf } from "./broker.js";
import { unlessUnknown } from "./bucket.js";

/**
 * Counts requests by the consumer of their queue. A request that was not delivered waits. A request
 * that was delivered and not acknowledged is leased, unless it has been released.
 */
export class NatsDepth {
  readonly #broker: Broker;
  readonly #states: RequestStates;

  constructor(broker: Broker, states: RequestStates) {
    this.#broker = broker;
    this.#states = states;
  }

  async of(link: BrokerLink, queue: string): Promise<Omit<QueueDepth, "dead">> {
    const token = subjectToken(queue);
    const { requests } = this.#broker.names;
    const info = await link.jsm.consumers.info(requests, token);
    const released = await this.#states.released(link, token);
    const waiting = [...released];
    if (info.num_pending > 0) {
      const next = await link.jsm.direct
        .getMessage(requests, {
          seq: info.delivered.stream_seq + 1,
          next_by_subj: this.#broker.names.subject("requests", token, "*"),
        })
        .catch(unlessUnknown);
      if (next !== null) waiting.push(timeOf(next));
    }
    const oldestMs =
      waiting.length === 0 ? 0 : (await this.#broker.now(link)) - Math.min(...waiting);
    return {
      queued: info.num_pending + released.length,
      leased: Math.max(0, info.num_ack_pending - released.length),
      oldestWaitMs: Math.max(0, oldestMs),
    };
  }

  /** Returns whether at least `maxQueued` requests wait. */
  async isFull(link: BrokerLink, queue: string, maxQueued: number): Promise<boolean> {
    const token = subjectToken(queue);
    const info = await link.jsm.consumers.info(this.#broker.names.requests, token);
    if (info.num_pending >= maxQueued) return true;
    if (info.num_pending + info.num_ack_pending < maxQueued) return false;
    const released = await this.#states.released(link, token);
    return info.num_pending + released.length >= maxQueued;
  }
}
