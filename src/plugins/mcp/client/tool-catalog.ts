import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import type { AnyTool, ToolContext } from "../../../contracts/tool.js";
import type { DescribedInput } from "../../shared/described-input.js";
import type { McpConnection } from "./mcp-connection.js";
import { createHash } from "node:crypto";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { McpError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview } from "../../../contracts/validation.js";
import { settleWithin } from "../../../util/abort/timeouts.js";
import { excerptJson } from "../../../util/json/excerpt.js";
import { toJsonValue } from "../../../util/json/to-json-value.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { RequestRefused } from "./mcp-session.js";
import { describedInput } from "../../shared/described-input.js";
import { MCP_TEMPLATES } from "./mcp-client-prompts.js";
import { toolNames } from "./tool-names.js";
import { resultOfServer } from "./tool-output.js";

const LONGEST_DESCRIPTION = 8_000;
const LONGEST_SCHEMA = 100_000;
const LONGEST_REMOTE_NAME = 512;

/** A tool of an MCP server. Its description and its results are external text. */
export interface McpTool extends AnyTool {
  readonly input: DescribedInput;
  readonly untrusted: true;
  readonly requireApproval: boolean;
  readonly effect: "read" | "write" | "send";
  /** `again` for a tool that a trusted server declares idempotent. */
  readonly resume: "again" | undefined;
  approvalDescription(input: unknown): string;
}

/**
 * Sorts the fields, so that equal values have equal JSON texts. The message guard has limited the
 * depth of the value.
 */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => [key, canonical(entry)]);
}

/** The parts of a tool that a model or a person relies on, with their names for people. */
const PARTS = [
  ["description", "description"],
  ["inputSchema", "input schema"],
  ["annotations", "annotations"],
] as const;

/** Identifies each of `PARTS` of a tool. */
function fingerprintsOf(tool: RemoteTool): readonly string[] {
  return PARTS.map(([field]) =>
    createHash("sha256")
      .update(JSON.stringify([canonical(tool[field])]))
      .digest("base64"),
  );
}

/**
 * Returns the effect that the server declares, for servers that are trusted. Without a declaration
 * the effect is `send`.
 */
function declaredEffect({ annotations }: RemoteTool): "read" | "write" | "send" {
  if (annotations?.readOnlyHint === true) return "read";
  return annotations?.openWorldHint === false ? "write" : "send";
}

/**
 * Returns the reaction to a call in doubt, by the declaration of the server. Repeating an
 * idempotent tool has no further effect.
 */
function declaredResume({ annotations }: RemoteTool): "again" | undefined {
  return annotations?.idempotentHint === true ? "again" : undefined;
}

/**
 * Returns whether the tool can only be called as a background task of the protocol, which is not
 * supported.
 */
const needsTasks = ({ execution }: RemoteTool): boolean => execution?.taskSupport === "required";

interface Known {
  readonly fingerprint: string;
  readonly tool: McpTool;
}

/**
 * The tools of one server. Requests the list when it may have changed, assigns names, and detects
 * changes of descriptions, schemas and annotations.
 */
export class ToolCatalog {
  readonly #connection: McpConnection;
  readonly #library = new PromptLibrary(MCP_TEMPLATES);
  /** The fingerprints of each tool when it was first read. Kept across reconnections. */
  readonly #firstSeen = new Map<string, readonly string[]>();
  readonly #changed = new Map<string, Set<string>>();
  readonly #known = new Map<string, Known>();
  /** Increases when the list may have changed. */
  #version = 0;
  #list: { readonly version: number; readonly tools: readonly McpTool[] } | undefined;
  #refreshing: Promise<readonly McpTool[]> | undefined;

  constructor(connection: McpConnection) {
    this.#connection = connection;
  }

  /**
   * Marks the list as outdated, so that the next use requests it again. Cheap, because a server may
   * send any number of notifications.
   */
  expire(): void {
    this.#version++;
  }

  /**
   * The server's names of tools that have changed since they were first read, with the names of
   * their changed parts.
   */
  get changed(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#changed;
  }

  /**
   * Returns the offered tools.
   * @throws McpError; ToolConfigurationError for names that don't exist or collide; the signal's
   * reason
   */
  async tools(signal?: AbortSignal): Promise<readonly McpTool[]> {
    await this.#connection.session(signal); // a lost connection has marked the list as outdated
    if (this.#list?.version === this.#version) return this.#list.tools;
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return settleWithin(this.#refreshing, signal);
  }

  async #refresh(): Promise<readonly McpTool[]> {
    const { name } = this.#connection.server;
    // a change that is announced during the request makes the new list outdated again
    const version = this.#version;
    try {
      const remote = await this.#connection.use(new AbortController().signal, (session, signal) =>
        session.listTools(signal),
      );
      const tools = this.#offered(remote);
      this.#list = { version, tools };
      return tools;
    } catch (error) {
      throw error instanceof RequestRefused
        ? new McpError(`MCP server '${name}' does not list its tools: ${error.message}`, name)
        : error;
    }
  }

  #offered(remote: readonly RemoteTool[]): readonly McpTool[] {
    const { server } = this.#connection;
    const wanted = remote.filter((tool) =>
      server.tools === undefined ? !needsTasks(tool) : server.tools.includes(tool.name),
    );
    const missing =
      server.tools?.filter((name) => !remote.some((tool) => tool.name === name)) ?? [];
    if (missing.length > 0) {
      const names = remote.map(({ name }) => name).join(", ");
      throw new ToolConfigurationError(
        `MCP server does not provide tool(s): [${missing.join(", ")}]`,
        {
          hint: `Server '${server.name}' provides: ${preview(names === "" ? "no tool" : names, 1000)}`,
        },
      );
    }
    for (const tool of wanted) this.#check(tool);
    const names = toolNames(
      server.name,
      server.prefix,
      wanted.map(({ name }) => name),
    );
    const tools = wanted.map((tool) => this.#toolOf(tool, names.get(tool.name) ?? tool.name));
    return server.onToolChange === "refuse"
      ? tools.filter((_, index) => !this.#changed.has(wanted[index]?.name ?? ""))
      : tools;
  }

  /** @throws McpError for a tool that is too large for a model */
  #check(tool: RemoteTool): void {
    const { name, inputSchema } = tool;
    const server = this.#connection.server.name;
    if (needsTasks(tool))
      throw new ToolConfigurationError(
        `Tool '${preview(name)}' of MCP server '${server}' works in the background only, which is not supported`,
      );
    const hint = "Leave the tool out: name the others in tools: [...].";
    if (name.trim() === "" || name.length > LONGEST_REMOTE_NAME) {
      throw new McpError(
        `MCP server '${server}' has a tool whose name is blank or longer than ${LONGEST_REMOTE_NAME} characters: ${preview(name)}`,
        server,
        {
          hint,
        },
      );
    }
    const size = JSON.stringify(inputSchema).length;
    if (size <= LONGEST_SCHEMA) return;
    throw new McpError(
      `The input schema of tool '${preview(name)}' of MCP server '${server}' has ${size} characters; at most ${LONGEST_SCHEMA} are taken`,
      server,
      { hint },
    );
  }

  /** Returns the same object as long as the tool is unchanged. */
  #toolOf(remote: RemoteTool, name: string): McpTool {
    const fingerprints = fingerprintsOf(remote);
    const first = this.#firstSeen.get(remote.name);
    if (first === undefined) this.#firstSeen.set(remote.name, fingerprints);
    else this.#noteChanges(remote.name, first, fingerprints);
    const fingerprint = fingerprints.join();
    const known = this.#known.get(remote.name);
    if (known?.fingerprint === fingerprint) return known.tool;
    const tool = this.#make(remote, name);
    this.#known.set(remote.name, { fingerprint, tool });
    return tool;
  }

  #noteChanges(name: string, first: readonly string[], now: readonly string[]): void {
    const parts = this.#changed.get(name) ?? new Set<string>();
    for (const [index, [, part]] of PARTS.entries())
      if (first[index] !== now[index]) parts.add(part);
    if (parts.size > 0) this.#changed.set(name, parts);
  }

  #make(remote: RemoteTool, name: string): McpTool {
    const { server } = this.#connection;
    const changed = this.#changed;
    return Object.freeze({
      name,
      description: preview(remote.description ?? "", LONGEST_DESCRIPTION),
      // The server validates the arguments. A pattern or nested references in an untrusted schema
      // could block this process indefinitely.
      input: describedInput(remote.inputSchema),
      timeoutMs: server.timeoutMs,
      untrusted: true as const,
      effect: server.trustAnnotations ? declaredEffect(remote) : "send",
      resume: server.trustAnnotations ? declaredResume(remote) : undefined,
      /** Checked at every call, because the tool may change while a task uses it. */
      // eslint-disable-next-line no-restricted-syntax -- once per listing of the server
      get requireApproval(): boolean {
        return server.requireApproval || changed.has(remote.name);
      },
      approvalDescription: (input: unknown) =>
        `MCP ${server.name}: ${remote.name}\nArguments: ${excerptJson(toJsonValue(input)).text}`,
      execute: (input: unknown, ctx: ToolContext) => this.#call(remote.name, input, ctx),
    });
  }

  async #call(
    remoteName: string,
    input: unknown,
    { signal, scope }: ToolContext,
  ): Promise<ToolResult> {
    const { server } = this.#connection;
    if (this.#connection.state === "CLOSED") return ToolResult.failure("MCP server is not running");
    if (server.onToolChange === "refuse" && this.#changed.has(remoteName)) {
      return ToolResult.failure(
        `Tool '${remoteName}' of MCP server '${server.name}' has changed since it was read, and is not called`,
      );
    }
    const args =
      typeof input === "object" && input !== null
        ? (input as Readonly<Record<string, unknown>>)
        : {}; // the gateway accepts objects only
    try {
      const result = await this.#connection.use(signal, (session, limit) =>
        session.call(remoteName, args, limit),
      );
      const told = resultOfServer(
        result,
        server.maxOutputLength,
        this.#library.textsOf(scope.all(Tokens.PromptTemplates), scope.run),
      );
      return told.ok
        ? told
        : ToolResult.failure(
            this.#connection.redact(told.errorMessage ?? "", Number.POSITIVE_INFINITY),
          );
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      return ToolResult.failure(error.message);
    }
  }
}
