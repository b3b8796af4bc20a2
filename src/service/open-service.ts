import type { CostConfiguration } from "../contracts/cost.js";
import type { NetworkBackend } from "../contracts/network.js";
import type { Clock, IdGenerator } from "../contracts/runtime.js";
import type { StartOptions } from "../contracts/service.js";
import type { ListenParts } from "./http/listen.js";
import type { ServicePorts } from "./ports.js";
import type { ServiceListener } from "./service-listener.js";
import type { ServiceSettings } from "./service-settings.js";
import type { SharedWork } from "./shared-work.js";
import { NetworkTokens } from "../contracts/network.js";
import { NetworkError } from "../contracts/network-errors.js";
import { Tokens } from "../contracts/tokens.js";
import { inMemoryBackend } from "../plugins/network/shared/in-memory/in-memory-backend.js";
import { WebhookSender } from "../plugins/shared/webhooks/webhook-sender.js";
import { messageOf } from "../util/errors.js";
import { systemClock, uuidGenerator } from "../util/runtime.js";
import { RunningService } from "./running-service.js";
import { plannedSchedules } from "./schedules/schedules.js";
import { ServiceEvents } from "./service-events.js";
import { backoffMs, clockPause } from "../util/abort/pauses.js";
import { answeredWithin } from "./service-time.js";
import { serviceSettings } from "./service-settings.js";
import { sharedWorkOf } from "./shared-work.js";
import { checkedStartOptions, requireServiceName } from "./start-options.js";

/** Time in ms in which a backend must answer: one that is restarted must not end its services. */
const BACKEND_MS = 30_000;
const AWAY = { firstMs: 100, mostMs: 3_000 };

/** Starts services of one ensemble, one after the other. */
export class ServiceStarter {
  readonly #ports: ServicePorts;
  #shared: ReadonlyMap<string, SharedWork> | undefined;
  /** Whether the ensemble itself is in `shared`. */
  #sharesRun = false;

  constructor(ports: ServicePorts) {
    this.#ports = ports;
  }

  /**
   * Checks the options, boots the kernel, and opens the service.
   * @throws ValidationError before a port or a connection is opened; NetworkError for a backend that
   * does not answer for 30 seconds; the error of the port; the reason of `signal`.
   */
  async start(given: number | StartOptions, signal: AbortSignal): Promise<RunningService> {
    const ports = this.#ports;
    const options = checkedStartOptions(given);
    requireServiceName(ports.options.name);
    const shared = this.#sharedWork(options.shareRun ?? ports.options.shareRun ?? false);
    await ports.ready();
    signal.throwIfAborted();
    const clock: Clock = ports.find(Tokens.Clock) ?? systemClock;
    const schedules = await plannedSchedules(ports.options.schedules ?? [], clock.now().getTime());
    const ids: Pick<IdGenerator, "next"> = ports.find(Tokens.IdGenerator) ?? uuidGenerator;
    const settings = serviceSettings(ports.options, options, { instance: ids.next("instance") });
    const { name: ensemble, instance } = settings;
    const events = new ServiceEvents({ ensemble, instance }, clock, options.listeners ?? []);
    const bound = options.backend ?? ports.find(NetworkTokens.NetworkBackend);
    const backend = bound ?? inMemoryBackend({ idTtlMs: settings.resultTtlMs, clock });
    await backendAnswers(backend, { clock, settings, events, signal });
    const { webhooks } = options;
    const reviews = ports.find(Tokens.ReviewStore);
    const service = new RunningService({
      backend,
      clock,
      events,
      settings,
      shared,
      webhooks: webhooks === undefined ? undefined : new WebhookSender(webhooks, clock),
      trace: ports.find(Tokens.TracePropagation),
      reviews,
      currency: priceCurrency(ports.find(Tokens.CostConfiguration)),
      description: ports.options.description,
      ownsBackend: bound === undefined,
      schedules,
      hasMounts: ports.all(Tokens.HttpMount).length + ports.all(Tokens.HttpRoute).length > 0,
      ingress: options.ingress ?? [],
      stopsOnSignals: options.signals ?? true,
      listen: this.#listen({ options, settings, events, ids, clock, reviews }),
    });
    const observers = ports.all(Tokens.ServiceObserver);
    const ends = observers.map((observer) => observer.observe(service, settings));
    const end = (): void => ends.forEach((each) => each());
    try {
      await service.open(signal);
    } catch (error) {
      end();
      throw error;
    }
    void service.closed.then(end); // never rejects
    return service;
  }

  #sharedWork(sharesRun: boolean): ReadonlyMap<string, SharedWork> {
    if (this.#shared === undefined || this.#sharesRun !== sharesRun) {
      this.#shared = sharedWorkOf(this.#ports, sharesRun);
      this.#sharesRun = sharesRun;
    }
    return this.#shared;
  }

  /** Starts the listener of a service, whose modules are loaded then. */
  #listen(
    parts: Omit<ListenParts, "routes" | "mounts">,
  ): ((service: RunningService) => Promise<ServiceListener | undefined>) | undefined {
    const { options } = parts;
    const mounts = this.#ports.all(Tokens.HttpMount);
    if (options.port === undefined && mounts.length === 0) return undefined;
    const routes = this.#ports.all(Tokens.HttpRoute);
    return async (service) => {
      const { serveHttp, mountNothing } = await import("./http/listen.js");
      if (options.port !== undefined) return serveHttp(service, { ...parts, routes, mounts });
      await mountNothing(service, mounts, options);
      return undefined;
    };
  }
}

/** The currency of an ensemble's prices; `undefined` without prices. */
function priceCurrency(prices: CostConfiguration | undefined): string | undefined {
  if (prices === undefined) return undefined;
  return typeof prices === "function" ? "USD" : (prices.currency ?? "USD");
}

/** Resolves when the backend answers. @throws NetworkError after 30 seconds; the signal's reason. */
async function backendAnswers(
  backend: NetworkBackend,
  o: {
    readonly clock: Clock;
    readonly settings: ServiceSettings;
    readonly events: ServiceEvents;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { clock, settings, events, signal } = o;
  const startedMs = clock.monotonicMs();
  for (let failures = 1; ; failures++) {
    try {
      const leftMs = Math.max(1, BACKEND_MS - (clock.monotonicMs() - startedMs));
      await answeredWithin(backend.queue.depth(settings.name), { clock, ms: leftMs, signal });
      return;
    } catch (cause) {
      signal.throwIfAborted();
      if (clock.monotonicMs() - startedMs >= BACKEND_MS)
        throw new NetworkError(`The backend '${backend.name}' does not answer`, {
          cause,
          hint: "Check its address, and whether it runs.",
        });
      if (failures === 1) events.warn(`The backend does not answer yet: ${messageOf(cause)}`);
      await clockPause(clock, backoffMs(failures, AWAY), signal);
      signal.throwIfAborted();
    }
  }
}
