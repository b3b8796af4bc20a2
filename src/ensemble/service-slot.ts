import type { Service, ServiceState, StartOptions } from "../contracts/service.js";
import type { ServiceStarter } from "../service/open-service.js";
import type { ServicePorts } from "../service/ports.js";
import { ServiceStateError } from "../contracts/network-errors.js";

/** Options of `stop()`. */
export interface StopOptions {
  readonly drainTimeoutMs?: number | undefined;
}

/** Starts and stops the service of one ensemble: at most one service at a time. */
export class ServiceSlot {
  readonly #ports: () => ServicePorts;
  #starter: ServiceStarter | undefined;
  #starting: { readonly started: Promise<Service>; readonly abort: AbortController } | undefined;
  /** The service created last. It may not be open yet. */
  #opening: Service | undefined;
  #service: Service | undefined;

  constructor(ports: () => ServicePorts) {
    this.#ports = ports;
  }

  get state(): ServiceState {
    return this.#starting === undefined ? (this.#service?.state ?? "NEW") : "STARTING";
  }

  /** @throws ServiceStateError while the service drains; the errors of `ServiceStarter.start`. */
  start(options: number | StartOptions): Promise<Service> {
    if (this.#starting !== undefined) return this.#starting.started;
    const service = this.#service;
    if (service?.state === "READY") return Promise.resolve(service);
    if (service?.state === "DRAINING")
      return Promise.reject(
        new ServiceStateError("The service is stopping", {
          hint: "Await stop(), then start again.",
        }),
      );
    const abort = new AbortController();
    const started = this.#start(options, abort.signal).finally(() => (this.#starting = undefined));
    this.#starting = { started, abort };
    return started;
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const starting = this.#starting;
    if (starting !== undefined) {
      starting.abort.abort(new ServiceStateError("The service was stopped while it started"));
      // Its ingresses are opened.
      if (this.#opening?.state === "READY") await this.#opening.stop(options);
      await starting.started.catch(() => undefined); // start() rejects with it
    }
    await this.#service?.stop(options);
  }

  async #start(options: number | StartOptions, signal: AbortSignal): Promise<Service> {
    const { ServiceStarter: Starter } = await import("../service/open-service.js");
    this.#starter ??= new Starter(this.#ports());
    const opening = (service: Service): void => void (this.#opening = service);
    this.#service = await this.#starter.start(options, signal, opening);
    return this.#service;
  }
}
