import type {
  EnqueueReceipt,
  Lease,
  NetworkBackend,
  SharedCapability,
  Transport,
  WorkRequest,
  WorkResponse,
} from "../../../contracts/network.js";
import type { ReviewDecision } from "../../../contracts/review.js";
import type { QueueClock } from "./clock-timer.js";
import { ValidationError } from "../../../contracts/errors.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import {
  checkOptions,
  preview,
  requireDelay,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { systemClock } from "../../../util/runtime.js";
import { startClockTimer } from "./clock-timer.js";
import { sendDecision } from "./decisions.js";
import { withCancelledUsage } from "./cancelled-usage.js";
import { cancelTopic, progressTopic } from "./topic-names.js";
import { checkWorkRequest } from "./work-request.js";

/** Options of `Transport.of()`. */
export interface TransportOptions {
  /** Time in milliseconds for which results are kept. Default 86,400,000 (one day). */
  readonly resultTtlMs?: number | undefined;
  /** Limit of queued requests. Further requests are answered with `FULL`. Default: no limit. */
  readonly maxQueued?: number | undefined;
  /** A clock for tests. Default: the clock of the machine. */
  readonly clock?: QueueClock | undefined;
}

const RESULT_TTL_MS = 86_400_000;

type ResponseOptions = Parameters<Transport["response"]>[1];

/**
 * Sends requests to one ensemble over a backend. `close()` leaves the backend open. `limit` returns
 * the limit of queued requests if the option `maxQueued` is absent.
 * @throws ValidationError for a blank name, and for an unknown or invalid option.
 */
export function transportOf(
  name: string,
  backend: NetworkBackend,
  options: TransportOptions = {},
  limit?: () => Promise<number | undefined>,
): Transport {
  requireText(name, `name must be the name of an ensemble, got: ${preview(name)}`);
  checkOptions("Transport.of()", options, ["resultTtlMs", "maxQueued", "clock"]);
  const { resultTtlMs = RESULT_TTL_MS, maxQueued, clock = systemClock } = options;
  requireDuration("Transport.of() resultTtlMs", resultTtlMs);
  requireInteger("Transport.of() maxQueued", maxQueued, 0);
  return new BackendTransport(name, backend, { resultTtlMs, maxQueued, limit, clock });
}

interface TransportSettings {
  readonly resultTtlMs: number;
  readonly maxQueued: number | undefined;
  readonly limit: (() => Promise<number | undefined>) | undefined;
  readonly clock: QueueClock;
}

class BackendTransport implements Transport {
  readonly name: string;
  readonly #backend: NetworkBackend;
  readonly #settings: TransportSettings;

  constructor(name: string, backend: NetworkBackend, settings: TransportSettings) {
    this.name = name;
    this.#backend = backend;
    this.#settings = settings;
  }

  async send(request: WorkRequest): Promise<EnqueueReceipt> {
    checkWorkRequest(request);
    if (request.to !== this.name)
      throw new ValidationError(
        `to of the request must be '${this.name}', got: ${preview(request.to)}`,
        { hint: "Each transport sends to one ensemble." },
      );
    const { limit } = this.#settings;
    const maxQueued = this.#settings.maxQueued ?? (await limit?.());
    return this.#backend.queue.enqueue(this.name, request, { maxQueued });
  }

  async response(requestId: string, options: ResponseOptions): Promise<WorkResponse | undefined> {
    checkOptions("response()", options, ["timeoutMs", "signal", "onProgress"]);
    requireDelay("response() timeoutMs", options.timeoutMs ?? null);
    const { onProgress } = options;
    const leave =
      onProgress === undefined
        ? undefined
        : await this.#backend.topics.subscribe(progressTopic(requestId), onProgress);
    try {
      const response = await this.#awaited(requestId, options);
      return response && (await withCancelledUsage(this.#backend, response));
    } finally {
      leave?.();
    }
  }

  decide(requestId: string, reviewId: string, decision: ReviewDecision): Promise<boolean> {
    const { clock } = this.#settings;
    return sendDecision(this.#backend, { requestId, reviewId, decision }, clock);
  }

  async cancel(requestId: string, reason = "Cancelled by the caller"): Promise<boolean> {
    const { queue, results, topics } = this.#backend;
    const state = await queue.status(this.name, requestId);
    if (state !== "QUEUED" && state !== "LEASED") return false;
    const cancelled: WorkResponse = {
      v: WORK_VERSION,
      requestId,
      status: "CANCELLED",
      reason: "CANCELLED",
      error: reason,
      durationMs: 0,
      // There is no run that could report the usage.
      ...(state === "QUEUED" && { usage: [] }),
    };
    if (!(await results.store(requestId, cancelled, this.#settings.resultTtlMs))) return false;
    await topics.publish(cancelTopic(requestId), { reason });
    return true;
  }

  async capabilities(): Promise<readonly SharedCapability[]> {
    const shared = new Map<string, SharedCapability>();
    for (const { ensemble, capabilities } of await this.#backend.catalogue.entries())
      if (ensemble === this.name)
        for (const capability of capabilities) {
          const key = JSON.stringify([capability.name, capability.version]);
          if (!shared.has(key)) shared.set(key, capability);
        }
    return [...shared.values()];
  }

  receive(options: Parameters<Transport["receive"]>[0]): Promise<Lease | undefined> {
    return this.#backend.queue.dequeue(this.name, options);
  }

  async deliver(lease: Lease, response: WorkResponse): Promise<boolean> {
    const { queue, results } = this.#backend;
    const { resultTtlMs } = this.#settings;
    const isKept = await results.store(lease.request.requestId, response, resultTtlMs);
    await queue.acknowledge(lease);
    return isKept;
  }

  async close(): Promise<void> {
    // The backend is closed by its owner.
  }

  async #awaited(
    requestId: string,
    { timeoutMs, signal }: ResponseOptions,
  ): Promise<WorkResponse | undefined> {
    let end: (response: WorkResponse | undefined) => void = () => undefined;
    const ended = new Promise<WorkResponse | undefined>((resolve) => (end = resolve));
    const leave = await this.#backend.results.subscribe(requestId, (response) => end(response));
    const stop = (): void => end(undefined);
    const stopTimer = startClockTimer(this.#settings.clock, timeoutMs, stop);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    try {
      return await ended;
    } finally {
      leave();
      stopTimer();
      signal?.removeEventListener("abort", stop);
    }
  }
}
