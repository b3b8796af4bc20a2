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

/** How the tools of a server are offered and called. In `mcp()` they may stand beside `servers` too, for all that do not say otherwise. */
export interface McpCallOptions {
  /** Time for one call in milliseconds; beyond it the server is told to stop and the model that it took too long. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Time in milliseconds to reach the server and read its list of tools, further attempts included. Default 30,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Each call waits for a person's yes. Default false. */
  readonly requireApproval?: boolean | undefined;
  /**
   * Whether what the server says of its tools' effects is believed: `read` for one that only reads, `write` for one that keeps to its own world. Else
   * each counts as `send`, which policies treat as the most dangerous. Only for servers you would let write this yourself. Default false.
   */
  readonly trustAnnotations?: boolean | undefined;
  /** What becomes of a tool whose description, schema or annotations are no longer those first seen: each call needs approval, or it is not offered. Default `"approve"`. */
  readonly onToolChange?: "approve" | "refuse" | undefined;
  /** What happens to a task when the server can't be reached: it fails, or it does without these tools and a warning is emitted. Default `"fail"`. */
  readonly onUnavailable?: "fail" | "skip" | undefined;
  /** The text of a result is cut after this many characters. Default 100,000. */
  readonly maxOutputLength?: number | undefined;
  /** A server that sends a larger message is cut off; in bytes. Default 4 MiB. */
  readonly maxMessageBytes?: number | undefined;
}

/** What is common to servers of both kinds. */
export interface McpServerCommon extends McpCallOptions {
  /** What the server is called here: in the names of its tools, in errors and warnings. */
  readonly name: string;
  /** Only these of its tools are offered, by the server's own names. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** What stands before the names of its tools; `""` for nothing. Default: `{name}__`. */
  readonly prefix?: string | undefined;
}

/** A server that is started as a child process and talked to over its standard input and output. */
export interface McpStdioServer extends McpServerCommon {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Beside these the child gets PATH, HOME and the like, and nothing else of this process's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpServer extends McpServerCommon {
  readonly url: string | URL;
  /** Sent with every request, and to no other origin. Their values never show in errors. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One MCP server. */
export type McpServerOptions = McpStdioServer | McpHttpServer;

/** Where a server is. */
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

/** `McpCallOptions` with nothing left open. */
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

/** A server's options, checked, with nothing left open. */
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

/** @throws ValidationError for an option that can't work. */
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

/** Never shows the values: they may be secrets. */
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
  const given = o as Partial<McpStdioServer & McpHttpServer>; // either kind, still unchecked
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
    throw new ValidationError(`${what} url must not hold a user name or a password`, {
      hint: "Send them in headers: { authorization: ... }.",
    });
  }
  requireTextValues(`${what} headers`, headers);
  try {
    new Headers(headers);
  } catch {
    throw new ValidationError(`${what} headers must have names and values that HTTP allows`); // the platform's own message shows the value
  }
  return { kind: "http", url, headers: { ...headers } };
}

/**
 * A server's options with those that all servers share, and the defaults.
 * @throws ValidationError for an unknown option and one that can't work.
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

/** The options, with those of `fallback` where they say nothing. */
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
 * The servers of a plugin, each with the options that all share.
 * @throws ValidationError for an unknown option, one that can't work, and two servers with one name.
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
