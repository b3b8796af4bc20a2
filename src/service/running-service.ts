import type { Ingress } from "../contracts/ingress.js";
import type {
  CatalogueEntry,
  DeadLetter,
  NetworkBackend,
  QueueDepth,
} from "../contracts/network.js";
import type {
  ActiveRequest,
  Service,
  ServiceEvent,
  ServiceEventFilter,
  ServiceSchedule,
  ServiceState,
} from "../contracts/service.js";
import type { DeliveryParts } from "./delivery-parts.js";
import type { PlannedSchedule } from "./schedules/schedule-runner.js";
import type { ServiceListener } from "./service-listener.js";
import { redriveLetter } from "../plugins/network/shared/dead-letters.js";
import { transportOf } from "../plugins/network/shared/transport.js";
import { messageOf } from "../util/errors.js";
import { Announcement } from "./announcement.js";
import { ingressPort } from "./ingress/ingress-port.js";
import { OpenIngresses } from "./ingress/open-ingresses.js";
import { Intake } from "./intake.js";
import { Schedules } from "./schedules/schedules.js";
import { clockPause } from "../util/abort/pauses.js";
import { answeredWithin } from "./service-time.js";
import { stopOnSignals } from "./signals.js";

/** Time limit in ms for ended runs to return their requests, after the drain time. */
const RELEASE_MS = 10_000;

/** Time limit in ms of the catalogue for the first announcement. */
const ANNOUNCE_MS = 30_000;
/** Time limit in ms of the backend for each of the last calls of a service. */
const LAST_CALLS_MS = 5_000;

/** The parts of a service. */
export interface ServiceParts extends DeliveryParts {
  readonly description: string | undefined;
  /** Whether the service closes the backend. */
  readonly ownsBackend: boolean;
  readonly schedules: readonly PlannedSchedule[];
  readonly stopsOnSignals: boolean;
  readonly ingress: readonly Ingress[];
  /** Whether plugins serve routes on the listener, for instance the dashboard. */
  readonly hasMounts: boolean;
  /** The parts of the intake of units. `undefined` without spreading. */
  readonly units: DeliveryParts | undefined;
  /** Starts the HTTP listener, if the service has one. `undefined` if there is none. */
  readonly listen: ((service: RunningService) => Promise<ServiceListener | undefined>) | undefined;
}

/** A started ensemble. */
export class RunningService implements Service {
  readonly closed: Promise<void>;
  readonly intake: Intake;
  /** The intakes of requests, and of units of runs. */
  readonly #intakes: readonly Intake[];
  readonly #parts: ServiceParts;
  readonly #announcement: Announcement;
  readonly #schedules: Schedules;
  readonly #ingresses: OpenIngresses;
  /** Aborted at the end of the drain time. */
  readonly #outOfTime = new AbortController();
  readonly #ended = new AbortController();
  #state: ServiceState = "NEW";
  #listener: ServiceListener | undefined;
  #leaveSignals: () => void = () => undefined;
  #stopping: Promise<void> | undefined;
  #close: () => void = () => undefined;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.intake = new Intake(parts);
    const units = parts.units === undefined ? [] : [new Intake(parts.units)];
    this.#intakes = [this.intake, ...units];
    this.#schedules = new Schedules(parts.schedules, parts);
    this.#ingresses = new OpenIngresses(parts.events);
    this.#announcement = new Announcement(parts, () => this.entry());
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  get name(): string {
    return this.#parts.settings.name;
  }

  get instance(): string {
    return this.#parts.settings.instance;
  }

  get state(): ServiceState {
    return this.#state;
  }

  get url(): string | undefined {
    return this.#listener?.url;
  }

  get backend(): NetworkBackend {
    return this.#parts.backend;
  }

  /** Begins to listen and to take requests. Reverses both when `signal` aborts. */
  async open(signal: AbortSignal): Promise<void> {
    this.#enter("STARTING");
    try {
      this.#listener = await this.#parts.listen?.(this);
      signal.throwIfAborted();
      const { clock } = this.#parts;
      await answeredWithin(this.#announcement.begin(), { clock, ms: ANNOUNCE_MS, signal });
      signal.throwIfAborted();
    } catch (error) {
      await this.#shut();
      throw error;
    }
    for (const intake of this.#intakes) intake.start();
    this.#enter("READY");
    if (this.#parts.shared.size === 0 && !this.#parts.hasMounts)
      this.#parts.events.warn(
        "The ensemble shares nothing: set shareTasks, shareTools or shareRun, or no request is executed",
      );
    this.#schedules.start();
    if (this.#parts.stopsOnSignals) this.#leaveSignals = stopOnSignals(() => this.stop());
    await this.#openIngresses();
  }

  async #openIngresses(): Promise<void> {
    const { ingress } = this.#parts;
    try {
      await this.#ingresses.start(ingress, (one) => ingressPort(one, this, this.#parts));
    } catch (error) {
      await this.stop(this.#stopping === undefined ? { drainTimeoutMs: 0 } : {});
      throw error;
    }
  }

  async stats(): Promise<{ readonly running: number; readonly depth: QueueDepth }> {
    return { running: this.intake.running, depth: await this.backend.queue.depth(this.name) };
  }

  requests(): readonly ActiveRequest[] {
    return this.#intakes.flatMap(({ active }) => active);
  }

  entry(): CatalogueEntry {
    const { shared, description, settings } = this.#parts;
    const { url } = this;
    return Object.freeze({
      ensemble: this.name,
      instance: this.instance,
      ...(description !== undefined && { description }),
      ...(url !== undefined && { url }),
      capabilities: Object.freeze([...shared.values()].map(({ capability }) => capability)),
      maxQueuedRequests: settings.maxQueuedRequests,
    });
  }

  schedules(): readonly ServiceSchedule[] {
    const { schedules, clock } = this.#parts;
    const nowMs = clock.now().getTime();
    return schedules.map(({ options: { name, task, schedule }, times }) => {
      const nextMs = times.after(nowMs);
      return {
        name,
        task,
        times: "cron" in schedule ? cronText(schedule) : `every ${schedule.everyMs} ms`,
        ...(nextMs !== undefined && { next: new Date(nextMs).toISOString() }),
      };
    });
  }

  async cancel(requestId: string, reason = "Cancelled by the service"): Promise<boolean> {
    const { backend, settings } = this.#parts;
    const { resultTtlMs } = settings;
    const transport = transportOf(this.name, backend, { resultTtlMs });
    const isCancelled = await transport.cancel(requestId, reason);
    if (isCancelled) this.intake.cancel(requestId, reason);
    return isCancelled;
  }

  deadLetters(): Promise<readonly DeadLetter[]> {
    return this.backend.queue.deadLetters(this.name);
  }

  redrive(requestId: string): Promise<boolean> {
    return redriveLetter(this.backend, this.name, requestId);
  }

  on(fn: (event: ServiceEvent) => void, filter?: ServiceEventFilter): () => void {
    return this.#parts.events.on(fn, filter);
  }

  stop(o: { readonly drainTimeoutMs?: number | undefined } = {}): Promise<void> {
    const { clock, settings } = this.#parts;
    const ms = o.drainTimeoutMs ?? settings.drainTimeoutMs;
    if (this.#stopping === undefined || o.drainTimeoutMs !== undefined)
      void clockPause(clock, ms, this.#ended.signal).then(() => this.#outOfTime.abort());
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#enter("DRAINING");
    this.#schedules.stop();
    void this.#ingresses.stop(); // never rejects
    for (const intake of this.#intakes) intake.close();
    const drained = Promise.all(this.#intakes.map((intake) => intake.drained()));
    const abandon = (): void => this.#intakes.forEach((intake) => intake.abandon());
    this.#outOfTime.signal.addEventListener("abort", abandon, { once: true });
    await Promise.race([drained, this.#released()]);
    this.#ended.abort();
    await this.#shut();
    this.#enter("STOPPED");
    this.#close();
  }

  /** Resolves `RELEASE_MS` after the end of the drain time. */
  async #released(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#outOfTime;
    if (!signal.aborted)
      await new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve(), { once: true }),
      );
    await clockPause(clock, RELEASE_MS, this.#ended.signal);
  }

  /** Closes everything that `open` has opened. */
  async #shut(): Promise<void> {
    const { backend, clock, ownsBackend, events } = this.#parts;
    const ms = LAST_CALLS_MS;
    this.#leaveSignals();
    for (const intake of this.#intakes) intake.close();
    const steps = [
      () => this.#listener?.close(),
      () => answeredWithin(this.#announcement.end(), { clock, ms }),
      () => (ownsBackend ? answeredWithin(backend.close(), { clock, ms }) : undefined),
    ];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        events.warn(`The service could not be closed: ${messageOf(error)}`);
      }
    }
  }

  #enter(state: ServiceState): void {
    this.#state = state;
    this.#parts.events.emit({ type: "service_state", state });
  }
}

function cronText({
  cron,
  timezone,
}: {
  readonly cron: string;
  readonly timezone?: string | undefined;
}): string {
  return timezone === undefined ? cron : `${cron} ${timezone}`;
}
