import type { StartOptions } from "../../contracts/service.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireFunction,
  requireInteger,
  requireOneOf,
  requireText,
} from "../../contracts/validation.js";
import {
  bareHost,
  hostNamesOf,
  isLoopbackHost,
  isWildcardHost,
  requirePort,
} from "../../plugins/shared/http/listening-names.js";
import { checkCallerQuota } from "../../contracts/queue-options.js";
import { type Fields, isObject } from "../../util/objects.js";

const HTTP_ONLY = [
  ...(["host", "callers", "authenticate", "quota"] as const),
  ...(["allowedHosts", "publicUrl", "card"] as const),
];
const SHORTEST_TOKEN = 16;

/** @throws ValidationError for options of the listener that are invalid or have no effect. */
export function checkHttpOptions(o: StartOptions): void {
  const { port, host, callers, authenticate, allowedHosts, publicUrl } = o;
  requirePort("start()", port);
  const idle = HTTP_ONLY.find((name) => o[name] !== undefined);
  if (port === undefined && idle !== undefined)
    throw new ValidationError(`start() ${idle} has no effect without port`, {
      hint: "port: 0 takes a free port.",
    });
  if (host !== undefined) requireText(host, "start() host must not be blank when set");
  checkCallers(callers);
  requireFunction("start() authenticate", authenticate);
  if (callers !== undefined && authenticate !== undefined)
    throw new ValidationError("start() takes callers or authenticate, not both");
  if (o.quota !== undefined && typeof o.quota !== "function")
    checkCallerQuota("start() quota", o.quota);
  checkHosts(host, allowedHosts);
  checkPublicUrl(publicUrl);
  requireOneOf("start() card", o.card, ["public", "private"]);
  if (
    host !== undefined &&
    !isLoopbackHost(bareHost(host)) &&
    (callers ?? authenticate) === undefined
  )
    throw new ValidationError(`start() host ${preview(host)} is reachable for other machines`, {
      hint: "Set callers or authenticate to restrict who may send requests.",
    });
}

function checkHosts(host: string | undefined, allowedHosts: readonly string[] | undefined): void {
  const names = hostNamesOf("start()", allowedHosts) ?? [];
  if (host !== undefined && isWildcardHost(bareHost(host)) && names.length === 0)
    throw new ValidationError(`start() host ${preview(host)} needs allowedHosts`, {
      hint: 'Name the hosts under which others reach the service: allowedHosts: ["kitchen.internal"].',
    });
}

function checkPublicUrl(publicUrl: unknown): void {
  if (publicUrl === undefined) return;
  const isUrl = typeof publicUrl === "string" && /^https?:\/\//i.test(publicUrl);
  if (!isUrl || !URL.canParse(publicUrl))
    throw new ValidationError(
      `start() publicUrl must be an http or https URL, got: ${preview(publicUrl)}`,
    );
  const { username, password } = new URL(publicUrl);
  if (username !== "" || password !== "")
    throw new ValidationError(
      "start() publicUrl must not contain a user or a password: it is public",
    );
}

function checkCallers(callers: unknown): void {
  if (callers === undefined) return;
  if (!isObject(callers))
    throw new ValidationError(
      `start() callers must be an object of names, got: ${Array.isArray(callers) ? "a list" : typeof callers}`,
      { hint: 'Give each caller a name: callers: { "room-service": token }.' },
    );
  const tokens = new Set<unknown>();
  for (const [name, caller] of Object.entries(callers)) {
    const what = `start() callers.${name}`;
    if (typeof caller !== "string") {
      requireCaller(what, caller);
      checkOptions(what, caller, ["token", "may", "maxQueued", "quota"]);
      const { may, maxQueued, quota } = caller as Fields; // checkOptions refuses other values
      requireArray(`${what} may`, may);
      requireInteger(`${what} maxQueued`, maxQueued, 1, "> 0");
      if (quota !== undefined) checkCallerQuota(`${what} quota`, quota);
    }
    const given = typeof caller === "string" ? caller : (caller as Fields)["token"]; // an object
    const own: readonly unknown[] = Array.isArray(given) && given.length > 0 ? given : [given];
    for (const token of own) checkToken(what, token);
    if (own.some((token) => tokens.has(token)))
      throw new ValidationError(`${what} has the token of another caller`);
    for (const token of own) tokens.add(token);
  }
}

function requireCaller(what: string, caller: unknown): void {
  if (isObject(caller)) return;
  throw new ValidationError(
    `${what} must be a token, or an object with a token, got: ${caller === undefined ? "undefined" : typeof caller}`,
    { hint: "Is the environment variable of the token set?" },
  );
}

function checkToken(what: string, token: unknown): void {
  if (typeof token === "string" && token.length >= SHORTEST_TOKEN && !/\s/.test(token)) return;
  throw new ValidationError(
    `${what} token must have at least ${SHORTEST_TOKEN} characters and no white space`,
    { hint: "Generate one, for instance: openssl rand -hex 32" },
  );
}
