import type { HttpMount, MountAddress } from "../../contracts/http-mount.js";
import type { HttpRoute } from "../../contracts/http-route.js";
import type { ReviewStore } from "../../contracts/review.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { StartOptions } from "../../contracts/service.js";
import type { A2aServing } from "../../plugins/network/a2a-server/a2a-routes.js";
import type { PushNotifications } from "../../plugins/network/shared/a2a/push-notifications.js";
import type { CallerQuotas } from "../quotas/caller-quotas.js";
import type { RunningService } from "../running-service.js";
import type { ServiceEvents } from "../service-events.js";
import type { ServiceListener } from "../service-listener.js";
import type { ServiceSettings } from "../service-settings.js";
import {
  LOOPBACK_NAMES,
  bareHost,
  isLoopbackHost,
  isWildcardHost,
  urlHostOf,
} from "../../plugins/shared/http/listening-names.js";
import { NetworkError } from "../../contracts/network-errors.js";
import { messageOf } from "../../util/errors.js";
import { codeOf } from "../../util/objects.js";
import { RouteDispatcher } from "../../plugins/shared/http/route-dispatcher.js";
import { listenFor } from "../../plugins/shared/http/serve-routes.js";
import { a2aRoutes } from "../../plugins/network/a2a-server/a2a-routes.js";
import { OpenStreams } from "../../plugins/network/shared/open-streams.js";
import { isA2aInstalled } from "../../plugins/network/shared/a2a/protocol.js";
import { ingressPort } from "../ingress/ingress-port.js";
import { CallerQueue } from "./caller-queue.js";
import { Mounts } from "./mounts.js";
import { openApiOf } from "./open-api.js";
import { operatorRoutes } from "./operator-routes.js";
import { privateAnswer, route } from "./routes.js";
import { serviceAccess } from "./service-access.js";
import { statusRoutes } from "./status-routes.js";
import { WorkRoutes } from "./work-routes.js";

/** Time limit in ms of responses in progress when the service stops. */
const LAST_ANSWERS_MS = 1_000;

/** Maximum number of concurrent streams of one caller. */
const MOST_STREAMS = 20;

/** The parts of the listener of a service. */
export interface ListenParts {
  readonly options: StartOptions;
  readonly settings: ServiceSettings;
  readonly events: ServiceEvents;
  readonly ids: Pick<IdGenerator, "next">;
  readonly clock: Clock;
  readonly reviews: ReviewStore | undefined;
  readonly quotas: CallerQuotas | undefined;
  readonly push: PushNotifications | undefined;
  /** The routes of the kernel's plugins. */
  readonly routes: readonly HttpRoute[];
  readonly mounts: readonly HttpMount[];
}

/** Serves the routes of a service. Rejects if the address can't be used. */
export async function serveHttp(
  service: RunningService,
  parts: ListenParts,
): Promise<ServiceListener> {
  const { options, settings, events, ids, clock, quotas } = parts;
  const { port = 0, callers, publicUrl } = options;
  const address = mountAddress(service, options);
  const { host, allowedHosts } = address;
  const closing = new AbortController();
  const isReachable = !isLoopbackHost(host) || publicUrl !== undefined;
  const queue = new CallerQueue({ service, settings, callers, quotas });
  const hasWebhooks = options.webhooks !== undefined;
  const { signal } = closing;
  const streams = new OpenStreams(MOST_STREAMS);
  const common = { service, settings, queue, quotas, ids, clock, streams };
  const work = new WorkRoutes({ ...common, hasWebhooks, closing: signal });
  const a2a = isA2aInstalled()
    ? a2aRoutes({ ...a2aServing(service, queue, parts), streams })
    : undefined;
  const mounts = await Mounts.open(parts.mounts, address);
  const own = [
    ...statusRoutes(service, () => mounts.status()),
    ...operatorRoutes(service),
    ...work.routes(),
    openApiRoute(service, options),
    ...(a2a?.routes ?? []),
    ...(options.ingress ?? []).flatMap(
      (one) => one.routes?.(ingressPort(one, service, parts)) ?? [],
    ),
  ];
  const onError = (error: Error): void =>
    events.warn(`A request could not be answered: ${error.message}`);
  const dispatcher = new RouteDispatcher({
    routes: [...own, ...parts.routes],
    authenticate: serviceAccess(options, isReachable),
    allowedHosts,
    allowedOrigins: new Set(),
    maxBodyBytes: settings.maxMessageBytes,
    jsonErrors: true,
    onError,
  });
  const { sharesPort = false } = options;
  const listener = await listenFor(mounts.before(dispatcher, own), {
    ...{ host, port, exclusive: !sharesPort },
  }).catch(async (error: unknown) => {
    await mounts.close();
    throw notListening(error, host, port);
  });
  const url = publicUrl ?? `http://${shownHost(host, options)}:${listener.port}`;
  mounts.listening({ url, port: listener.port });
  return {
    url,
    async close() {
      closing.abort(); // ends the waits for results
      a2a?.close();
      await mounts.close();
      await listener.close(LAST_ANSWERS_MS);
    },
  };
}

/** The route of the OpenAPI document. As public as the agent card. */
function openApiRoute(service: RunningService, options: StartOptions): HttpRoute {
  const { callers, authenticate, card = "public", publicUrl, webhooks } = options;
  const needsToken = (callers ?? authenticate) !== undefined;
  const hasWebhooks = webhooks !== undefined;
  return route("GET", "/api/openapi.json", card === "public" ? "public" : "caller", (request) => {
    const baseUrl = (publicUrl ?? new URL(request.url).origin).replace(/\/+$/, "");
    return privateAnswer(200, openApiOf(service.entry(), { baseUrl, needsToken, hasWebhooks }));
  });
}

function notListening(cause: unknown, host: string, port: number): NetworkError {
  const isTaken = codeOf(cause) === "EADDRINUSE";
  const reason = isTaken ? "another process or service uses it" : messageOf(cause);
  return new NetworkError(`The service can't listen on ${urlHostOf(host)}:${port}: ${reason}`, {
    cause,
    hint: isTaken ? "Choose another port, or 0 for one that is free." : undefined,
  });
}

/** Passes a service without a listener to `mounts`. @throws the error of a mount */
export async function mountNothing(
  service: RunningService,
  mounts: readonly HttpMount[],
  options: StartOptions,
): Promise<void> {
  await Mounts.open(mounts, mountAddress(service, options));
}

function mountAddress(service: RunningService, options: StartOptions): MountAddress {
  const { host: given = "127.0.0.1", port, publicUrl } = options;
  const host = bareHost(given);
  return {
    port,
    host,
    allowedHosts: hostNames(host, options),
    publicUrl,
    service,
    isReachable: [given, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])].some(
      (name) => !isLoopbackHost(bareHost(name)),
    ),
  };
}

function a2aServing(
  service: RunningService,
  queue: CallerQueue,
  { options, settings, events, clock, reviews, push }: ListenParts,
): Omit<A2aServing, "streams"> {
  const { callers, authenticate, card = "public", publicUrl } = options;
  return {
    ensemble: service.name,
    backend: service.backend,
    clock,
    resultTtlMs: settings.resultTtlMs,
    enqueue: (work) => queue.enqueue(work),
    isDraining: () => service.state !== "READY",
    onError: (error) => events.warn(`A request over A2A failed: ${error.message}`),
    entry: () => service.entry(),
    reviews,
    push,
    card,
    publicUrl,
    needsToken: (callers ?? authenticate) !== undefined,
  };
}

/** Returns the accepted names in the Host header. */
function hostNames(host: string, { allowedHosts = [], publicUrl }: StartOptions): string[] {
  const own = isWildcardHost(host) ? [] : [urlHostOf(host)];
  const published = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  const names = [...own, ...LOOPBACK_NAMES, ...allowedHosts, ...published];
  return [...new Set(names.map((name) => name.toLowerCase()))];
}

function shownHost(host: string, { allowedHosts = [] }: StartOptions): string {
  return isWildcardHost(host) ? (allowedHosts[0] ?? "localhost") : urlHostOf(host);
}
