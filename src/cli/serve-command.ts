import type { Service, StartOptions } from "../contracts/service.js";
import type { OutputTerminal } from "./terminal.js";
import cluster from "node:cluster";
import { ValidationError } from "../contracts/errors.js";
import { requireInteger } from "../contracts/validation.js";
import { isOptionalInstalled } from "../util/import-optional.js";
import { portOf } from "./arguments.js";
import { networkStoreAt, type NetworkStore } from "./network-store.js";
import { onStopRequest, ServeWorkers, type ReadyServices } from "./serve-workers.js";
import { runServices } from "./services.js";

/** Options of `agentensemble serve`. */
export interface ServeArguments {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  /** The storage of requests and results. Default: in memory. */
  readonly store?: string | undefined;
  /** Whether the runs are also stored in `store`. */
  readonly durable?: boolean | undefined;
  /** The number of serving processes. Default: only this process. */
  readonly workers?: string | undefined;
  readonly allowedHost?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const PORT = 7329;
/** Hosts that mean all addresses of the machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);
const CARD = "/.well-known/agent-card.json";
/** The variable with the tokens of callers: `name=token`, separated by commas. */
const CALLERS = "AGENTENSEMBLE_CALLERS";

/** `agentensemble serve`: starts the ensembles of a file, and ends when they have stopped. */
export async function serveCommand(
  file: string,
  o: ServeArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const store = o.store === undefined ? undefined : networkStoreAt(o.store);
  checkDurable(o, store);
  const port = portOf(o.port) ?? PORT;
  const count = o.workers === undefined ? undefined : workersOf(o.workers, store);
  if (count !== undefined && cluster.isPrimary) {
    const show = (services: readonly unknown[]): Promise<void> =>
      showAddresses(services as readonly ServedAddress[], { ...o, count }, terminal); // sent below
    return new ServeWorkers(count, terminal).run(show);
  }
  const isWorker = count !== undefined;
  const common = { ...startOptionsOf(o), ...(isWorker && { sharesPort: true }) };
  const plan = {
    store,
    keepsRuns: o.durable === true,
    options: (index: number): StartOptions => ({ ...common, port: port === 0 ? 0 : port + index }),
    show: async (services: readonly Service[]) => {
      const ready = services.map(({ name: ensemble, instance, url = "" }) => {
        return { ensemble, instance, url };
      });
      if (isWorker) process.send?.({ ready } satisfies ReadyServices);
      else await showAddresses(ready, o, terminal);
    },
    ...(isWorker && { onStopRequest }),
  };
  return runServices(file, plan, o, terminal);
}

/** @throws ValidationError for `--durable` without a store for runs. */
function checkDurable({ durable }: ServeArguments, store: NetworkStore | undefined): void {
  if (durable !== true || store?.journal !== undefined) return;
  throw new ValidationError("--durable needs a --store that keeps runs", {
    hint: "Use file:<folder>, pglite:<folder> or postgres://host:5432/database.",
  });
}

function startOptionsOf(o: ServeArguments): StartOptions {
  const { host, allowedHost } = o;
  const callers = callersGiven(process.env[CALLERS] ?? "");
  if (host !== undefined && EVERY_ADDRESS.has(host)) requireReachable(host, allowedHost, callers);
  return {
    ...(host !== undefined && { host }),
    ...(allowedHost !== undefined && { allowedHosts: allowedHost }),
    ...(callers !== undefined && { callers }),
  };
}

/** @throws ValidationError with the requirements of an address that other machines can reach. */
function requireReachable(host: string, names: unknown, callers: unknown): void {
  if (callers === undefined)
    throw new ValidationError(`--host ${host} needs callers, since other machines reach it`, {
      hint: `Set the variable ${CALLERS} to name=token,name=token.`,
    });
  if (names === undefined)
    throw new ValidationError(`--host ${host} needs --allowed-host`, {
      hint: "Name the host under which others reach the service: --allowed-host kitchen.internal.",
    });
}

/** @throws ValidationError, without the tokens, for another form. */
function callersGiven(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  if (pairs.length === 0) return undefined;
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1)
        throw new ValidationError(`The variable ${CALLERS} must be name=token,name=token`, {
          hint: "Each caller has its own name and token.",
        });
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

/** @throws ValidationError for an invalid number, and for a store of one process. */
function workersOf(given: string, store: NetworkStore | undefined): number {
  const count = Number(given);
  requireInteger("--workers", count, 1, "> 0");
  if (store?.isShared === true) return count;
  const found =
    store === undefined ? "requests in memory" : "this one is for one process at a time";
  throw new ValidationError(`--workers needs a --store for several processes: ${found}`, {
    hint: "Use postgres://host:5432/database, redis://host:6379 or nats://host:4222.",
  });
}

/** The address of a served ensemble. */
interface ServedAddress {
  readonly ensemble: string;
  readonly instance: string;
  readonly url: string;
}

async function showAddresses(
  services: readonly ServedAddress[],
  { json, count }: ServeArguments & { readonly count?: number },
  terminal: OutputTerminal,
): Promise<void> {
  const hasCards = isOptionalInstalled("@a2a-js/sdk/server"); // services serve A2A then
  const addresses = services.map(({ ensemble, instance, url }) => {
    const health = `${url}/api/health/ready`;
    const place = count === undefined ? { instance } : { workers: count };
    return { ensemble, ...place, url, health, ...(hasCards && { card: `${url}${CARD}` }) };
  });
  const [only] = addresses;
  if (json === true) await terminal.json(addresses.length === 1 ? only : addresses);
  else
    await terminal.text(
      addresses
        .flatMap(({ ensemble, url, health, card }) => [
          `${ensemble} listens on ${url}`,
          `health: ${health}`,
          ...(card === undefined ? [] : [`card: ${card}`]),
        ])
        .join("\n"),
    );
}
