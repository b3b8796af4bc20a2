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
import { isObject } from "../../util/objects.js";

const HTTP_ONLY = ["host", "callers", "authenticate", "allowedHosts", "publicUrl", "card"] as const;
const SHORTEST_TOKEN = 16;

/** @throws ValidationError for options of the listener that are invalid, or have no effect. */
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
  checkHosts(host, allowedHosts);
  checkPublicUrl(publicUrl);
  requireOneOf("start() card", o.card, ["public", "private"]);
  if (
    host !== undefined &&
    !isLoopbackHost(bareHost(host)) &&
    (callers ?? authenticate) === undefined
  )
    throw new ValidationError(`start() host ${preview(host)} is reachable for other machines`, {
      hint: "Set callers, or authenticate, so that not everybody may send requests.",
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
}

function checkCallers(callers: unknown): void {
  if (callers === undefined) return;
  if (!isObject(callers))
    throw new ValidationError(
      `start() callers must be an object of names, got: ${preview(callers)}`,
    );
  const tokens = new Set<unknown>();
  for (const [name, caller] of Object.entries(callers)) {
    const what = `start() callers.${name}`;
    if (typeof caller !== "string") {
      checkOptions(what, caller, ["token", "may", "maxQueued"]);
      const { may, maxQueued } = caller as { readonly may?: unknown; readonly maxQueued?: unknown };
      requireArray(`${what} may`, may);
      requireInteger(`${what} maxQueued`, maxQueued, 1, "> 0");
    }
    const token = typeof caller === "string" ? caller : (caller as { token?: unknown }).token; // an object
    if (typeof token !== "string" || token.length < SHORTEST_TOKEN || /\s/.test(token))
      throw new ValidationError(
        `${what} token must have at least ${SHORTEST_TOKEN} characters and no white space`,
        { hint: "Generate one, for instance: openssl rand -hex 32" },
      );
    if (tokens.has(token)) throw new ValidationError(`${what} has the token of another caller`);
    tokens.add(token);
  }
}
