import type { Awaitable } from "../../../contracts/types.js";
import type { AllowedTargets } from "./host-rules.js";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
  requireFunction,
  requireInteger,
  requireOneOf,
} from "../../../contracts/validation.js";
import { AllowList, HostList } from "./host-rules.js";
import { isObject } from "../../../util/objects.js";

/**
 * Returns all addresses of a host. Each address is checked, and connections are opened only to
 * checked addresses.
 */
export type HostLookup = (
  host: string,
  options: { readonly signal: AbortSignal },
) => Awaitable<readonly string[]>;

/** Options of {@link safeFetch}. */
export interface SafeFetchOptions {
  /**
   * Targets that are allowed even if they are not public: services on this machine or in a private
   * network. Default: none.
   */
  readonly allow?: AllowedTargets | undefined;
  /**
   * The only hosts that are allowed, in the form of `allow.hosts`. Their addresses must still be
   * public. Default: all.
   */
  readonly onlyHosts?: readonly string[] | undefined;
  /** Hosts that are always refused. Default: none. */
  readonly denyHosts?: readonly string[] | undefined;
  /** Resolves host names. Default: the resolver of the system. */
  readonly lookup?: HostLookup | undefined;
  /** The allowed ports. Default: 80 and 443. */
  readonly ports?: readonly number[] | undefined;
  /**
   * Headers of every request, except after a redirect to another origin. Set secrets only for calls
   * whose URL you choose. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Accepted content types, such as `text/html`, `text/*` or `application/*+json`. Responses with
   * another type or without a type are refused. Default: all.
   */
  readonly contentTypes?: readonly string[] | undefined;
  /** Limit of the size of a body in bytes, before and after decompression. Default 5 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * The reaction to a larger body: an error (`"fail"`, the default), or only its beginning is read
   * (`"cut"`).
   */
  readonly overflow?: "fail" | "cut" | undefined;
  /** Limit of the size of a response's head in bytes. Default 16 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /**
   * Time limit of the complete request in milliseconds, including name resolution, connections,
   * redirects and bodies. Default 15,000.
   */
  readonly timeoutMs?: number | undefined;
  /** Whether redirects are followed (`"follow"`, the default) or returned (`"manual"`). */
  readonly redirect?: "follow" | "manual" | undefined;
  /** Limit of the number of followed redirects. Default 5. */
  readonly maxRedirects?: number | undefined;
  /** Trusted certificates (PEM) that replace the well-known ones, for private servers. */
  readonly ca?: string | undefined;
}

/** {@link SafeFetchOptions}, checked and with defaults. */
export interface SafeFetchSettings {
  readonly allow: AllowList;
  readonly onlyHosts: HostList | undefined;
  readonly denyHosts: HostList;
  readonly lookup: HostLookup | undefined;
  readonly ports: readonly number[];
  readonly headers: ReadonlyMap<string, string>;
  readonly contentTypes: readonly string[] | undefined;
  readonly maxBytes: number;
  readonly cuts: boolean;
  readonly maxHeaderBytes: number;
  readonly timeoutMs: number;
  readonly maxRedirects: number;
  readonly follows: boolean;
  readonly ca: string | undefined;
}

const MIB = 1_048_576;
const OPTIONS = [
  "allow",
  "onlyHosts",
  "denyHosts",
  "lookup",
  "ports",
  "headers",
  "contentTypes",
  "maxBytes",
  "overflow",
  "maxHeaderBytes",
  "timeoutMs",
  "redirect",
  "maxRedirects",
  "ca",
] as const;

/**
 * The headers that the function itself sets. A caller's value could add a second request or another
 * host to the request.
 */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Returns header fields with names in lower case.
 * @throws ValidationError for an invalid name or value. The message does not contain the value.
 */
export function checkFetchHeaders(
  what: string,
  headers: Readonly<Record<string, string>> | undefined,
): ReadonlyMap<string, string> {
  if (headers === undefined) return new Map();
  if (!isObject(headers))
    throw new ValidationError(`${what} must be an object, got: ${preview(headers)}`);
  return new Map(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      checkFetchHeader(what, name, value),
    ]),
  );
}

function checkFetchHeader(what: string, name: string, value: unknown): string {
  if (RESERVED_HEADERS.has(name.toLowerCase()))
    throw new ValidationError(`${what} must not contain '${name}': it follows from what is sent`);
  if (typeof value !== "string")
    throw new ValidationError(`${what}['${preview(name)}'] must be a text, got: ${typeof value}`);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new ValidationError(
      `${what}['${preview(name)}'] is not a valid header field: names are tokens, values have no line breaks`,
    );
  }
  return value;
}

function checkPorts(what: string, ports: readonly unknown[] | undefined): void {
  requireArray(what, ports);
  ports?.forEach((port) => {
    if (typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new ValidationError(
        `${what} must be port numbers from 1 to 65535, got: ${preview(port)}`,
      );
    }
  });
}

function checkContentTypes(what: string, types: readonly unknown[] | undefined): void {
  requireArray(what, types);
  types?.forEach((type) => {
    if (
      typeof type !== "string" ||
      !/^(?=[^/])[\w.+-]*\*?[\w.+-]*\/(?=.)[\w.+-]*\*?[\w.+-]*$/.test(type)
    ) {
      throw new ValidationError(
        `${what} must be content types such as 'text/html' or 'text/*', got: ${preview(type)}`,
      );
    }
  });
}

/** @throws ValidationError for an unknown or invalid option. */
export function resolveSafeFetchOptions(
  what: string,
  options: SafeFetchOptions,
): SafeFetchSettings {
  checkOptions(what, options, OPTIONS);
  const {
    onlyHosts,
    lookup,
    ports,
    contentTypes,
    maxBytes,
    overflow,
    maxHeaderBytes,
    timeoutMs,
    redirect,
    maxRedirects,
    ca,
  } = options;
  requireFunction(`${what} lookup`, lookup);
  checkPorts(`${what} ports`, ports);
  checkContentTypes(`${what} contentTypes`, contentTypes);
  requireInteger(`${what} maxBytes`, maxBytes, 1);
  requireInteger(`${what} maxHeaderBytes`, maxHeaderBytes, 1);
  requireInteger(`${what} maxRedirects`, maxRedirects, 0);
  requireDuration(`${what} timeoutMs`, timeoutMs);
  requireOneOf(`${what} overflow`, overflow, ["fail", "cut"]);
  requireOneOf(`${what} redirect`, redirect, ["follow", "manual"]);
  if (ca !== undefined && (typeof ca !== "string" || !ca.includes("-----BEGIN")))
    throw new ValidationError(`${what} ca must be a text in PEM format`);
  return Object.freeze({
    allow: new AllowList(`${what} allow`, options.allow),
    onlyHosts: onlyHosts === undefined ? undefined : new HostList(`${what} onlyHosts`, onlyHosts),
    denyHosts: new HostList(`${what} denyHosts`, options.denyHosts),
    lookup,
    ports: [...(ports ?? [80, 443])],
    headers: checkFetchHeaders(`${what} headers`, options.headers),
    contentTypes: contentTypes?.map((type) => type.toLowerCase()),
    maxBytes: maxBytes ?? 5 * MIB,
    cuts: overflow === "cut",
    maxHeaderBytes: maxHeaderBytes ?? 16_384,
    timeoutMs: timeoutMs ?? 15_000,
    maxRedirects: maxRedirects ?? 5,
    follows: redirect !== "manual",
    ca,
  });
}
