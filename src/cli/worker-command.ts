import type { Service } from "../contracts/service.js";
import type { NetworkStore } from "./network-store.js";
import type { OutputTerminal } from "./terminal.js";
import type { StoreArguments } from "./store.js";
import { ValidationError } from "../contracts/errors.js";
import { durationOf } from "./arguments.js";
import { networkStoreAt } from "./network-store.js";
import { runServices } from "./services.js";
import { addressGiven } from "./store.js";

/** Options of `agentensemble worker`. */
export interface WorkerArguments extends StoreArguments {
  readonly lease?: string | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/**
 * `agentensemble worker`: executes the submitted requests for the ensembles of a file, until it is
 * stopped.
 */
export async function workerCommand(
  file: string,
  o: WorkerArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const store = sharedStore(o);
  const leaseMs = o.lease === undefined ? undefined : durationOf("--lease", o.lease);
  const plan = {
    store,
    keepsRuns: true,
    options: () => ({ shareRun: true, ...(leaseMs !== undefined && { leaseMs }) }),
    show: (services: readonly Service[]) => showWork(services, o, terminal),
  };
  return runServices(file, plan, o, terminal);
}

/**
 * Returns the store that workers and submitters share.
 * @throws ValidationError for a store of a single process.
 */
export function sharedStore(o: StoreArguments): NetworkStore {
  const url = addressGiven(o);
  const store = url === undefined ? undefined : networkStoreAt(url);
  if (store?.isShared === true) return store;
  const found = url === undefined ? "none was given" : "this one is for one process at a time";
  throw new ValidationError(`Workers need a store for several processes: ${found}`, {
    hint: "Use --store postgres://host:5432/database, or the variable AGENTENSEMBLE_STORE. `agentensemble run --durable` needs no worker.",
  });
}

async function showWork(
  services: readonly Service[],
  { json }: WorkerArguments,
  terminal: OutputTerminal,
): Promise<void> {
  const list = services.map(({ name: ensemble, instance }) => ({ ensemble, instance }));
  if (json === true) await terminal.json({ workers: list });
  else await terminal.text(`works for ${list.map(({ ensemble }) => ensemble).join(", ")}`);
}
