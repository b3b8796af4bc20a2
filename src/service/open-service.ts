import type { NetworkBackend, WorkRequest } from "../contracts/network.js";
import type { QueueLimits } from "../contracts/queue-options.js";
import type { Clock, IdGenerator } from "../contracts/runtime.js";
import type { StartOptions } from "../contracts/service.js";
import type { DeliveryParts } from "./delivery-parts.js";
import type { ListenParts } from "./http/listen.js";
import type { ServicePorts } from "./ports.js";
import type { ServiceListener } from "./service-listener.js";
import type { ServiceSettings } from "./service-settings.js";
import type { SharedWork } from "./shared-work.js";
import type { SpreadParts } from "./spread/spread-run.js";
import { ValidationError } from "../contracts/errors.js";
import { NetworkTokens } from "../contracts/network.js";
import { NetworkError } from "../contracts/network-errors.js";
import { Tokens } from "../contracts/tokens.js";
import { LocalBudgetAccounts } from "../plugins/resilience/budget/local-accounts.js";
import { LocalRateWindow } from "../plugins/resilience/rate-limit/local-rate-window.js";
import { inMemoryBackend } from "../plugins/network/shared/in-memory/in-memory-backend.js";
import { SERVICE_SECRETS } from "../plugins/network/secrets/service-secrets.js";
import { PushConfigs } from "../plugins/network/shared/a2a/push-configs.js";
import { PushNotifications } from "../plugins/network/shared/a2a/push-notifications.js";
import { WebhookSender } from "../plugins/shared/webhooks/webhook-sender.js";
import { messageOf } from "../util/errors.js";
import { systemClock, uuidGenerator } from "../util/runtime.js";
import { Observation } from "./observation.js";
import { QueueGate } from "./queue-gate.js";
import { priceCurrency } from "../plugins/shared/quotas/quota-prices.js";
import { CallerQuotas, type CallerPlace } from "./quotas/caller-quotas.js";
import { RunningService } from "./running-service.js";
import { plannedSchedules } from "./schedules/schedules.js";
import { ServiceRedactor, startSecrets } from "./secrets.js";
import { ServiceEvents } from "./service-events.js";
import { backoffMs, clockPause } from "../util/abort/pauses.js";
import { answeredWithin } from "./service-time.js";
import { serviceSettings } from "./service-settings.js";
import { sharedWorkOf } from "./shared-work.js";
import { SpreadRun } from "./spread/spread-run.js";
import { unitParts } from "./spread/unit-work.js";
import { Units } from "./spread/units.js";
import { checkedStartOptions, requireServiceName } from "./start-options.js";

/** Time limit in ms of a backend: a restart of the backend must not end its services. */
const BACKEND_MS = 30_000;
const AWAY = { firstMs: 100, mostMs: 3_000 };

/** Starts services of one ensemble in sequence. */
export class ServiceStarter {
  readonly #ports: ServicePorts;
  #shared: ReadonlyMap<string, SharedWork> | undefined;
  /** Whether the ensemble itself is in `shared`. */
  #sharesRun = false;
  /** The settings for spreading the runs of the current service. */
  #spread: SpreadParts | undefined;

  constructor(ports: ServicePorts) {
    this.#ports = ports;
  }

  /**
   * Checks the options, boots the kernel, and opens the service. Calls `opening` with the service
   * before it is opened.
   * @throws ValidationError before a port or a connection is opened; NetworkError for a backend
   * that does not respond for 30 seconds; the error of the port; the reason of `signal`.
   */
  async start(
    given: number | StartOptions,
    signal: AbortSignal,
    opening: (service: RunningService) => void,
  ): Promise<RunningService> {
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
    const bound = options.backend ?? ports.find(NetworkTokens.NetworkBackend);
    const backend = bound ?? inMemoryBackend({ idTtlMs: settings.resultTtlMs, clock });
    const redactor = new ServiceRedactor(startSecrets(options, backend));
    const events = new ServiceEvents({ ensemble, instance }, clock, {
      listeners: options.listeners ?? [],
      redact: redactor.text,
    });
    await backendAnswers(backend, { clock, settings, events, signal });
    this.#spread = spreadParts(ports, settings, { backend, clock });
    const common = { backend, clock, events, settings, redactor, shared };
    const parts = deliveryParts(ports, options, common);
    const { reviews, quotas, push } = parts;
    const service = new RunningService({
      ...parts,
      units: unitsOf(this.#spread, parts, ports),
      description: ports.options.description,
      ownsBackend: bound === undefined,
      schedules,
      hasMounts: ports.all(Tokens.HttpMount).length + ports.all(Tokens.HttpRoute).length > 0,
      ingress: options.ingress ?? [],
      stopsOnSignals: options.signals ?? true,
      listen: this.#listen({ options, settings, events, ids, clock, reviews, quotas, push }),
    });
    const observation = new Observation(ports.all(Tokens.ServiceObserver), events);
    const forget = ports.find(SERVICE_SECRETS)?.add(redactor.ofService);
    const ended = (): void => {
      observation.end();
      forget?.();
    };
    try {
      observation.begin(service, settings);
      opening(service);
      await service.open(signal);
    } catch (error) {
      ended();
      throw error;
    }
    void service.closed.then(ended); // never rejects
    return service;
  }

  #sharedWork(sharesRun: boolean): ReadonlyMap<string, SharedWork> {
    if (this.#shared === undefined || this.#sharesRun !== sharesRun) {
      const spread = this.#ports.options.spread === undefined ? undefined : this.#spreadRun;
      this.#shared = sharedWorkOf(this.#ports, sharesRun, spread);
      this.#sharesRun = sharesRun;
    }
    return this.#shared;
  }

  readonly #spreadRun = (request: WorkRequest): SpreadRun =>
    new SpreadRun(this.#spread as SpreadParts, request); // set if the option is set

  /** Starts the listener of a service. Its modules are loaded on this call. */
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

type CommonParts = Pick<
  DeliveryParts,
  "backend" | "clock" | "events" | "settings" | "redactor" | "shared"
>;

/** The parts that deliveries use. @throws ValidationError for a quota that can't be counted. */
function deliveryParts(
  ports: ServicePorts,
  options: StartOptions,
  common: CommonParts,
): DeliveryParts {
  const { backend, clock, settings } = common;
  const { name: ensemble } = settings;
  const webhooks =
    options.webhooks === undefined ? undefined : new WebhookSender(options.webhooks, clock);
  const currency = priceCurrency(ports.find(Tokens.CostConfiguration));
  return {
    ...common,
    webhooks,
    push: pushOf(options, webhooks, common),
    trace: ports.find(Tokens.TracePropagation),
    reviews: ports.find(Tokens.ReviewStore),
    quotas: quotasOf(options, { ensemble, clock, backend, currency }),
    currency,
    gate: gateOf(options.queue, backend, { ensemble, clock }),
  };
}

function pushOf(
  options: StartOptions,
  webhooks: WebhookSender | undefined,
  { backend, clock, settings: { resultTtlMs } }: CommonParts,
): PushNotifications | undefined {
  if (options.webhooks === undefined || webhooks === undefined) return undefined;
  const { secret } = options.webhooks;
  const configs = new PushConfigs({ results: backend.results, secret, resultTtlMs });
  return new PushNotifications({ backend, clock, webhooks, configs });
}

/**
 * Returns the limits of requests over all processes. If the backend counts none, returns the limits
 * of this process.
 */
function gateOf(
  limits: QueueLimits = {},
  backend: NetworkBackend,
  { ensemble, clock }: { readonly ensemble: string; readonly clock: Clock },
): QueueGate | undefined {
  if (limits.globalConcurrency === undefined && limits.rate === undefined) return undefined;
  const own = { rateWindow: new LocalRateWindow(), budgetAccounts: new LocalBudgetAccounts() };
  return new QueueGate(ensemble, limits, backend.limits ?? own, clock);
}

/**
 * Returns the limits of callers over HTTP.
 * @throws ValidationError for a limit of the cost without prices.
 */
function quotasOf(
  { quota, callers }: StartOptions,
  { backend, ...place }: Omit<CallerPlace, "accounts"> & { readonly backend: NetworkBackend },
): CallerQuotas | undefined {
  const hasOwn = Object.values(callers ?? {}).some(
    (caller) => typeof caller === "object" && caller.quota !== undefined,
  );
  if (quota === undefined && !hasOwn) return undefined;
  const accounts = backend.limits?.budgetAccounts ?? new LocalBudgetAccounts();
  return new CallerQuotas({ quota, callers }, { ...place, accounts });
}

/**
 * Returns the parts for distributed runs.
 * @throws ValidationError without a journal: the finished work of a worker could not be found.
 */
function spreadParts(
  { options: { spread }, entries, find }: ServicePorts,
  { name, resultTtlMs }: ServiceSettings,
  shared: Pick<SpreadParts, "backend" | "clock">,
): SpreadParts | undefined {
  if (spread === undefined) return undefined;
  if (find(Tokens.Journal) === undefined)
    throw new ValidationError("`spread` needs durable(): the outputs of units are kept there", {
      hint: 'Add durable({ url: "postgres://..." }) to plugins; `agentensemble worker` does so.',
    });
  return { ...shared, ensemble: name, resultTtlMs, units: new Units(entries, spread) };
}

function unitsOf(
  spread: SpreadParts | undefined,
  parts: DeliveryParts,
  ports: ServicePorts,
): DeliveryParts | undefined {
  const { options } = ports;
  if (spread === undefined || options.spread === undefined) return undefined;
  return unitParts(parts, spread.units, ports, options.spread);
}

/**
 * Resolves when the backend responds.
 * @throws NetworkError after 30 seconds; the reason of the signal.
 */
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
  let earlier: unknown; // the last attempt may be too short to show a reason
  for (let failures = 1; ; failures++) {
    try {
      const leftMs = Math.max(1, Math.ceil(BACKEND_MS - (clock.monotonicMs() - startedMs)));
      await answeredWithin(backend.queue.depth(settings.name), { clock, ms: leftMs, signal });
      return;
    } catch (cause) {
      signal.throwIfAborted();
      if (clock.monotonicMs() - startedMs >= BACKEND_MS)
        throw new NetworkError(`The backend '${backend.name}' does not answer`, {
          cause: earlier ?? cause,
          hint: "Check its address, and whether it runs.",
        });
      earlier = cause;
      if (failures === 1) events.warn(`The backend does not answer yet: ${messageOf(cause)}`);
      await clockPause(clock, backoffMs(failures, AWAY), signal);
      signal.throwIfAborted();
    }
  }
}
