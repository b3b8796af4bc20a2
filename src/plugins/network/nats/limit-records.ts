import type { Broker, BrokerLink } from "./broker.js";
import { sleep } from "../../../util/abort/timeouts.js";
import { randomShare } from "../../../util/runtime.js";
import { subjectToken } from "./broker-names.js";
import { Bucket } from "./bucket.js";

/**
 * Maximum number of attempts of a change with concurrent changes, and the longest pause between two
 * attempts in ms.
 */
const TRIES = 200;
const PAUSE_MS = 20;
/** Maximum number of cached records, which save a read before a change. */
const MOST_KNOWN = 1_000;

interface KnownRecord<T> {
  readonly state: T;
  readonly revision: number;
}

/** The change of a record. Without `next`, the record stays unchanged. */
interface RecordChange<T, R> {
  readonly next?: T;
  readonly answer: R;
}

/**
 * Records of one kind in the bucket of limits. The changes of this client to a record are
 * serialized.
 */
export class LimitRecords<T> {
  readonly #broker: Broker;
  readonly #bucket: Bucket;
  readonly #kind: string;
  readonly #empty: T;
  readonly #known = new Map<string, KnownRecord<T>>();
  readonly #latest = new Map<string, Promise<unknown>>();

  constructor(broker: Broker, kind: string, empty: T) {
    this.#broker = broker;
    this.#bucket = new Bucket(broker, broker.names.limits);
    this.#kind = kind;
    this.#empty = empty;
  }

  /**
   * Changes a record atomically, and keeps it for at least `keepMs`. `change` gets the time of the
   * server, and may be called several times.
   * @throws NetworkError
   */
  change<R>(
    name: string,
    keepMs: number,
    change: (state: T, nowMs: number) => RecordChange<T, R>,
  ): Promise<R> {
    const key = `${this.#kind}.${subjectToken(name)}`;
    const before = this.#latest.get(key) ?? Promise.resolve();
    const done = before.then(() =>
      this.#broker.run(async (link) => {
        await this.#bucket.keepFor(link, keepMs);
        return this.#changed(link, key, change);
      }),
    );
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#latest.set(key, settled);
    void settled.then(() => {
      if (this.#latest.get(key) === settled) this.#latest.delete(key);
    });
    return done;
  }

  async #changed<R>(
    link: BrokerLink,
    key: string,
    change: (state: T, nowMs: number) => RecordChange<T, R>,
  ): Promise<R> {
    for (let n = 0; n < TRIES; n++) {
      const known = this.#known.get(key);
      const { state, revision } = known ?? (await this.#read(link, key));
      const { next, answer } = change(state, await this.#broker.now(link));
      if (next === undefined && known === undefined) return answer;
      this.#known.delete(key); // the cached record may be outdated
      if (next === undefined) continue;
      const written = await this.#bucket.put(link, key, JSON.stringify(next), { revision });
      if (written !== undefined) {
        this.#remember(key, { state: next, revision: written });
        return answer;
      }
      if (known === undefined) await sleep(PAUSE_MS * randomShare());
    }
    throw this.#broker.unreachable(`the limit '${key}' keeps changing`);
  }

  async #read(link: BrokerLink, key: string): Promise<KnownRecord<T>> {
    const kept = await this.#bucket.get(link, key, { fresh: true });
    if (kept === undefined) return { state: this.#empty, revision: 0 };
    const state = JSON.parse(Buffer.from(kept.data).toString()) as T; // written only by `#changed`
    return { state, revision: kept.revision };
  }

  #remember(key: string, record: KnownRecord<T>): void {
    this.#known.set(key, record);
    const [oldest = ""] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN) this.#known.delete(oldest);
  }
}
