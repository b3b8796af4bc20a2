import type { EnqueueReceipt, WorkRequest } from "../../contracts/network.js";
import type { StartOptions } from "../../contracts/service.js";
import type { CallerQuotas, QuotaRefusal } from "../quotas/caller-quotas.js";
import type { RunningService } from "../running-service.js";
import type { ServiceSettings } from "../service-settings.js";

/** The parts that accept requests of callers. */
export interface CallerQueueParts {
  readonly service: RunningService;
  readonly settings: ServiceSettings;
  readonly callers: StartOptions["callers"];
  /** `undefined` if callers have no quota. */
  readonly quotas: CallerQuotas | undefined;
}

/** The receipt of a request, or the reason why the quota of its caller does not admit it. */
export type CallerReceipt = EnqueueReceipt | ({ readonly status: "QUOTA" } & QuotaRefusal);

/** Accepts requests of callers within their limits. */
export class CallerQueue {
  readonly #parts: CallerQueueParts;
  /** Unfinished requests of limited callers that this instance has received. */
  readonly #open = new Map<string, Set<string>>();
  /** Numbers of these requests that the queue has not confirmed yet. */
  readonly #sending = new Map<string, number>();

  constructor(parts: CallerQueueParts) {
    this.#parts = parts;
  }

  /** Returns the number of waiting requests of a caller that has reached its limit. */
  reachedLimit({ from, requestId }: WorkRequest): number | undefined {
    const most = this.#limitOf(from);
    const open = this.#open.get(from);
    if (most === undefined || open?.has(requestId) === true) return undefined;
    return (open?.size ?? 0) + (this.#sending.get(from) ?? 0) >= most ? most : undefined;
  }

  /** @throws RequestConflictError; NetworkError if the storage can't be reached. */
  async enqueue(work: WorkRequest): Promise<CallerReceipt> {
    const { from } = work;
    if (this.#limitOf(from) === undefined) return this.#admitted(work);
    if (this.reachedLimit(work) !== undefined) return { status: "FULL" };
    this.#sending.set(from, (this.#sending.get(from) ?? 0) + 1);
    try {
      return await this.#admitted(work);
    } finally {
      this.#sending.set(from, (this.#sending.get(from) ?? 1) - 1);
    }
  }

  /** Enqueues a request if the quota of its caller admits it. */
  async #admitted(work: WorkRequest): Promise<CallerReceipt> {
    const permit = await this.#parts.quotas?.admit(work.from);
    const isRefused = permit !== undefined && "problem" in permit;
    if (isRefused && !(await this.#isKnown(work))) return { status: "QUOTA", ...permit };
    let isAccepted = false;
    try {
      const receipt = await this.#enqueued(work);
      isAccepted = receipt.status === "ACCEPTED";
      return receipt;
    } finally {
      if (permit !== undefined && !isRefused)
        await (isAccepted ? permit.accepted() : permit.refused());
    }
  }

  async #enqueued(work: WorkRequest): Promise<EnqueueReceipt> {
    const { service, settings } = this.#parts;
    const { maxQueuedRequests: maxQueued } = settings;
    const receipt = await service.backend.queue.enqueue(service.name, work, { maxQueued });
    if (receipt.status === "ACCEPTED") this.#count(work);
    return receipt;
  }

  /** A request that was accepted earlier does not count towards the quota. */
  async #isKnown({ requestId }: WorkRequest): Promise<boolean> {
    const { service } = this.#parts;
    return (await service.backend.queue.status(service.name, requestId)) !== undefined;
  }

  #limitOf(name: string): number | undefined {
    const { callers = {} } = this.#parts;
    const caller = Object.hasOwn(callers, name) ? callers[name] : undefined;
    return typeof caller === "object" ? caller.maxQueued : undefined;
  }

  #count({ from, requestId }: WorkRequest): void {
    if (this.#limitOf(from) === undefined) return;
    const open = this.#open.get(from) ?? new Set();
    this.#open.set(from, open.add(requestId));
    const { results } = this.#parts.service.backend;
    const ended = (): void => void open.delete(requestId);
    results.subscribe(requestId, ended).catch(ended);
  }
}
