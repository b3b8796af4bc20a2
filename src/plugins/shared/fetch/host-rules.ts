import { BlockList, isIP } from "node:net";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireArray } from "../../../contracts/validation.js";

/** Targets that are allowed even if they are not public. */
export interface AllowedTargets {
  /**
   * Names or addresses that may resolve to any address: `intranet.example`, `*.corp.example` (all
   * names below it), `127.0.0.1`, `[::1]`. With a port (`localhost:8080`) the entry allows only
   * that port.
   */
  readonly hosts?: readonly string[] | undefined;
  /** Addresses and networks: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. */
  readonly addresses?: readonly string[] | undefined;
}

/** Returns a normalized host: without brackets and trailing dots, in lower case. */
export function plainHost(host: string): string {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return bare.replace(/\.+$/, "").toLowerCase();
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

interface HostPattern {
  readonly host: string;
  /** Whether the pattern began with `*.`. */
  readonly below: boolean;
  readonly port: number | undefined;
}

function hostPattern(what: string, entry: unknown): HostPattern {
  const misfit = (): ValidationError =>
    new ValidationError(
      `${what} must be a host such as 'example.com', '*.example.com' or 'localhost:8080', got: ${preview(entry)}`,
    );
  if (typeof entry !== "string") throw misfit();
  const below = entry.startsWith("*.");
  const bare = below ? entry.slice(2) : entry;
  // An IPv6 address may occur without brackets, as in `addresses`.
  const text = `http://${isIP(bare) === 6 ? `[${bare}]` : bare}/`;
  if (/[\s/?#@*\\]/.test(bare) || !URL.canParse(text)) throw misfit();
  const url = new URL(text);
  const hasPort = /:\d+$/.test(bare) && isIP(bare) !== 6;
  return { host: plainHost(url.hostname), below, port: hasPort ? portOf(url) : undefined };
}

function matches(pattern: HostPattern, host: string): boolean {
  return pattern.below ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
}

/**
 * A list of hosts from options.
 * @throws ValidationError for a value that is no list of host patterns.
 */
export class HostList {
  readonly #patterns: readonly HostPattern[];

  constructor(what: string, entries: readonly string[] | undefined) {
    requireArray(what, entries);
    this.#patterns = (entries ?? []).map((entry, index) => hostPattern(`${what}[${index}]`, entry));
  }

  has(host: string, port: number): boolean {
    return this.#patterns.some(
      (pattern) => matches(pattern, host) && (pattern.port === undefined || pattern.port === port),
    );
  }

  /** Whether an entry has exactly this port. */
  names(host: string, port: number): boolean {
    return this.#patterns.some((pattern) => matches(pattern, host) && pattern.port === port);
  }
}

function addNetwork(list: BlockList, what: string, entry: unknown): void {
  const [address = "", prefix, ...rest] = typeof entry === "string" ? entry.split("/") : [];
  const kind = isIP(address);
  const widest = kind === 6 ? 128 : 32;
  const bits =
    prefix === undefined ? widest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (kind === 0 || rest.length > 0 || address.includes("%") || !(bits <= widest)) {
    throw new ValidationError(
      `${what} must be an address or a network such as '10.1.2.3' or '10.0.0.0/8', got: ${preview(entry)}`,
    );
  }
  list.addSubnet(address, bits, kind === 6 ? "ipv6" : "ipv4");
}

/**
 * The targets that a user allows in addition to the public internet.
 * @throws ValidationError for an invalid host or network.
 */
export class AllowList {
  readonly hosts: HostList;
  readonly #networks = new BlockList();

  constructor(what: string, allow: AllowedTargets = {}) {
    checkOptions(what, allow, ["hosts", "addresses"]);
    requireArray(`${what}.addresses`, allow.addresses);
    this.hosts = new HostList(`${what}.hosts`, allow.hosts);
    allow.addresses?.forEach((entry, index) =>
      addNetwork(this.#networks, `${what}.addresses[${index}]`, entry),
    );
  }

  /** Whether an address is in an allowed network. */
  admits(address: string): boolean {
    const kind = isIP(address);
    return kind !== 0 && this.#networks.check(address, kind === 6 ? "ipv6" : "ipv4");
  }
}
