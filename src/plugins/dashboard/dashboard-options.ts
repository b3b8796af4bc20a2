import type { Authenticate, PrincipalRole } from "../../contracts/http-route.js";
import type { AuditEntry, RunStore } from "../../contracts/run-store.js";
import type { AlertOptions } from "./alerts.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireBoolean,
  requireFunction,
  requireInteger,
  requireOneOf,
  requireText,
} from "../../contracts/validation.js";
import { checkAlerts } from "./alerts.js";
import { checkReportTarget, type ReportTarget } from "./reporting/report-target.js";
import { isObject } from "../../util/objects.js";
import {
  bareHost,
  hostNamesOf,
  isLoopbackHost,
  isWildcardHost,
  LOOPBACK_NAMES,
  originsOf,
  requirePort,
  urlHostOf,
} from "../shared/http/listening-names.js";

/**
 * The permissions of a user. `viewer`: reads everything. `reviewer`: also answers reviews.
 * `operator`: also starts, cancels and removes runs. `reporter`: a process that may only report its
 * runs.
 */
export type DashboardRole = Exclude<PrincipalRole, "caller">;

/** A person who may use the dashboard, or a process that reports to it. */
export interface DashboardUser {
  readonly name: string;
  readonly role: DashboardRole;
  /**
   * Values of `requiredRole` whose reviews the user may answer. `"*"` stands for all. Default:
   * none.
   */
  readonly reviewRoles?: readonly string[] | undefined;
  /** The token with which the user signs in. */
  readonly token: string;
}

/** Options of `dashboard`. */
export interface DashboardOptions {
  /**
   * The port. 0 selects a free port. With `false`, the dashboard does not listen. See
   * `Dashboard.handler`. Default 7329.
   */
  readonly port?: number | false | undefined;
  /**
   * The address to listen on. An address that other machines can reach requires `token`, `users` or
   * `authenticate`. Default `127.0.0.1`.
   */
  readonly host?: string | undefined;
  /**
   * The token of a single user with the role operator. `true` creates a token at each start and
   * prints the link that contains it on standard error. Default: none, so that every user of this
   * machine is an operator.
   */
  readonly token?: string | true | undefined;
  /** Several users, each with a token. Not allowed together with `token`. */
  readonly users?: readonly DashboardUser[] | undefined;
  /**
   * Returns the principal of a request, determined from the headers. If it returns `undefined` or
   * fails, the request is refused. Not allowed together with `token` and `users`.
   */
  readonly authenticate?: Authenticate | undefined;
  /**
   * The public URL of the dashboard behind a proxy. Its host and origin are allowed, and its path
   * becomes the prefix of all paths. Default: none.
   */
  readonly publicUrl?: string | undefined;
  /**
   * Further host names that are accepted in the Host header, without port. Required for the hosts
   * `0.0.0.0` and `::`. Default: none.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins of other pages that may use the API and the socket, for instance
   * `http://localhost:7328`. Default: none.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Another dashboard to which this process reports its runs, and which may answer their reviews.
   * Default: none.
   */
  readonly reportTo?: ReportTarget | undefined;
  /** A store of runs, in addition to the last 100 runs in memory. Default: none. */
  readonly store?: RunStore | undefined;
  /**
   * Whether contents leave the process. If `false`, clients receive names, structure, times, tokens
   * and cost, but no prompts, responses, arguments and results. Default true.
   */
  readonly contents?: boolean | undefined;
  /**
   * When models are streamed for the page. `"watched"` (default): while a person views the task.
   * `true`: always. `false`: never.
   */
  readonly tokens?: "watched" | boolean | undefined;
  /**
   * Limit of the number of concurrent runs started from the page. Further starts are refused.
   * Default 5.
   */
  readonly maxConcurrentRuns?: number | undefined;
  /**
   * Whether the listener keeps the process alive. Default false: only an open page keeps it alive.
   */
  readonly keepAlive?: boolean | undefined;
  /**
   * Webhooks that receive a signed message when a run fails, exceeds its budget or waits for a
   * review. Default: none.
   */
  readonly alerts?: readonly AlertOptions[] | undefined;
  /** Called with each audit entry. If it throws, a process warning is emitted. Default: none. */
  readonly onAudit?: ((entry: AuditEntry) => unknown) | undefined;
}

/** The checked options with defaults. */
export interface DashboardSettings extends Pick<
  DashboardOptions,
  "token" | "authenticate" | "store" | "onAudit" | "reportTo"
> {
  readonly port: number | false;
  /** Whether the options set the port. */
  readonly hasPort: boolean;
  readonly host: string;
  /** Whether the options set the host. */
  readonly hasHost: boolean;
  readonly users: readonly DashboardUser[] | undefined;
  /** The public URL without a trailing slash. */
  readonly publicUrl: string | undefined;
  /** The path of `publicUrl` without a trailing slash. Empty if there is none. */
  readonly basePath: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: ReadonlySet<string>;
  readonly contents: boolean;
  readonly tokens: "watched" | boolean;
  readonly keepAlive: boolean;
  readonly maxConcurrentRuns: number;
  readonly alerts: readonly AlertOptions[];
}

const OPTIONS: readonly (keyof DashboardOptions)[] = [
  "port",
  "host",
  "token",
  "users",
  "authenticate",
  "publicUrl",
  "allowedHosts",
  "allowedOrigins",
  "reportTo",
  "store",
  "contents",
  "tokens",
  "keepAlive",
  "maxConcurrentRuns",
  "alerts",
  "onAudit",
];
const ROLES: readonly DashboardRole[] = ["viewer", "reviewer", "operator", "reporter"];
const STORE_METHODS = ["append", "put", "list", "get", "read", "remove"] as const;
const DEFAULT_PORT = 7329;

/**
 * @throws ValidationError for an invalid option, and for options that allow unauthenticated access.
 */
export function resolveDashboardOptions(o: DashboardOptions): DashboardSettings {
  checkOptions("dashboard", o, OPTIONS);
  const given = o.host ?? "127.0.0.1";
  requireText(given, `dashboard host must not be blank, got: ${preview(given)}`);
  checkFields(o);
  const host = bareHost(given);
  const publicUrl = publicUrlOf(o.publicUrl);
  requireAccess(o, host, publicUrl);
  return {
    port: o.port ?? DEFAULT_PORT,
    hasPort: o.port !== undefined,
    host,
    hasHost: o.host !== undefined,
    token: o.token,
    users: o.users?.map((user) => ({ ...user })),
    authenticate: o.authenticate,
    publicUrl: publicUrl?.href.replace(/\/$/, ""),
    basePath: publicUrl?.pathname.replace(/\/$/, "") ?? "",
    allowedHosts: allowedHostsOf(o, host, publicUrl),
    allowedOrigins: new Set([
      ...originsOf("dashboard", o.allowedOrigins),
      ...(publicUrl === undefined ? [] : [publicUrl.origin]),
    ]),
    store: o.store,
    reportTo: o.reportTo && { ...o.reportTo },
    contents: o.contents ?? true,
    tokens: o.tokens ?? "watched",
    keepAlive: o.keepAlive ?? false,
    maxConcurrentRuns: o.maxConcurrentRuns ?? 5,
    alerts: o.alerts?.map((alert) => ({ ...alert })) ?? [],
    onAudit: o.onAudit,
  };
}

function checkFields(o: DashboardOptions): void {
  if (o.port !== false) requirePort("dashboard port", o.port);
  requireBoolean("dashboard contents", o.contents);
  requireBoolean("dashboard keepAlive", o.keepAlive);
  if (typeof o.tokens !== "boolean") requireOneOf("dashboard tokens", o.tokens, ["watched"]);
  checkAlerts(o.alerts);
  checkReportTarget(o.reportTo);
  requireInteger("dashboard maxConcurrentRuns", o.maxConcurrentRuns, 1);
  requireFunction("dashboard onAudit", o.onAudit);
  checkStore(o.store);
  checkAccess(o);
}

function checkStore(store: unknown): void {
  if (store === undefined) return;
  const missing = STORE_METHODS.find(
    (method) => !isObject(store) || typeof store[method] !== "function",
  );
  if (missing !== undefined)
    throw new ValidationError(`dashboard store must be a run store, got: ${preview(store)}`, {
      hint: `It has no ${missing}(). Make one with RunStore.inMemory().`,
    });
}

function checkAccess(o: DashboardOptions): void {
  const ways = (["token", "users", "authenticate"] as const).filter((way) => o[way] !== undefined);
  if (ways.length > 1)
    throw new ValidationError(`dashboard takes one of ${ways.join(" and ")}, not both`);
  requireFunction("dashboard authenticate", o.authenticate);
  if (o.token !== undefined && o.token !== true)
    requireText(o.token, "dashboard token must be a text that is not blank, or true");
  requireArray("dashboard users", o.users);
  if (o.users?.length === 0) throw new ValidationError("dashboard users must not be empty");
  o.users?.forEach((user, i) => checkUser(`dashboard users[${i}]`, user));
  for (const field of ["name", "token"] as const) {
    const values = o.users?.map((user) => user[field]) ?? [];
    const twice = values.findIndex((value, i) => values.indexOf(value) !== i);
    if (twice >= 0)
      throw new ValidationError(`dashboard users[${twice}] has the ${field} of another user`);
  }
}

function checkUser(what: string, user: DashboardUser): void {
  checkOptions(what, user, ["name", "role", "reviewRoles", "token"]);
  requireText(user.name, `${what} name must not be blank, got: ${preview(user.name)}`);
  requireText(user.token, `${what} token must be a text that is not blank`);
  if (!ROLES.includes(user.role)) requireOneOf(`${what} role`, user.role ?? null, ROLES);
  requireArray(`${what} reviewRoles`, user.reviewRoles);
  user.reviewRoles?.forEach((role: unknown, i) =>
    requireText(role, `${what} reviewRoles[${i}] must not be blank, got: ${preview(role)}`),
  );
}

function publicUrlOf(given: string | undefined): URL | undefined {
  if (given === undefined) return undefined;
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new ValidationError(
      `dashboard publicUrl must be an address like https://example.com/board, got: ${preview(given)}`,
    );
  return url;
}

/** @throws ValidationError if other machines would have access without authentication. */
function requireAccess(o: DashboardOptions, host: string, publicUrl: URL | undefined): void {
  if (o.token !== undefined || o.users !== undefined || o.authenticate !== undefined) return;
  const hint = "Set `token` (on the command line --token), `users` or `authenticate`.";
  if (!isLoopbackHost(host))
    throw new ValidationError(
      `dashboard needs access control to listen on ${host}: other machines can reach it`,
      { hint: `${hint} Or leave \`host\` out.` },
    );
  if (publicUrl !== undefined && !isLoopbackHost(bareHost(publicUrl.hostname)))
    throw new ValidationError(
      `dashboard needs access control with publicUrl ${publicUrl.href}: other machines can reach it`,
      { hint },
    );
}

function allowedHostsOf(
  o: DashboardOptions,
  host: string,
  publicUrl: URL | undefined,
): readonly string[] {
  const names = hostNamesOf("dashboard", o.allowedHosts) ?? [];
  if (isWildcardHost(host) && o.port !== false && names.length === 0 && publicUrl === undefined)
    throw new ValidationError(
      `dashboard needs allowedHosts to listen on ${host}: the names under which people ask for it`,
      {
        hint: 'Name them: `allowedHosts: ["board.example"]`, on the command line --allowed-host board.example.',
      },
    );
  const own = isWildcardHost(host) ? [] : [urlHostOf(host).toLowerCase()];
  return [
    ...LOOPBACK_NAMES,
    ...own,
    ...(publicUrl === undefined ? [] : [publicUrl.hostname]),
    ...names,
  ];
}
