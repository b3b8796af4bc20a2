import type { NetworkBackend, Remote, SharedCapability } from "../../../contracts/network.js";
import type { Clock } from "../../../contracts/runtime.js";
import { ToolConfigurationError, ValidationError } from "../../../contracts/errors.js";
import { createToken } from "../../../contracts/token.js";
import { checkOptions, knownNames, preview } from "../../../contracts/validation.js";
import { asFields } from "../../../util/objects.js";
import type { A2aOptions } from "../shared/a2a-client/a2a-options.js";
import { a2aSettings } from "../shared/a2a-client/a2a-options.js";
import { a2a } from "../shared/a2a-client/a2a-remote.js";
import { transportOf } from "../shared/transport.js";
import { AnnouncedLimits } from "./announced-limits.js";

/** The directory of other ensembles for the tools of a kernel. Bound by `network()`. */
export const DIRECTORY = createToken<NetworkDirectory>("NetworkDirectory");

/** The address of an ensemble: a backend, a separate connection, or a URL. */
export type EnsemblePlace = Remote | NetworkBackend | AgentPlace;

/**
 * The address of a service, or of another agent, that is called over A2A. Requires the package
 * `@a2a-js/sdk`.
 */
export interface AgentPlace extends Pick<A2aOptions, "token" | "retryForMs"> {
  /** The address of the agent or of its card. */
  readonly url: string | URL;
}

interface DirectoryParts {
  /** The name under which requests are sent. */
  readonly name: string;
  readonly ensembles: Readonly<Record<string, EnsemblePlace>>;
  /** The place of ensembles without an entry. */
  readonly backend: NetworkBackend | undefined;
  readonly clock: Clock;
}

/** An ensemble and its shared tasks and tools. */
export interface SharedWith {
  readonly ensemble: string;
  readonly remote: Remote;
  readonly capability: SharedCapability;
}

/** The ensembles that a caller can reach. */
export class NetworkDirectory {
  readonly name: string;
  readonly #parts: DirectoryParts;
  readonly #remotes = new Map<string, Remote>();
  readonly #limits: AnnouncedLimits;
  /** The connections opened by this object. */
  readonly #opened: Remote[] = [];
  /** Aborted when the plugin is disposed. */
  readonly #closing = new AbortController();

  constructor(parts: DirectoryParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#limits = new AnnouncedLimits(parts.clock);
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Ends the waits in the background. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Returns whether an ensemble has a separate connection or a URL. */
  hasPlace(ensemble: string): boolean {
    const { ensembles, backend } = this.#parts;
    return backend !== undefined || Object.hasOwn(ensembles, ensemble);
  }

  /**
   * Returns the connection to an ensemble. `bound` is the backend of the kernel, for ensembles
   * without a place.
   * @throws ToolConfigurationError for an ensemble without a place.
   */
  remoteOf(ensemble: string, bound?: NetworkBackend): Remote {
    const known = this.#remotes.get(ensemble);
    if (known !== undefined) return known;
    const { ensembles, backend } = this.#parts;
    const place = Object.hasOwn(ensembles, ensemble) ? ensembles[ensemble] : backend;
    if (place === undefined && bound !== undefined) return this.#over(bound, ensemble);
    if (place === undefined)
      throw new ToolConfigurationError(
        `network() has no ensemble '${ensemble}'. ${knownNames(ensemble, Object.keys(ensembles))}`,
        {
          hint: "Add it to the option ensembles, set the option backend, or bind NetworkTokens.NetworkBackend.",
        },
      );
    const remote = isRemote(place) ? place : this.#opening(ensemble, place);
    this.#remotes.set(ensemble, remote);
    return remote;
  }

  #opening(ensemble: string, place: NetworkBackend | AgentPlace): Remote {
    if (!isAgentPlace(place)) return this.#over(place, ensemble);
    const { url, ...options } = place;
    const remote = a2a(url, { ...options, clock: this.#parts.clock });
    this.#opened.push(remote);
    return remote;
  }

  #over(backend: NetworkBackend, ensemble: string): Remote {
    const { clock } = this.#parts;
    return transportOf(ensemble, backend, { clock }, () => this.#limits.of(ensemble, backend));
  }

  /**
   * Returns the currently shared tasks and tools, by ensemble.
   * @throws NetworkError if an ensemble can't be reached.
   */
  async shared(bound?: NetworkBackend): Promise<readonly SharedWith[]> {
    const { ensembles, backend = bound, name } = this.#parts;
    const found = new Set(Object.keys(ensembles));
    for (const { ensemble } of (await backend?.catalogue.entries()) ?? []) found.add(ensemble);
    found.delete(name);
    const lists = [...found].sort().map(async (ensemble) => {
      const remote = this.remoteOf(ensemble, bound);
      const capabilities = await remote.capabilities();
      return capabilities.map((capability) => ({ ensemble, remote, capability }));
    });
    return (await Promise.all(lists)).flat();
  }

  /** Closes the connections opened by this object. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The plugin 'network' was disposed"));
    this.#remotes.clear();
    await Promise.all(this.#opened.splice(0).map((remote) => remote.close()));
  }
}

/** Returns whether requests can be sent to the value. */
export function isRemote(value: unknown): value is Remote {
  const fields = asFields(value);
  return ["send", "response", "cancel", "capabilities"].every(
    (method) => typeof fields?.[method] === "function",
  );
}

/** Returns whether the value is the address of an agent. */
export function isAgentPlace(value: unknown): value is AgentPlace {
  return !isRemote(value) && !isBackend(value) && asFields(value)?.["url"] !== undefined;
}

/** @throws ValidationError unless the value is a backend, a remote or the address of an agent. */
export function requirePlace(what: string, value: unknown): void {
  if (isRemote(value) || isBackend(value)) return;
  if (isAgentPlace(value)) {
    checkOptions(what, value, ["url", "token", "retryForMs"]);
    const { url, ...options } = value;
    a2aSettings(url, options, what);
    return;
  }
  throw new ValidationError(
    `${what} must be a backend, a Remote or { url }, got: ${preview(value)}`,
    {
      hint: "Give NetworkBackend.inMemory(), NetworkBackend.file(folder), Transport.of(name, backend), or { url, token }.",
    },
  );
}

/** @throws ValidationError unless the value is absent or a backend. */
export function requireBackend(what: string, value: unknown): void {
  if (value === undefined || isBackend(value)) return;
  throw new ValidationError(`${what} must be a backend, got: ${preview(value)}`, {
    hint: "Give NetworkBackend.inMemory(), NetworkBackend.file(folder), or one of an engine.",
  });
}

function isBackend(value: unknown): boolean {
  const fields = asFields(value);
  return ["queue", "results", "topics", "catalogue"].every(
    (part) => asFields(fields?.[part]) !== undefined,
  );
}
