import { createHmac, timingSafeEqual } from "node:crypto";
import type {
  DeadLetter,
  EnqueueReceipt,
  Lease,
  NetworkBackend,
  QueueDepth,
  QueueState,
  RequestQueue,
  WorkRequest,
} from "../../../contracts/network.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import { checkOptions } from "../../../contracts/validation.js";
import { asText } from "../../../util/objects.js";
import { secretReplacer } from "../../../util/redaction/secret-values.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { requireWebhookSecret } from "../../shared/webhooks/webhook-signature.js";

/** Options of `NetworkBackend.signed()`. */
export interface SignedBackendOptions {
  /**
   * The secret, with at least 16 characters. Pass several secrets while one replaces another. The
   * first signs, and all are accepted.
   */
  readonly secret: string | readonly string[];
}

/** Time in milliseconds for which the refusal of a request is stored. */
const REFUSAL_TTL_MS = 86_400_000;
const REFUSAL = "The request is not signed, or signed otherwise";

/**
 * A backend with signed requests. `close()` closes the underlying backend.
 * @throws ValidationError for an unknown option, and for a secret that is too short.
 */
export function signedBackend(
  backend: NetworkBackend,
  options: SignedBackendOptions,
): NetworkBackend {
  checkOptions("NetworkBackend.signed()", options, ["secret"]);
  const { secret } = options;
  const secrets: readonly string[] = typeof secret === "string" ? [secret] : (secret ?? []);
  for (const one of secrets.length === 0 ? [undefined] : secrets)
    requireWebhookSecret("secret of NetworkBackend.signed()", one);
  const { name, results, topics, catalogue, limits } = backend;
  const queue = new SignedQueue(backend, secrets);
  const own = secretReplacer(secrets);
  return Object.freeze({
    ...{ name, queue, results, topics, catalogue },
    ...(limits !== undefined && { limits }),
    redact: (text: string) => own(backend.redact?.(text) ?? text),
    close: () => backend.close(),
  });
}

class SignedQueue implements RequestQueue {
  readonly #backend: Pick<NetworkBackend, "queue" | "results">;
  readonly #secrets: readonly string[];
  /** The leases of the underlying backend, by the returned leases. */
  readonly #leases = new WeakMap<Lease, Lease>();

  constructor(backend: NetworkBackend, secrets: readonly string[]) {
    this.#backend = backend;
    this.#secrets = secrets;
  }

  get #queue(): RequestQueue {
    return this.#backend.queue;
  }

  async enqueue(
    ...[queue, request, options]: Parameters<RequestQueue["enqueue"]>
  ): Promise<EnqueueReceipt> {
    const [secret = ""] = this.#secrets;
    const signature = signatureOf(secret, queue, request).toString("hex");
    const signed: SignedRequest = { ...request, signature };
    return this.#queue.enqueue(queue, signed, options);
  }

  async dequeue(
    ...[queue, options]: Parameters<RequestQueue["dequeue"]>
  ): Promise<Lease | undefined> {
    for (;;) {
      const lease = await this.#queue.dequeue(queue, options);
      if (lease === undefined) return undefined;
      if (!this.#isSigned(lease)) {
        await this.#refuse(lease);
        continue;
      }
      const shown = Object.freeze({ ...lease, request: withoutSignature(lease.request) });
      this.#leases.set(shown, lease);
      return shown;
    }
  }

  extend(lease: Lease, leaseMs?: number): Promise<boolean> {
    return this.#queue.extend(this.#leaseOf(lease), leaseMs);
  }

  acknowledge(lease: Lease): Promise<boolean> {
    return this.#queue.acknowledge(this.#leaseOf(lease));
  }

  release(...[lease, options]: Parameters<RequestQueue["release"]>): Promise<boolean> {
    return this.#queue.release(this.#leaseOf(lease), options);
  }

  deadLetter(lease: Lease, reason: string): Promise<boolean> {
    return this.#queue.deadLetter(this.#leaseOf(lease), reason);
  }

  async deadLetters(queue: string): Promise<readonly DeadLetter[]> {
    const letters = await this.#queue.deadLetters(queue);
    return letters.map((letter) => ({ ...letter, request: withoutSignature(letter.request) }));
  }

  redrive(queue: string, requestId: string): Promise<boolean> {
    return this.#queue.redrive(queue, requestId);
  }

  status(queue: string, requestId: string): Promise<QueueState | undefined> {
    return this.#queue.status(queue, requestId);
  }

  depth(queue: string): Promise<QueueDepth> {
    return this.#queue.depth(queue);
  }

  async close(): Promise<void> {
    await this.#queue.close?.();
  }

  /**
   * Returns the lease of the underlying backend. For a lease of another client, the underlying
   * backend uses the token.
   */
  #leaseOf(lease: Lease): Lease {
    return this.#leases.get(lease) ?? lease;
  }

  #isSigned({ queue, request }: Lease): boolean {
    const sent = Buffer.from(asText((request as SignedRequest).signature), "hex");
    return this.#secrets.some((secret) => {
      const expected = signatureOf(secret, queue, request);
      return sent.length === expected.length && timingSafeEqual(sent, expected);
    });
  }

  /** Refuses a request. Stores the result first, so that the sender receives the reason. */
  async #refuse(lease: Lease): Promise<void> {
    const { requestId } = lease.request;
    const denied = { v: WORK_VERSION, requestId, status: "REJECTED", reason: "DENIED" } as const;
    const response = { ...denied, error: REFUSAL, durationMs: 0 };
    await this.#backend.results.store(requestId, response, REFUSAL_TTL_MS);
    await this.#queue.deadLetter(lease, `DENIED: ${REFUSAL}`);
  }
}

type SignedRequest = WorkRequest & { readonly signature?: unknown };

function withoutSignature(request: SignedRequest): WorkRequest {
  const { signature: _signature, ...content } = request;
  return Object.freeze(content);
}

/** Signs all fields of a request and its queue. */
function signatureOf(secret: string, queue: string, request: WorkRequest): Buffer {
  // The signature covers the form in which the request is received.
  const content: unknown = JSON.parse(JSON.stringify(withoutSignature(request)));
  return createHmac("sha256", secret)
    .update(canonicalJson([queue, content]))
    .digest();
}
