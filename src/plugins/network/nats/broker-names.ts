import { createHash } from "node:crypto";

const PLAIN = /^[\w-]{1,64}$/;

/**
 * Returns a name as a part of a subject. This is the name itself if possible, otherwise `=` and its
 * digest.
 */
export function subjectToken(name: string): string {
  return PLAIN.test(name)
    ? name
    : `=${createHash("sha256").update(JSON.stringify(name)).digest("base64url")}`;
}

/** Names of streams, buckets and subjects of one prefix. */
export class BrokerNames {
  /** The stream of requests that are not done. */
  readonly requests: string;
  /** The stream of parts of requests and results that exceed one message. */
  readonly parts: string;
  readonly dead: string;
  /** The bucket of leases and of ids of done requests. */
  readonly states: string;
  /** The bucket of results. */
  readonly results: string;
  /** The bucket of the catalogue. */
  readonly catalogue: string;
  /** The bucket of rate limits and budgets. */
  readonly limits: string;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.requests = `${prefix}-requests`;
    this.parts = `${prefix}-parts`;
    this.dead = `${prefix}-dead`;
    this.states = `${prefix}-states`;
    this.results = `${prefix}-results`;
    this.catalogue = `${prefix}-catalogue`;
    this.limits = `${prefix}-limits`;
  }

  /** Returns the subject of names below the prefix. */
  subject(...tokens: readonly string[]): string {
    return [this.#prefix, ...tokens].join(".");
  }

  /**
   * Returns the key of a request in the bucket of states, which is also the end of its subjects.
   */
  requestKey(queue: string, requestId: string): string {
    return `${subjectToken(queue)}.${subjectToken(requestId)}`;
  }
}
