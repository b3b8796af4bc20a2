import type { StoredMsg } from "@nats-io/jetstream";
import type { Broker, BrokerLink } from "./broker.js";
import { codeOf } from "../../../util/objects.js";
import { nanosOf, timeOf } from "./broker.js";

/** A value of a bucket. */
export interface KeptValue {
  readonly data: Uint8Array;
  /** Changes with each write. */
  readonly revision: number;
  /** The time of the write, by the clock of the server. */
  readonly writtenMs: number;
  header(name: string): string | undefined;
}

const WRONG_LAST_SEQUENCE = [10_071, 10_164];

/** Keys and values of a bucket, with conditional writes. */
export class Bucket {
  readonly #broker: Broker;
  readonly #name: string;
  readonly #stream: string;
  /** The time for which the bucket keeps values, if known. */
  #ageMs: number;

  constructor(broker: Broker, name: string) {
    this.#broker = broker;
    this.#name = name;
    this.#stream = `KV_${name}`;
    this.#ageMs = 0;
  }

  /**
   * Returns a value. With `fresh`, reads from the leader of a cluster, otherwise from any replica.
   */
  async get(
    link: BrokerLink,
    key: string,
    o: { readonly fresh?: boolean } = {},
  ): Promise<KeptValue | undefined> {
    const source = o.fresh === true ? link.jsm.streams : link.jsm.direct;
    const stored = await source
      .getMessage(this.#stream, { last_by_subj: this.#subject(key) })
      .catch(unlessUnknown);
    return stored === null ? undefined : keptValue(stored);
  }

  /**
   * Writes a value. With `revision`, writes only if it is the current revision. 0 means that there
   * is no value. Returns the new revision. Returns `undefined` if the current revision differs.
   */
  async put(
    { js, headers }: BrokerLink,
    key: string,
    data: string | Uint8Array,
    o: { readonly revision?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<number | undefined> {
    const sent = headers();
    for (const [name, value] of Object.entries(o.headers ?? {})) sent.set(name, value);
    return unlessChanged(
      js.publish(this.#subject(key), data, {
        headers: sent,
        ...(o.revision === undefined ? {} : { expect: { lastSubjectSequence: o.revision } }),
      }),
    );
  }

  /** Removes values. `keys` may end with a wildcard. */
  async remove({ jsm }: BrokerLink, keys: string): Promise<void> {
    await jsm.streams.purge(this.#stream, { filter: this.#subject(keys) });
  }

  async count({ jsm }: BrokerLink, keys: string): Promise<number> {
    const { state } = await jsm.streams.info(this.#stream, {
      subjects_filter: this.#subject(keys),
    });
    return Object.keys(state.subjects ?? {}).length;
  }

  /** Returns the values of matching keys, oldest first. */
  async list({ jsm }: BrokerLink, keys: string): Promise<readonly KeptValue[]> {
    return (await storedMessages(jsm, this.#stream, this.#subject(keys))).map(keptValue);
  }

  /** Extends the time for which the bucket keeps values to at least `ms`. */
  async keepFor({ jsm }: BrokerLink, ms: number): Promise<void> {
    if (ms <= this.#ageMs) return;
    const { config } = await jsm.streams.info(this.#stream);
    const age = nanosOf(ms);
    if (config.max_age !== 0 && config.max_age < age)
      await jsm.streams.update(this.#stream, { max_age: age });
    this.#ageMs = ms;
  }

  /** Returns whether a value with a separate duration has expired. */
  async isOver(link: BrokerLink, { writtenMs }: KeptValue, ttlMs: number): Promise<boolean> {
    return (await this.#broker.now(link)) >= writtenMs + ttlMs;
  }

  #subject(key: string): string {
    return `$KV.${this.#name}.${key}`;
  }
}

/** Returns all messages with a subject, oldest first. */
export async function storedMessages(
  jsm: BrokerLink["jsm"],
  stream: string,
  subject: string,
): Promise<readonly StoredMsg[]> {
  const found: StoredMsg[] = [];
  for (let seq = 1; ;) {
    const next = await jsm.direct
      .getMessage(stream, { seq, next_by_subj: subject })
      .catch(unlessUnknown);
    if (next === null) return found;
    found.push(next);
    seq = next.seq + 1;
  }
}

/**
 * Returns the sequence of a message. Returns `undefined` if the last message of its subject is not
 * the expected message.
 */
export async function unlessChanged(
  published: Promise<{ readonly seq: number }>,
): Promise<number | undefined> {
  try {
    return (await published).seq;
  } catch (error) {
    const code = codeOf(error);
    if (typeof code === "number" && WRONG_LAST_SEQUENCE.includes(code)) return undefined;
    throw error;
  }
}

const NO_MESSAGE = 10_037;

/** Returns `null` for the error of an unknown message. Throws any other error. */
export function unlessUnknown(error: unknown): null {
  if (codeOf(error) === NO_MESSAGE) return null;
  throw error;
}

function keptValue(stored: StoredMsg): KeptValue {
  return {
    data: stored.data,
    revision: stored.seq,
    writtenMs: timeOf(stored),
    header: (name) => (stored.header?.has(name) ? stored.header.get(name) : undefined),
  };
}
