// The plugin's public types. This file imports no package, so programs without the MCP client can
// use its declarations.
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool, DynamicToolProvider } from "../../../contracts/tool.js";

/**
 * State of a server: not connected yet, in use (lost connections are reopened), or closed until
 * `start`.
 */
export type McpServerState = "CREATED" | "STARTED" | "CLOSED";

/**
 * The tools of one MCP server, for the `tools` of an agent or a task. Connects on first use, shares
 * the connection, and reconnects after a loss. The caller must close it.
 */
export interface McpToolProvider extends DynamicToolProvider, AsyncDisposable {
  /** Name of the server in this program. */
  readonly name: string;
  /**
   * `CREATED` until the first connection, then `STARTED`, also while a lost connection is not
   * reopened yet. `CLOSED` after `close()`.
   */
  readonly state: McpServerState;
  /** Process id of a local server while it runs. */
  readonly pid: number | undefined;
  /**
   * Connects to the server and reads its tool list. Also reopens a closed provider.
   * @throws McpError and ToolConfigurationError; the state then stays unchanged
   */
  start(): Promise<void>;
  /**
   * Returns the current tools.
   * @throws McpError if the provider is closed, or if the server can't be reached and
   * `onUnavailable` is not `"skip"`
   */
  resolve(scope?: TaskScope): Promise<readonly AnyTool[]>;
  /**
   * Closes the connection and ends the process of a local server with its process group. Never
   * rejects. May be called repeatedly. Later calls of tools that were obtained before then fail.
   */
  close(): Promise<void>;
}

/**
 * A part of an MCP tool's result that is not text: an image, audio, a resource or a resource link.
 * Part of the result's `structured` value.
 */
export interface McpAttachment {
  readonly kind: "image" | "audio" | "resource" | "resource_link";
  readonly mimeType?: string | undefined;
  readonly uri?: string | undefined;
  readonly name?: string | undefined;
  /** Base64. Absent if it is one of the result's `parts`, or too large to keep. */
  readonly data?: string | undefined;
  readonly text?: string | undefined;
  /** Size of the data in bytes. */
  readonly bytes?: number | undefined;
}

/**
 * The `structured` value of a result with attachments. Without attachments it is the server's
 * structured content itself.
 */
export interface McpStructuredOutput {
  readonly structuredContent: unknown;
  readonly attachments: readonly McpAttachment[];
}
