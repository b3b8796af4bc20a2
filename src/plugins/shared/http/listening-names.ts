import { isIP } from "node:net";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireArray, requireText } from "../../../contracts/validation.js";

/** The names of this machine in a Host header. */
export const LOOPBACK_NAMES: readonly string[] = Object.freeze(["localhost", "127.0.0.1", "[::1]"]);

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The host without the brackets of IPv6 addresses. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** The host as it appears in a URL, with IPv6 addresses in brackets. */
export function urlHostOf(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Whether only this machine reaches a listener on this host. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Whether a listener on this host takes connections for any address. */
export function isWildcardHost(host: string): boolean {
  return WILDCARDS.has(host);
}

/** A name, or an address of IPv6 in brackets, as it stands in a Host header before the port. */
const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[^\s/:@?#[\]\\]+)$/i;

/** Names in a Host header, in small letters. @throws ValidationError for a value that is no name */
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

/** Origins of pages. @throws ValidationError for a value that is no origin */
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

/** @throws ValidationError unless `port` is absent or a port; 0 stands for any free one */
export function requirePort(what: string, port: unknown): void {
  if (port === undefined) return;
  if (typeof port !== "number" || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ValidationError(`${what} must be a port from 0 to 65535, got: ${preview(port)}`);
}
