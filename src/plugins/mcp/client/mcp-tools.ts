import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { McpServerState, McpToolProvider } from "./mcp-types.js";
import type { McpServerOptions, ResolvedServer } from "./mcp-client-options.js";
import { McpError } from "../../../contracts/state-errors.js";
import { McpConnection } from "./mcp-connection.js";
import { resolveServer } from "./mcp-client-options.js";
import { ToolCatalog } from "./tool-catalog.js";

const NONE: readonly AnyTool[] = Object.freeze([]);

/** The provider behind `mcpTools` and `mcp`. */
export class McpServerTools implements McpToolProvider {
  readonly #server: ResolvedServer;
  readonly #connection: McpConnection;
  readonly #catalog: ToolCatalog;
  /** Warnings that each run has received, so that every run gets each one once. */
  readonly #warned = new WeakMap<object, Set<string>>();

  constructor(server: ResolvedServer) {
    this.#server = server;
    this.#connection = new McpConnection(server, () => this.#catalog.expire());
    this.#catalog = new ToolCatalog(this.#connection);
  }

  get name(): string {
    return this.#server.name;
  }

  get state(): McpServerState {
    return this.#connection.state;
  }

  get pid(): number | undefined {
    return this.#connection.pid;
  }

  async start(): Promise<void> {
    const wasClosed = this.state === "CLOSED";
    await this.#connection.reconnect();
    try {
      await this.#catalog.tools();
    } catch (error) {
      if (wasClosed) await this.#connection.close();
      throw error;
    }
  }

  async resolve(scope?: TaskScope): Promise<readonly AnyTool[]> {
    try {
      const tools = await this.#catalog.tools(scope?.signal);
      this.#warnOfChanges(scope);
      return tools;
    } catch (error) {
      if (
        this.#server.onUnavailable !== "skip" ||
        !McpError.isInstance(error) ||
        scope?.signal.aborted === true
      )
        throw error;
      this.#warn(
        scope,
        "unavailable",
        `The tools of MCP server '${this.name}' are left out: ${error.message}`,
      );
      return NONE;
    }
  }

  /** Allows connecting again after `close`, without connecting yet. */
  reconnect(): Promise<void> {
    return this.#connection.reconnect();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #warnOfChanges(scope: TaskScope | undefined): void {
    const consequence =
      this.#server.onToolChange === "refuse"
        ? "it is not offered any more"
        : "each call needs approval now";
    for (const [tool, changed] of this.#catalog.changed) {
      const parts = [...changed].join(", ");
      this.#warn(
        scope,
        `${tool} ${parts}`,
        `Tool '${tool}' of MCP server '${this.name}' has changed since it was first read (${parts}): ${consequence}`,
      );
    }
  }

  #warn(scope: TaskScope | undefined, subject: string, message: string): void {
    if (scope === undefined) return;
    const warned = this.#warned.get(scope.run) ?? new Set();
    if (warned.has(subject)) return;
    this.#warned.set(scope.run, warned.add(subject));
    scope.emit({ type: "run_warning", message });
  }
}

/**
 * Returns the tools of an MCP server for single agents or tasks. Put the result into their `tools`.
 *
 * @example await using files = mcpTools({
 *   name: "files",
 *   command: "node",
 *   args: ["server.js", "./data"],
 *   tools: ["read_text_file"],
 * });
 * @throws ValidationError for an unknown option or an invalid value
 */
export function mcpTools(options: McpServerOptions): McpToolProvider {
  return new McpServerTools(resolveServer("mcpTools()", options));
}
