import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  requireOneOf,
  preview,
  requireArray,
  requireBoolean,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";

/**
 * Options for offering and calling the tools of a server. `mcp()` accepts the same options next to
 * `servers`, as defaults for all servers.
 */
export interface McpCallOptions {
  /**
   * Time limit of one call in milliseconds. After the limit, the call is cancelled on the server,
   * and the model receives an error. Default 60,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Time limit in milliseconds for connecting, including repeated attempts. The same limit applies
   * to each request for the list of tools. Default 30,000.
   */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether each call needs a person's approval. Default false. */
  readonly requireApproval?: boolean | undefined;
  /**
   * Whether to trust the server's annotations about the effects of its tools: `read` for a tool
   * that only reads, `write` for a tool limited to a closed world. Otherwise, each tool counts as
   * `send`, which policies treat as the most dangerous effect. Set it only for servers that you
   * trust as much as your own program. Default false.
   */
  readonly trustAnnotations?: boolean | undefined;
  /**
   * What happens to a tool whose description, schema or annotations have changed since they were
   * first read. `"approve"` (default): each call needs approval. `"refuse"`: the tool is not
   * offered.
   */
  readonly onToolChange?: "approve" | "refuse" | undefined;
  /**
   * What happens to a task if the server can't be reached. `"fail"` (default): the task fails.
   * `"skip"`: the task runs without these tools, and a warning is emitted.
   */
  readonly onUnavailable?: "fail" | "skip" | undefined;
  /** Limit of the text of a result, in characters. Longer text is cut. Default 100,000. */
  readonly maxOutputLength?: number | undefined;
  /**
   * Limit of the size of a message of the server, in bytes. A larger message ends the connection.
   * Default 4 MiB.
   */
  readonly maxMessageBytes?: number | undefined;
}

/** Options common to both kinds of servers. */
export interface McpServerCommon extends McpCallOptions {
  /** Name of the server in tool names, errors and warnings. */
  readonly name: string;
  /** The tools to offer, by the server's names. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** Prefix of the tool names. `""` means no prefix. Default: `{name}__`. */
  readonly prefix?: string | undefined;
}

/** A server that runs as a child process and communicates over its standard input and output. */
export interface McpStdioServer extends McpServerCommon {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * Environment variables of the child process, in addition to PATH, HOME and similar variables.
   * The child inherits no other variables of this process. Default: none.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpServer extends McpServerCommon {
  readonly url: string | URL;
  /**
   * Headers of every request to the server's origin. They are never sent to another origin, and
   * errors never contain their values. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One MCP server. */
export type McpServerOptions = McpStdioServer | McpHttpServer;

/** The location of a server. */
export type McpEndpoint =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
    }
  | {
      readonly kind: "http";
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
    };

/** `McpCallOptions` with all values set. */
interface CallSettings {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly requireApproval: boolean;
  readonly trustAnnotations: boolean;
  readonly onToolChange: "approve" | "refuse";
  readonly onUnavailable: "fail" | "skip";
  readonly maxOutputLength: number;
  readonly maxMessageBytes: number;
}

/** A server's validated options with all values set. */
export interface ResolvedServer extends CallSettings {
  readonly name: string;
  readonly endpoint: McpEndpoint;
  readonly tools: readonly string[] | undefined;
  readonly prefix: string;
}

const DEFAULTS: CallSettings = Object.freeze({
  timeoutMs: 60_000,
  connectTimeoutMs: 30_000,
  requireApproval: false,
  trustAnnotations: false,
  onToolChange: "approve",
  onUnavailable: "fail",
  maxOutputLength: 100_000,
  maxMessageBytes: 4 * 1024 * 1024,
});

/** Names of the options that all servers of a plugin may share. */
export const CALL_FIELDS: readonly (keyof McpCallOptions)[] = Object.freeze([
  "timeoutMs",
  "connectTimeoutMs",
  "requireApproval",
  "trustAnnotations",
  "onToolChange",
  "onUnavailable",
  "maxOutputLength",
  "maxMessageBytes",
]);
/** Names of the options that servers of both kinds have. */
export const COMMON_FIELDS: readonly string[] = ["name", "tools", "prefix", ...CALL_FIELDS];
const STDIO_FIELDS = ["command", "args", "env", "cwd"];
const HTTP_FIELDS = ["url", "headers"];

/** @throws ValidationError for an invalid value */
function checkCallOptions(what: string, o: McpCallOptions): void {
  requireDuration(`${what} timeoutMs`, o.timeoutMs);
  requireDuration(`${what} connectTimeoutMs`, o.connectTimeoutMs);
  requireBoolean(`${what} requireApproval`, o.requireApproval);
  requireBoolean(`${what} trustAnnotations`, o.trustAnnotations);
  requireOneOf(`${what} onToolChange`, o.onToolChange, ["approve", "refuse"]);
  requireOneOf(`${what} onUnavailable`, o.onUnavailable, ["fail", "skip"]);
  requireInteger(`${what} maxOutputLength`, o.maxOutputLength, 1);
  requireInteger(`${what} maxMessageBytes`, o.maxMessageBytes, 1024);
}

function requireTexts(what: string, value: readonly unknown[] | undefined): void {
  requireArray(what, value);
  value?.forEach((entry, index) => {
    if (typeof entry !== "string")
      throw new ValidationError(
        `${what} at index ${index} must be a string, got: ${preview(entry)}`,
      );
  });
}

/** Omits the values from the message, because they may be secrets. */
function requireTextValues(what: string, value: unknown): void {
  if (value === undefined) return;
  if (!isObject(value))
    throw new ValidationError(`${what} must be an object, got: ${typeof value}`);
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string")
      throw new ValidationError(`${what} '${name}' must be a string, got: ${typeof text}`);
    if (text.includes("\0"))
      throw new ValidationError(`${what} '${name}' must not contain a null character`);
  }
}

function endpointOf(what: string, o: McpServerOptions): McpEndpoint {
  const given = o as Partial<McpStdioServer & McpHttpServer>; // either kind, not validated yet
  if ((given.command === undefined) === (given.url === undefined)) {
    throw new ValidationError(`${what} must have either a command or a url`, {
      hint: 'A local server is { name, command: "npx", args: [...] }, a remote one { name, url: "https://..." }.',
    });
  }
  const alien = given.url === undefined ? HTTP_FIELDS : STDIO_FIELDS;
  for (const field of alien) {
    if (Object.hasOwn(given, field) && given[field as keyof typeof given] !== undefined) {
      throw new ValidationError(
        `${what} has a ${given.url === undefined ? "command" : "url"}, so it can't have '${field}'`,
      );
    }
  }
  return given.url === undefined
    ? stdioEndpoint(what, given)
    : httpEndpoint(what, given.url, given.headers);
}

function stdioEndpoint(what: string, o: Partial<McpStdioServer>): McpEndpoint {
  requireText(o.command, `${what} command must be a non-blank text, got: ${preview(o.command)}`);
  requireTexts(`${what} args`, o.args);
  requireTextValues(`${what} env`, o.env);
  if (o.cwd !== undefined)
    requireText(o.cwd, `${what} cwd must be a non-blank text, got: ${preview(o.cwd)}`);
  return {
    kind: "stdio",
    command: o.command ?? "",
    args: [...(o.args ?? [])],
    env: { ...o.env },
    cwd: o.cwd,
  };
}

function httpEndpoint(
  what: string,
  given: string | URL,
  headers: Readonly<Record<string, string>> | undefined,
): McpEndpoint {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    throw new ValidationError(`${what} url must be an http or https address`);
  if (url.username !== "" || url.password !== "") {
    throw new ValidationError(`${what} url must not contain a user name or a password`, {
      hint: "Send them in headers: { authorization: ... }.",
    });
  }
  requireTextValues(`${what} headers`, headers);
  try {
    new Headers(headers);
  } catch {
    // The platform's message contains the value.
    throw new ValidationError(`${what} headers must have names and values that HTTP allows`);
  }
  return { kind: "http", url, headers: { ...headers } };
}

/**
 * Merges a server's options with the shared options and the defaults.
 *
 * @throws ValidationError for an unknown option or an invalid value.
 */
export function resolveServer(
  what: string,
  o: McpServerOptions,
  shared: McpCallOptions = {},
): ResolvedServer {
  checkOptions(what, o, [...COMMON_FIELDS, ...STDIO_FIELDS, ...HTTP_FIELDS]);
  requireText(o.name, `${what} name must be a non-blank text, got: ${preview(o.name)}`);
  const named = `MCP server '${preview(o.name)}'`;
  const endpoint = endpointOf(named, o);
  requireTexts(`${named} tools`, o.tools);
  if (o.prefix !== undefined && typeof o.prefix !== "string")
    throw new ValidationError(`${named} prefix must be a string, got: ${preview(o.prefix)}`);
  checkCallOptions(named, o);
  return Object.freeze({
    name: o.name,
    endpoint,
    tools: o.tools === undefined ? undefined : [...new Set(o.tools)],
    prefix: o.prefix ?? `${o.name}__`,
    ...completed(o, completed(shared, DEFAULTS)),
  });
}

/** Returns the options. Missing values are taken from `fallback`. */
function completed(o: McpCallOptions, fallback: CallSettings): CallSettings {
  return {
    timeoutMs: o.timeoutMs ?? fallback.timeoutMs,
    connectTimeoutMs: o.connectTimeoutMs ?? fallback.connectTimeoutMs,
    requireApproval: o.requireApproval ?? fallback.requireApproval,
    trustAnnotations: o.trustAnnotations ?? fallback.trustAnnotations,
    onToolChange: o.onToolChange ?? fallback.onToolChange,
    onUnavailable: o.onUnavailable ?? fallback.onUnavailable,
    maxOutputLength: o.maxOutputLength ?? fallback.maxOutputLength,
    maxMessageBytes: o.maxMessageBytes ?? fallback.maxMessageBytes,
  };
}

/**
 * Returns the servers of a plugin, each merged with the shared options.
 *
 * @throws ValidationError for an unknown option, an invalid value, or two servers with the same
 * name.
 */
export function resolveServers(
  options: McpCallOptions & { readonly servers: readonly McpServerOptions[] },
): readonly ResolvedServer[] {
  checkOptions("mcp()", options, ["servers", ...CALL_FIELDS]);
  checkCallOptions("mcp()", options);
  if (!Array.isArray(options.servers) || options.servers.length === 0) {
    throw new ValidationError(
      `mcp() servers must be a list of at least one server, got: ${typeof options.servers}`,
      {
        hint: 'For instance mcp({ servers: [{ name: "files", command: "node", args: ["server.js"] }] }).',
      },
    );
  }
  const names = new Set<string>();
  return options.servers.map((given: McpServerOptions, index) => {
    const server = resolveServer(`mcp() server at index ${index}`, given, options);
    if (names.has(server.name))
      throw new ValidationError(
        `Two MCP servers are named '${server.name}'. Names of servers must be unique.`,
      );
    names.add(server.name);
    return server;
  });
}
