import type { SecretFilter } from "../../../../contracts/redaction.js";
import type { Clock } from "../../../../contracts/runtime.js";
import { ValidationError } from "../../../../contracts/errors.js";
import { checkOptions, preview, requireDelay } from "../../../../contracts/validation.js";
import { secretReplacer } from "../../../../util/redaction/secret-values.js";
import { systemClock } from "../../../../util/runtime.js";

/** Options of `a2a()`. */
export interface A2aOptions {
  /**
   * The name of the agent in tool names: at most 64 letters, digits, `-` and `_`. Default: the
   * host.
   */
  readonly name?: string | undefined;
  /** Bearer token for the agent, sent only to the origin of the given URL. Default: none. */
  readonly token?: string | undefined;
  /**
   * Time in milliseconds after the last answer of the agent for which a request is repeated.
   * Requests are repeated if the agent can't be reached or answers with status 429, 502, 503 or 504.
   * Default 30,000.
   */
  readonly retryForMs?: number | undefined;
  /** A clock for tests. Default: the clock of the machine. */
  readonly clock?: Pick<Clock, "monotonicMs" | "sleep"> | undefined;
}

/** The options of a connection, with defaults. */
export interface A2aSettings {
  readonly name: string;
  /** The origin of the agent. No other origin is contacted. */
  readonly origin: string;
  /** The URL of the agent card. */
  readonly cardUrl: string;
  readonly token: string | undefined;
  /**
   * Removes the token from a text, because an agent may include what it receives in its answers.
   */
  readonly redact: SecretFilter;
  readonly retryForMs: number;
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
}

const RETRY_FOR_MS = 30_000;
const CARD_NAME = ".well-known/agent-card.json";

/** The names of the options. */
const A2A_OPTIONS = Object.freeze(["name", "token", "retryForMs", "clock"]);
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws ValidationError for an invalid address, and for an unknown or invalid option. */
export function a2aSettings(url: string | URL, options: A2aOptions, what = "a2a()"): A2aSettings {
  checkOptions(what, options, A2A_OPTIONS);
  const { token, retryForMs = RETRY_FOR_MS, clock = systemClock } = options;
  requireDelay(`${what} retryForMs`, retryForMs);
  if (token !== undefined && (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)))
    throw new ValidationError(
      `${what} token must be a text of printable characters without spaces`,
    );
  const address = httpUrl(url, what);
  const name = options.name ?? address.host.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "");
  if (typeof name !== "string" || !NAME.test(name.slice(0, options.name === undefined ? 64 : 65)))
    throw new ValidationError(
      `${what} name must be 1 to 64 letters, digits, '-' and '_', got: ${preview(name)}`,
    );
  return {
    name: name.slice(0, 64),
    origin: address.origin,
    cardUrl: cardUrlOf(address),
    token,
    redact: secretReplacer(token === undefined ? [] : [token]),
    retryForMs,
    clock,
  };
}

function httpUrl(url: unknown, what: string): URL {
  const text = url instanceof URL ? url.href : url;
  if (typeof text === "string" && /^https?:\/\//i.test(text) && URL.canParse(text)) {
    const address = new URL(text);
    if (address.username === "" && address.password === "") return address;
    throw new ValidationError(`${what} url must not contain a user or a password`, {
      hint: "Use the option token.",
    });
  }
  throw new ValidationError(`${what} url must be an http or https URL, got: ${preview(url)}`);
}

/**
 * Returns the URL of the card. This is the given URL if it ends with `.json`, otherwise the
 * well-known path below it.
 */
function cardUrlOf({ origin, pathname, search }: URL): string {
  if (pathname.endsWith(".json")) return `${origin}${pathname}${search}`;
  return `${origin}${pathname.replace(/\/+$/, "")}/${CARD_NAME}`;
}
