import type { McpHttpOptions, McpServingSettings } from "./types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Task } from "../../../contracts/task.js";
import { checkTools, isTool } from "../../../contracts/tool.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
  requireFunction,
  requireInstance,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import {
  bareHost,
  hostNamesOf,
  isLoopbackHost,
  isWildcardHost,
  LOOPBACK_NAMES,
  originsOf,
  urlHostOf,
} from "../../shared/http/listening-names.js";

/** The names of the options in `McpServingSettings`. */
export const MCP_SERVING_SETTINGS = [
  ...["name", "version", "instructions", "tools", "tasks"],
  ...["maxConcurrentCalls", "maxWaitingCalls", "callTimeoutMs", "maxMessageBytes", "onError"],
] as const;

/** The options with defaults. */
export type ResolvedSettings = {
  readonly [K in Exclude<keyof McpServingSettings, "onError" | "instructions">]-?: NonNullable<
    McpServingSettings[K]
  >;
} & Pick<McpServingSettings, "instructions" | "onError">;

/** @throws ValidationError for an invalid option. */
export function resolveServingSettings(o: McpServingSettings): ResolvedSettings {
  const { name = "agentensemble", version = "1.0.0", tools = [], tasks = [] } = o;
  requireText(name, `mcpServer name must not be blank, got: ${preview(name)}`);
  requireText(version, `mcpServer version must not be blank, got: ${preview(version)}`);
  if (o.instructions !== undefined)
    requireText(o.instructions, "mcpServer instructions must not be blank when set");
  requireArray("mcpServer tools", tools);
  requireArray("mcpServer tasks", tasks);
  checkTools("mcpServer tool", tools);
  tools.forEach((tool, i) => {
    if (!isTool(tool))
      throw new ValidationError(`mcpServer tools[${i}] must be a tool, not a provider of tools`);
  });
  tasks.forEach((task: unknown, i) => {
    requireInstance(`mcpServer tasks[${i}]`, task, { type: Task, name: "Task" });
  });
  if (tools.length + tasks.length === 0)
    throw new ValidationError("mcpServer has nothing to offer", {
      hint: "Give it `tools`, `tasks` or both.",
    });
  requireInteger("mcpServer maxConcurrentCalls", o.maxConcurrentCalls, 1);
  requireInteger("mcpServer maxWaitingCalls", o.maxWaitingCalls, 0);
  requireDuration("mcpServer callTimeoutMs", o.callTimeoutMs);
  requireInteger("mcpServer maxMessageBytes", o.maxMessageBytes, 1);
  requireFunction("mcpServer onError", o.onError);
  const {
    maxConcurrentCalls = 10,
    maxWaitingCalls = 100,
    callTimeoutMs = 600_000,
    maxMessageBytes = 4 * 1024 * 1024,
  } = o;
  const { instructions, onError } = o;
  return {
    name,
    version,
    tools: [...tools],
    tasks: [...tasks],
    maxConcurrentCalls,
    maxWaitingCalls,
    callTimeoutMs,
    maxMessageBytes,
    instructions,
    onError,
  };
}

const HTTP_OPTIONS = [
  "port",
  "host",
  "path",
  "token",
  "allowedOrigins",
  "allowedHosts",
  "maxSessions",
  "sessionIdleMs",
];

/** Options of an endpoint with defaults. */
export interface ResolvedHttpOptions {
  readonly port: number;
  /** The host in the form of a URL: IPv6 addresses are in brackets. */
  readonly urlHost: string;
  readonly host: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly allowedHosts: readonly string[];
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
}

/**
 * @throws ValidationError for invalid options, and for options that would allow access without
 * authentication.
 */
export function resolveHttpOptions(o: McpHttpOptions): ResolvedHttpOptions {
  checkOptions("http()", o, HTTP_OPTIONS);
  const { port = 0, host: given = "127.0.0.1", path = "/mcp", token } = o;
  requireInteger("http() port", port, 0);
  if (port > 65_535) throw new ValidationError(`http() port must be at most 65535, got: ${port}`);
  requireText(given, `http() host must not be blank, got: ${preview(given)}`);
  if (typeof path !== "string" || !/^\/[^?#\s]*$/.test(path))
    throw new ValidationError(
      `http() path must begin with '/' and be a path only, got: ${preview(path)}`,
    );
  if (token !== undefined) requireText(token, "http() token must not be blank when set");
  requireInteger("http() maxSessions", o.maxSessions, 1);
  requireDuration("http() sessionIdleMs", o.sessionIdleMs);
  const host = bareHost(given);
  if (token === undefined && !isLoopbackHost(host)) {
    throw new ValidationError(
      `http() needs a token to listen on ${host}: other machines can reach it`,
      { hint: "Set `token`, or leave `host` out." },
    );
  }
  const urlHost = urlHostOf(host);
  const allowedHosts = hostsOf(o.allowedHosts, host, urlHost);
  const { maxSessions = 100, sessionIdleMs = 1_800_000 } = o;
  return {
    port,
    host,
    urlHost,
    path,
    token,
    allowedOrigins: originsOf("http()", o.allowedOrigins),
    allowedHosts,
    maxSessions,
    sessionIdleMs,
  };
}

function hostsOf(
  given: readonly string[] | undefined,
  host: string,
  urlHost: string,
): readonly string[] {
  const names = hostNamesOf("http()", given);
  if (names !== undefined) return names;
  if (isWildcardHost(host)) {
    throw new ValidationError(
      `http() needs allowedHosts to listen on ${host}: the names under which clients ask for the server`,
    );
  }
  return [...LOOPBACK_NAMES, urlHost.toLowerCase()];
}
