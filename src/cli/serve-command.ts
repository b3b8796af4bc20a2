import { join } from "node:path";
import type { NetworkBackend } from "../contracts/network.js";
import type { Service, ServiceEvent, StartOptions } from "../contracts/service.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { printableLine } from "../util/printable.js";
import { ExitCode } from "./exit-codes.js";
import { endEnsemble, loadEnsemble } from "./load-ensemble.js";

/** Options of `agentensemble serve`. */
export interface ServeArguments {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  /** Where requests and results are kept. Default: in memory. */
  readonly store?: string | undefined;
  readonly allowedHost?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/** An ensemble that can be started. */
interface Startable {
  start(options: StartOptions): Promise<Service>;
}

const PORT = 7329;
/** The variable with the tokens of callers: `name=token`, with commas between them. */
const CALLERS = "AGENTENSEMBLE_CALLERS";

/** `agentensemble serve`: starts an ensemble, and ends when it has stopped. */
export async function serveCommand(
  file: string,
  o: ServeArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const options = startOptionsOf(o);
  const openBackend = o.store === undefined ? undefined : backendAt(o.store);
  terminal.keepOutputForResults();
  const ensemble = await loadEnsemble(file);
  let backend: NetworkBackend | undefined;
  try {
    requireStartable(ensemble, file);
    backend = await openBackend?.();
    const service = await ensemble.start({
      ...options,
      ...(backend !== undefined && { backend }),
      listeners: [(event) => void reportProgress(event, o, terminal)],
    });
    await showAddress(service, o, terminal);
    await service.closed;
    return ExitCode.OK;
  } finally {
    await endEnsemble(ensemble);
    await backend?.close();
  }
}

/** How to open the storage at an address. @throws ValidationError for an address of another form. */
function backendAt(store: string): () => Promise<NetworkBackend> {
  const folder = /^file:(.+)$/s.exec(store)?.[1];
  if (folder === undefined)
    throw new ValidationError(`--store must be file:<folder>, got: ${preview(store)}`, {
      hint: "Other backends are given to start() in a program.",
    });
  return async () => {
    const { NetworkBackend: backends } = await import("../network.js");
    return backends.file(networkFolder(folder));
  };
}

/** The folder of all that is kept has the requests in `network`. */
function networkFolder(folder: string): string {
  return /(?:^|\/)\.agentensemble\/?$/s.test(folder) ? join(folder, "network") : folder;
}

function startOptionsOf(o: ServeArguments): StartOptions {
  const { host, allowedHost } = o;
  const callers = callersGiven(process.env[CALLERS] ?? "");
  return {
    port: o.port === undefined ? PORT : Number(o.port), // checked by start()
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

function requireStartable(ensemble: unknown, file: string): asserts ensemble is Startable {
  if (typeof (ensemble as Partial<Startable>).start === "function") return;
  throw new ValidationError(`The ensemble of ${preview(file)} can't be started`, {
    hint: "Its version of agentensemble is older than this command: update it in the project.",
  });
}

async function showAddress(
  service: Service,
  { json }: ServeArguments,
  terminal: OutputTerminal,
): Promise<void> {
  const { name: ensemble, instance, url = "" } = service;
  const health = `${url}/api/health/ready`;
  if (json === true) await terminal.json({ ensemble, instance, url, health });
  else await terminal.text(`${ensemble} listens on ${url}\nhealth: ${health}`);
}

/** Progress: what begins and ends, and what goes wrong. */
async function reportProgress(
  event: ServiceEvent,
  { quiet }: ServeArguments,
  terminal: OutputTerminal,
): Promise<void> {
  const text = progressText(event);
  if (text === undefined || (quiet === true && event.type !== "service_warning")) return;
  await terminal.message(printableLine(text));
}

function progressText(event: ServiceEvent): string | undefined {
  switch (event.type) {
    case "service_state":
      return event.state === "DRAINING" ? "stopping: what runs may end" : undefined;
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
