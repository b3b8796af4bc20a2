import type { BrokerLink } from "./broker.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { uuidGenerator } from "../../../util/runtime.js";

/** A body, or the name of its parts if it exceeds one message. */
export interface SentBody {
  readonly data: Uint8Array;
  /** `{name}/{number}`. */
  readonly parts?: string | undefined;
}

/** Number of bytes of a message that are left free for headers. */
const HEADROOM = 16_384;
const LARGEST_PART = 524_288;

/** Bodies of any size. Bodies that exceed one message are split into parts. */
export class Parts {
  readonly #stream: string;
  readonly #prefix: string;

  /** The parts have the subjects `{prefix}.{name}.{number}` of the stream. */
  constructor(stream: string, prefix: string) {
    this.#stream = stream;
    this.#prefix = prefix;
  }

  /** Stores the parts of a body that is too large for one message. */
  async send({ nc, js }: BrokerLink, json: string): Promise<SentBody> {
    const data = Buffer.from(json);
    const most = (nc.info?.max_payload ?? 0) - HEADROOM;
    if (data.length <= Math.max(most, HEADROOM)) return { data };
    const size = Math.min(LARGEST_PART, Math.max(most, HEADROOM));
    const name = uuidGenerator.next();
    let count = 0;
    for (let start = 0; start < data.length; start += size)
      await js.publish(this.#subject(name, count++), data.subarray(start, start + size));
    return { data: new Uint8Array(), parts: `${name}/${count}` };
  }

  /** Returns the body. @throws NetworkError if a part is missing. */
  async read({ jsm }: BrokerLink, { data, parts }: SentBody): Promise<string> {
    if (parts === undefined) return Buffer.from(data).toString();
    const { name, count } = namedParts(parts);
    const read = Array.from({ length: count }, async (_, n) => {
      const subject = this.#subject(name, n);
      const stored = await jsm.direct.getMessage(this.#stream, { last_by_subj: subject });
      if (stored === null)
        throw new NetworkError(`Part ${n} of a large message is missing in NATS`);
      return stored.data;
    });
    return Buffer.concat(await Promise.all(read)).toString();
  }

  async remove({ jsm }: BrokerLink, parts: string | undefined): Promise<void> {
    if (parts === undefined) return;
    const filter = `${this.#prefix}.${namedParts(parts).name}.*`;
    await jsm.streams.purge(this.#stream, { filter });
  }

  #subject(name: string, n: number): string {
    return `${this.#prefix}.${name}.${n}`;
  }
}

function namedParts(parts: string): { readonly name: string; readonly count: number } {
  const [name = "", count = "0"] = parts.split("/");
  return { name, count: Number(count) };
}
