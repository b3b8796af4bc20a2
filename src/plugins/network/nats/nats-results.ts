import type { ResultStore, WorkResponse } from "../../../contracts/network.js";
import type { Broker, BrokerLink } from "./broker.js";
import type { KeptValue } from "./bucket.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireDuration, requireFunction } from "../../../contracts/validation.js";
import { deepFreeze, isObject } from "../../../util/objects.js";
import { jsonOf } from "../../shared/json-data.js";
import { requireRequestId } from "../shared/work-request.js";
import { Bucket } from "./bucket.js";
import { callSubscriber } from "./call-subscriber.js";
import { subjectToken } from "./broker-names.js";
import { Parts } from "./parts.js";

const TTL = "AE-Ttl";
const PARTS = "AE-Parts";
/** Maximum number of attempts for a result that expires concurrently. */
const TRIES = 5;

type ResultSubscriber = (response: WorkResponse) => void;

/** Results in a bucket, for any number of processes. */
export class NatsResults implements ResultStore {
  readonly #broker: Broker;
  readonly #bucket: Bucket;
  readonly #parts: Parts;
  readonly #subscriptions = new Set<() => void>();

  constructor(broker: Broker) {
    this.#broker = broker;
    const { results } = broker.names;
    this.#bucket = new Bucket(broker, results);
    // The parts are in the stream of the bucket, so that they expire with results.
    this.#parts = new Parts(`KV_${results}`, `$KV.${results}.parts`);
  }

  async store(requestId: string, response: WorkResponse, ttlMs: number): Promise<boolean> {
    requireRequestId(requestId);
    requireDuration("store() ttlMs", ttlMs ?? null);
    if (!isObject(response))
      throw new ValidationError(`A result must be an object, got: ${preview(response)}`);
    const json = jsonOf("A result", response);
    const key = resultKey(requestId);
    return this.#broker.run(async (link) => {
      await this.#bucket.keepFor(link, ttlMs);
      for (let n = 0; n < TRIES; n++) {
        const kept = await this.#bucket.get(link, key);
        if (kept !== undefined && !(await this.#isOver(link, kept))) return false;
        const sent = await this.#parts.send(link, json);
        const headers = {
          [TTL]: String(ttlMs),
          ...(sent.parts === undefined ? {} : { [PARTS]: sent.parts }),
        };
        const revision = kept?.revision ?? 0;
        if ((await this.#bucket.put(link, key, sent.data, { revision, headers })) !== undefined)
          return true;
        await this.#parts.remove(link, sent.parts);
      }
      return false;
    });
  }

  async retrieve(requestId: string): Promise<WorkResponse | undefined> {
    return this.#broker.run((link) => this.#read(link, requestId, false));
  }

  async forget(requestId: string): Promise<void> {
    const key = resultKey(requestId);
    await this.#broker.run(async (link) => {
      const kept = await this.#bucket.get(link, key);
      if (kept === undefined) return;
      await this.#bucket.remove(link, key);
      await this.#parts.remove(link, kept.header(PARTS));
    });
  }

  async subscribe(requestId: string, callback: ResultSubscriber): Promise<() => void> {
    requireFunction("subscribe() callback", callback ?? null);
    return this.#broker.run(async (link) => {
      const look = async (): Promise<void> => {
        const response = await this.#broker.run((made) => this.#read(made, requestId, true));
        if (response === undefined || !this.#subscriptions.has(end)) return;
        end();
        callSubscriber(callback, response);
      };
      const lookAgain = (): void => {
        // A failure means a lost connection. The read is repeated when the connection is restored.
        look().catch(() => undefined);
      };
      const subject = this.#broker.names.subject("stored", subjectToken(requestId));
      const subscription = link.nc.subscribe(subject, { callback: lookAgain });
      const leave = this.#broker.onReturn(lookAgain);
      const end = (): void => {
        if (!this.#subscriptions.delete(end)) return;
        leave();
        subscription.unsubscribe();
      };
      this.#subscriptions.add(end);
      try {
        await link.nc.flush(); // later results are reported here
        await look();
      } catch (error) {
        end();
        throw error;
      }
      return end;
    });
  }

  /** Number of subscriptions that have not ended. */
  get subscribed(): number {
    return this.#subscriptions.size;
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    for (const end of [...this.#subscriptions]) end();
  }

  async #read(
    link: BrokerLink,
    requestId: string,
    fresh: boolean,
  ): Promise<WorkResponse | undefined> {
    const kept = await this.#bucket.get(link, resultKey(requestId), { fresh });
    if (kept === undefined || (await this.#isOver(link, kept))) return undefined;
    const json = await this.#parts.read(link, { data: kept.data, parts: kept.header(PARTS) });
    return deepFreeze(JSON.parse(json) as WorkResponse); // written only by `store`
  }

  #isOver(link: BrokerLink, kept: KeptValue): Promise<boolean> {
    return this.#bucket.isOver(link, kept, Number(kept.header(TTL) ?? 0));
  }
}

function resultKey(requestId: string): string {
  return `result.${subjectToken(requestId)}`;
}
