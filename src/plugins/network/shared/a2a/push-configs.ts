import { createHash, createHmac } from "node:crypto";
import type { ResultStore, WorkResponse } from "../../../../contracts/network.js";
import { ValidationError } from "../../../../contracts/errors.js";
import { WORK_VERSION } from "../../../../contracts/network.js";
import { openedText, sealedText } from "../../../../util/sealed-text.js";

/** Maximum number of configurations of one task. */
export const MOST_PUSH_CONFIGS = 5;
/** Milliseconds for which the configurations of a task are kept if it does not end. */
const KEPT_MS = 7 * 86_400_000;

/**
 * The address to which the notifications of a task are sent. Fields without a value are empty
 * texts.
 */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  readonly token: string;
  readonly scheme: string;
  readonly credentials: string;
}

/** The field of a request with the id of its task, if A2A has accepted it. */
export const A2A_TASK = "a2aTask";

interface PushPlace {
  readonly results: ResultStore;
  /** The secret that encrypts the configurations, which contain credentials. */
  readonly secret: string;
  readonly resultTtlMs: number;
}

/**
 * The push notification configurations of tasks. They are write-once values of the result store, so
 * that every instance finds them. They are encrypted with a key from the secret of the webhooks.
 */
export class PushConfigs {
  readonly #results: ResultStore;
  readonly #key: Buffer;
  readonly #ttlMs: number;

  constructor({ results, secret, resultTtlMs }: PushPlace) {
    this.#results = results;
    this.#key = createHmac("sha256", secret).update("agentensemble/push-configs").digest();
    this.#ttlMs = Math.max(KEPT_MS, resultTtlMs);
  }

  /**
   * Returns the configurations of the task of a request, by id. Reads one value for a task without
   * any.
   * @throws ValidationError if they were stored with another secret; NetworkError.
   */
  async of(requestId: string): Promise<readonly PushConfig[]> {
    if ((await this.#results.retrieve(markKey(requestId))) === undefined) return [];
    const slots = await this.#slots(requestId);
    const found = slots.flatMap((config) => (config === undefined ? [] : [config]));
    return [...new Map(found.map((config) => [config.id, config])).values()];
  }

  /**
   * Stores a configuration, which replaces a configuration with the same id. Returns false if there
   * are too many.
   */
  async save(requestId: string, config: PushConfig): Promise<boolean> {
    await this.#results.store(markKey(requestId), pushValue(markKey(requestId)), this.#ttlMs);
    await this.remove(requestId, config.id);
    for (let slot = 0; slot < MOST_PUSH_CONFIGS; slot++) {
      const key = slotKey(requestId, slot);
      const sealed = sealedText(JSON.stringify(config), this.#key, key);
      if (await this.#results.store(key, pushValue(key, sealed), this.#ttlMs)) return true;
    }
    return false;
  }

  async remove(requestId: string, id: string): Promise<void> {
    for (const [slot, config] of (await this.#slots(requestId)).entries())
      if (config?.id === id) await this.#results.forget(slotKey(requestId, slot));
  }

  #slots(requestId: string): Promise<readonly (PushConfig | undefined)[]> {
    return Promise.all(
      Array.from({ length: MOST_PUSH_CONFIGS }, async (_, slot) => {
        const key = slotKey(requestId, slot);
        const kept = await this.#results.retrieve(key);
        return kept === undefined ? undefined : this.#opened(kept, key);
      }),
    );
  }

  #opened({ sealed }: WorkResponse, key: string): PushConfig {
    try {
      // `save()` has encrypted the text.
      return JSON.parse(openedText(String(sealed), this.#key, key)) as PushConfig;
    } catch (cause) {
      throw new ValidationError(
        "A push notification configuration was stored with another secret of `webhooks`",
        { cause, hint: "Give all instances of the ensemble the same secret." },
      );
    }
  }
}

/** Returns the key of the mark that a task has, or has had, configurations. */
function markKey(requestId: string): string {
  return `push:${createHash("sha256").update(requestId).digest("hex")}`;
}

function slotKey(requestId: string, slot: number): string {
  return `${markKey(requestId)}:${slot}`;
}

function pushValue(requestId: string, sealed?: string): WorkResponse {
  return {
    v: WORK_VERSION,
    requestId,
    status: "COMPLETED",
    durationMs: 0,
    ...(sealed !== undefined && { sealed }),
  };
}
