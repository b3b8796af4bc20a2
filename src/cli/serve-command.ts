import type { Service, StartOptions } from "../contracts/service.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { networkStoreAt, type NetworkStore } from "./network-store.js";
import { runServices } from "./services.js";

/** Options of `agentensemble serve`. */
export interface ServeArguments {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  /** Where requests and results are kept. Default: in memory. */
  readonly store?: string | undefined;
  /** Keeps the runs in the store too. */
  readonly durable?: boolean | undefined;
  readonly allowedHost?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const PORT = 7329;
/** The variable with the tokens of callers: `name=token`, with commas between them. */
const CALLERS = "AGENTENSEMBLE_CALLERS";

/** `agentensemble serve`: starts the ensembles of a file, and ends when they have stopped. */
export async function serveCommand(
  file: string,
  o: ServeArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const store = o.store === undefined ? undefined : networkStoreAt(o.store);
  checkDurable(o, store);
  const common = startOptionsOf(o);
  const port = o.port === undefined ? PORT : Number(o.port); // checked by start()
  const plan = {
    store,
    keepsRuns: o.durable === true,
    options: (index: number): StartOptions => ({ ...common, port: port === 0 ? 0 : port + index }),
    show: (services: readonly Service[]) => showAddresses(services, o, terminal),
  };
  return runServices(file, plan, o, terminal);
}

/** @throws ValidationError for `--durable` without a store that keeps runs. */
function checkDurable({ durable }: ServeArguments, store: NetworkStore | undefined): void {
  if (durable !== true || store?.journal !== undefined) return;
  throw new ValidationError("--durable needs a --store that keeps runs", {
    hint: "Use file:<folder>, pglite:<folder> or postgres://host:5432/database.",
  });
}

function startOptionsOf(o: ServeArguments): StartOptions {
  const { host, allowedHost } = o;
  const callers = callersGiven(process.env[CALLERS] ?? "");
  return {
    ...(host !== undefined && { host }),
    ...(allowedHost !== undefined && { allowedHosts: allowedHost }),
    ...(callers !== undefined && { callers }),
  };
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

async function showAddresses(
  services: readonly Service[],
  { json }: ServeArguments,
  terminal: OutputTerminal,
): Promise<void> {
  const addresses = services.map(({ name: ensemble, instance, url = "" }) => {
    return { ensemble, instance, url, health: `${url}/api/health/ready` };
  });
  const [only] = addresses;
  if (json === true) await terminal.json(addresses.length === 1 ? only : addresses);
  else
    await terminal.text(
      addresses
        .map(({ ensemble, url, health }) => `${ensemble} listens on ${url}\nhealth: ${health}`)
        .join("\n"),
    );
}
