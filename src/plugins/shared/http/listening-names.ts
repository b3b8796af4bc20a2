import { isIP } from "node:net";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireArray, requireText } from "../../../contracts/validation.js";

/** The names of this machine in a Host header. */
export const LOOPBACK_NAMES: readonly string[] = Object.freeze(["localhost", "127.0.0.1", "[::1]"]);

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Returns the host without the brackets of IPv6 addresses. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** Returns the host in the form of a URL, with IPv6 addresses in brackets. */
export function urlHostOf(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Whether a listener on this host is reachable only from this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Whether a listener on this host accepts connections for any address. */
export function isWildcardHost(host: string): boolean {
  return WILDCARDS.has(host);
}

/** A name, or an IPv6 address in brackets, in the form of a Host header before the port. */
const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[^\s/:@?#[\]\\]+)$/i;

/** Returns names for a Host header, in lower case. @throws ValidationError for an invalid name. */
export function hostNamesOf(
  what: string,
  given: readonly string[] | undefined,
): readonly string[] | undefined {
  requireArray(`${what} allowedHosts`, given);
  given?.forEach((name: unknown, i) => {
    const message = `${what} allowedHosts[${i}] must be a name without port, got: ${preview(name)}`;
    requireText(name, message);
    if (!HOST_NAME.test(String(name))) throw new ValidationError(message);
  });
  return given?.map((name) => name.toLowerCase());
}

/** Returns origins of pages. @throws ValidationError for an invalid origin. */
export function originsOf(what: string, given: readonly string[] | undefined): ReadonlySet<string> {
  requireArray(`${what} allowedOrigins`, given);
  return new Set(
    given?.map((origin: unknown, i) => {
      const url = typeof origin === "string" && URL.canParse(origin) ? new URL(origin) : undefined;
      if (
        url === undefined ||
        (url.origin !== origin && `${url.origin}/` !== origin) ||
        url.origin === "null"
      )
        throw new ValidationError(
          `${what} allowedOrigins[${i}] must be an origin like http://localhost:6274, got: ${preview(origin)}`,
        );
      return url.origin;
    }),
  );
}

/** @throws ValidationError unless `port` is absent or a port. 0 means any free port. */
export function requirePort(what: string, port: unknown): void {
  if (port === undefined) return;
  if (typeof port !== "number" || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ValidationError(`${what} must be a port from 0 to 65535, got: ${preview(port)}`);
}
