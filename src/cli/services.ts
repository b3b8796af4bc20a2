import type { NetworkBackend } from "../contracts/network.js";
import type { Plugin } from "../contracts/plugin.js";
import type { Service, ServiceEvent, StartOptions } from "../contracts/service.js";
import type { NetworkStore } from "./network-store.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { queueOptionsOf, type QueueOptions } from "../contracts/queue-options.js";
import { messageOf } from "../util/errors.js";
import { printableLine } from "../util/printable.js";
import { ExitCode } from "./exit-codes.js";
import { accessOf, endEnsemble } from "./load-ensemble.js";
import { loadProgram, type StartableEnsemble } from "./load-program.js";
import { storeKeys } from "./store.js";

/** Settings for starting the ensembles of a file. */
export interface ServicePlan {
  /** The storage of requests. Default: in memory. */
  readonly store: NetworkStore | undefined;
  /** Whether runs are stored in the store. */
  readonly keepsRuns: boolean;
  /** Returns the options of the nth ensemble. */
  options(index: number): StartOptions;
  /** Receives a function that stops all services. Default: signals stop them. */
  readonly onStopRequest?: (stop: () => void) => void;
  /** Prints the services when all have started. */
  show(services: readonly Service[]): Promise<void>;
}

/** Starts the ensembles of a file as services, and returns when they have stopped. */
export async function runServices(
  file: string,
  plan: ServicePlan,
  { quiet }: { readonly quiet?: boolean | undefined },
  terminal: OutputTerminal,
): Promise<number> {
  terminal.keepOutputForResults();
  const { ensembles, queues } = await loadProgram(file);
  let backend: NetworkBackend | undefined;
  try {
    backend = await plan.store?.open();
    for (const ensemble of ensembles) await equip(ensemble, plan, backend);
    const listener = (event: ServiceEvent): void => void reportProgress(event, quiet, terminal);
    plan.onStopRequest?.(() => ensembles.forEach((one) => void one.stop()));
    const services: Service[] = [];
    for (const [index, ensemble] of ensembles.entries())
      services.push(
        await ensemble.start({
          ...plan.options(index),
          ...queueStart(queueOptionsOf(queues, ensemble.name ?? "")),
          ...(backend !== undefined && { backend }),
          listeners: [listener],
        }),
      );
    await plan.show(services);
    await Promise.all(services.map(({ closed }) => closed));
    return ExitCode.OK;
  } finally {
    await Promise.allSettled(ensembles.map((one) => one.stop({ drainTimeoutMs: 0 })));
    await Promise.allSettled(ensembles.map((one) => endEnsemble(one)));
    await backend?.close();
  }
}

/** Returns the start options of a queue. Only `submit` uses the priority. */
function queueStart({ priority: _, ...queue }: QueueOptions): Pick<StartOptions, "queue"> {
  return Object.keys(queue).length === 0 ? {} : { queue };
}

/**
 * Adds the plugins for an ensemble that runs in several processes. Plugins of the ensemble take
 * precedence.
 */
async function equip(
  ensemble: StartableEnsemble,
  { store, keepsRuns }: ServicePlan,
  backend: NetworkBackend | undefined,
): Promise<void> {
  if (keepsRuns && store?.journal !== undefined) {
    const { durable } = await import("../durability.js");
    useUnlessThere(
      ensemble,
      durable({ url: store.journal, ...storeKeys(), suspendAfterMs: 60_000 }),
    );
  }
  if (backend?.limits !== undefined) {
    const { sharedLimits } = await import("../network.js");
    useUnlessThere(ensemble, sharedLimits(backend));
  }
}

/**
 * @throws ValidationError for a value that is not an ensemble, and for an ensemble whose kernel
 * has booted without the plugin.
 */
function useUnlessThere(ensemble: StartableEnsemble, plugin: Plugin): void {
  const access = accessOf(ensemble);
  if (access.hasPlugin?.(plugin.name) === true) return;
  try {
    access.use(plugin);
  } catch (cause) {
    throw new ValidationError(
      `Ensemble '${ensemble.name ?? ""}' can't get the plugin '${plugin.name}': ${messageOf(cause)}`,
      {
        cause,
        hint: "The file must not run or start an ensemble that it exports, or must add the plugin to it.",
      },
    );
  }
}

/** Reports progress: starts, ends and problems. */
async function reportProgress(
  event: ServiceEvent,
  isQuiet: boolean | undefined,
  terminal: OutputTerminal,
): Promise<void> {
  const text = progressText(event);
  if (text === undefined || (isQuiet === true && event.type !== "service_warning")) return;
  await terminal.message(printableLine(text));
}

function progressText(event: ServiceEvent): string | undefined {
  switch (event.type) {
    case "service_state":
      return event.state === "DRAINING" ? "stopping: requests in execution may finish" : undefined;
    case "request_started":
      return `${event.task}: request ${event.requestId} of ${event.from} begins`;
    case "request_finished":
      return `${event.task}: request ${event.requestId} ${event.status}, ${Math.round(event.durationMs)} ms`;
    case "dead_letter":
      return `${event.task}: request ${event.requestId} is a dead letter: ${event.reason}`;
    case "service_warning":
      return `warning: ${event.message}`;
    default:
      return undefined;
  }
}
