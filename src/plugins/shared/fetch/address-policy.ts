import type { AddressJudge } from "./addresses.js";
import type { HostLookup, SafeFetchSettings } from "./safe-fetch-options.js";
import { isIP } from "node:net";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { AccessDeniedError, FetchError } from "../../../contracts/state-errors.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { createAddressJudge } from "./addresses.js";
import { plainHost, portOf } from "./host-rules.js";
import { shownAddress, shownUrl } from "./shown-url.js";

const LONGEST_URL = 8_192;

/**
 * The target of one request. All of these addresses have been checked. A connection may use no
 * other address.
 */
export interface Target {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** @throws ValidationError for a value that is no absolute URL. */
export function parseUrl(url: unknown): URL {
  const text = url instanceof URL ? url.href : url;
  if (typeof text !== "string" || text.length > LONGEST_URL || !URL.canParse(text)) {
    const shown = typeof text === "string" ? shownAddress(text) : typeof text;
    throw new ValidationError(
      `url must be an absolute URL such as https://example.com/page (at most ${LONGEST_URL} characters), got: ${shown}`,
    );
  }
  return new URL(text);
}

function denied(url: URL, reason: string, hint?: string): AccessDeniedError {
  return new AccessDeniedError(`Access to ${shownUrl(url)} is not allowed: ${reason}`, { hint });
}

async function systemLookup(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** The rules for targets. One object serves many requests. */
export class AddressPolicy {
  readonly #settings: SafeFetchSettings;
  readonly #lookup: HostLookup;
  #judge: Promise<AddressJudge> | undefined;

  constructor(settings: SafeFetchSettings) {
    this.#settings = settings;
    this.#lookup = settings.lookup ?? systemLookup;
  }

  /**
   * Checks the form of a URL and all addresses of its host.
   * @throws AccessDeniedError if it is refused, FetchError if its host is not found.
   */
  async resolve(url: URL, signal: AbortSignal): Promise<Target> {
    const host = plainHost(url.hostname);
    const port = portOf(url);
    this.#checkForm(url, host, port);
    const isTrusted = this.#settings.allow.hosts.has(host, port);
    if (!isTrusted) this.#checkName(url, host);
    const addresses = isIP(host) === 0 ? await this.#addressesOf(url, host, signal) : [host];
    this.#judge ??= createAddressJudge();
    const judge = await this.#judge;
    for (const address of addresses) this.#checkAddress(url, address, isTrusted, judge);
    return { url, host, port, addresses };
  }

  #checkForm(url: URL, host: string, port: number): void {
    const { ports, allow, denyHosts, onlyHosts } = this.#settings;
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw denied(url, "only http and https are");
    if (url.username !== "" || url.password !== "")
      throw denied(url, "it contains a user name or password", "Send credentials in a header.");
    if (host === "") throw denied(url, "it names no host");
    if (denyHosts.has(host, port)) throw denied(url, "its host is on the list of denied ones");
    if (onlyHosts !== undefined && !onlyHosts.has(host, port))
      throw denied(url, "its host is not on the list of allowed ones");
    if (!ports.includes(port) && !allow.hosts.names(host, port)) {
      throw denied(
        url,
        `port ${port} is not among ${ports.join(", ")}`,
        `Allow it with ports, or with allow: { hosts: ["${host}:${port}"] }.`,
      );
    }
  }

  /** Runs before the name resolution, which is skipped for a refused name. */
  #checkName(url: URL, host: string): void {
    const { allow } = this.#settings;
    const isLocal = host === "localhost" || host.endsWith(".localhost");
    if (isLocal && !allow.admits("127.0.0.1") && !allow.admits("::1"))
      throw this.#notPublic(url, "it is this machine");
  }

  async #addressesOf(url: URL, host: string, signal: AbortSignal): Promise<readonly string[]> {
    // A resolver may also throw synchronously.
    const looking = Promise.resolve().then(() => this.#lookup(host, { signal }));
    const answer = await settleWithin(looking, signal).catch((cause: unknown) => {
      if (signal.aborted || cause instanceof AgentEnsembleError) throw cause;
      throw notFound(url, cause);
    });
    if (!Array.isArray(answer) || answer.length === 0) throw notFound(url);
    return answer.map(String);
  }

  #checkAddress(url: URL, address: string, isTrusted: boolean, judge: AddressJudge): void {
    const isAddress = isIP(address) !== 0 && !address.includes("%");
    if (isAddress && (isTrusted || this.#settings.allow.admits(address))) return;
    const reason = isAddress ? judge(address) : "no address";
    // The error does not contain the address: clients outside a private network must not learn how
    // its names resolve.
    if (reason !== undefined) throw this.#notPublic(url, `its address is not public (${reason})`);
  }

  #notPublic(url: URL, reason: string): AccessDeniedError {
    return denied(url, reason, `If it should be: allow: { hosts: ["${url.host}"] }.`);
  }
}

function notFound(url: URL, cause?: unknown): FetchError {
  return new FetchError(
    `Could not fetch ${shownUrl(url)}: the host was not found`,
    { reason: "connection" },
    cause === undefined ? {} : { cause },
  );
}
