import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
} from "../../../contracts/validation.js";
import { ValidationError } from "../../../contracts/errors.js";

/** Options of `nats()`. */
export interface NatsOptions {
  /**
   * URLs of the servers of one cluster: `nats://host:4222`, also with `user:password@` or `token@`.
   * `tls://` requires TLS.
   */
  readonly servers: string | readonly string[];
  /**
   * Prefix of the names of all streams, buckets and subjects: 1 to 32 letters, digits, `-` and `_`.
   * Services and callers of one network must use the same prefix. Default `agentensemble`.
   */
  readonly prefix?: string | undefined;
  /**
   * Time in milliseconds for which ids of completed requests are kept. Use the `resultTtlMs` of the
   * services. Default 86,400,000 (one day).
   */
  readonly idTtlMs?: number | undefined;
}

/** The options of a connection in the form of the NATS client. */
export interface NatsAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly tls?: object;
}

export interface NatsSettings {
  readonly address: NatsAddress;
  /** The URLs without credentials. */
  readonly shown: string;
  readonly prefix: string;
  readonly idTtlMs: number;
}

const PREFIX = /^[\w-]{1,32}$/;
const ID_TTL_MS = 86_400_000;
const SCHEMES = ["nats:", "tls:"];

/** @throws ValidationError for an unknown or invalid option. */
export function natsSettings(options: NatsOptions): NatsSettings {
  checkOptions("nats()", options, ["servers", "prefix", "idTtlMs"]);
  const { servers, prefix = "agentensemble", idTtlMs = ID_TTL_MS } = options;
  if (typeof prefix !== "string" || !PREFIX.test(prefix))
    throw new ValidationError(
      `nats() prefix must have 1 to 32 letters, digits, '-' and '_', got: ${preview(prefix)}`,
    );
  requireDuration("nats() idTtlMs", idTtlMs);
  const urls = natsUrls(servers);
  const shown = urls.map(({ host }) => host).join(", ");
  return { address: natsAddress(urls), shown, prefix, idTtlMs };
}

function natsUrls(servers: NatsOptions["servers"]): readonly URL[] {
  if (typeof servers !== "string") requireArray("nats() servers", servers);
  const texts: readonly unknown[] = typeof servers === "string" ? [servers] : (servers ?? []);
  if (texts.length === 0)
    throw new ValidationError(
      `nats() servers must have at least one address, got: ${preview(servers)}`,
      { hint: 'For instance: nats({ servers: "nats://localhost:4222" })' },
    );
  return texts.map(natsUrl);
}

function natsUrl(text: unknown): URL {
  if (typeof text === "string") {
    const whole = text.includes("://") ? text : `nats://${text}`;
    const url = URL.canParse(whole) ? new URL(whole) : undefined;
    const isPlain = url !== undefined && /^\/?$/.test(`${url.pathname}${url.search}${url.hash}`);
    if (isPlain && SCHEMES.includes(url.protocol) && url.hostname !== "") return url;
  }
  throw new ValidationError(
    `nats() servers must be addresses such as nats://localhost:4222, got: ${preview(withoutCredentials(text))}`,
  );
}

function withoutCredentials(text: unknown): unknown {
  return typeof text === "string" ? text.replace(/\/\/.*@/, "//***@") : text;
}

/** Returns the address of the servers. The first credentials apply to all URLs. */
function natsAddress(urls: readonly URL[]): NatsAddress {
  const { username = "", password = "" } = urls.find(({ username: name }) => name !== "") ?? {};
  const [name, secret] = [username, password].map(decodeURIComponent);
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || "4222"}`),
    ...(name === undefined || name === ""
      ? {}
      : secret === undefined || secret === ""
        ? { token: name }
        : { user: name, pass: secret }),
    ...(urls.some(({ protocol }) => protocol === "tls:") ? { tls: {} } : {}),
  };
}
