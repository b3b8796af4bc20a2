// The plugin's public types. This file imports no package, so programs without the MCP client can read its declarations.
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool, DynamicToolProvider } from "../../../contracts/tool.js";

/** State of a server: not reached yet, in use (a lost connection is made again), or closed until `start`. */
export type McpServerState = "CREATED" | "STARTED" | "CLOSED";

/**
 * The tools of one MCP server, for the `tools` of an agent or a task. The server is reached when they are first needed, shared by all who need
 * them, and reached again when it was lost. Close it when it is no longer needed: nobody else does.
 */
export interface McpToolProvider extends DynamicToolProvider, AsyncDisposable {
  /** What the server is called here. */
  readonly name: string;
  /** `CREATED` until it is first reached, then `STARTED`, also while a lost connection waits to be made again; `CLOSED` after `close()`. */
  readonly state: McpServerState;
  /** Process id of a local server while it runs. */
  readonly pid: number | undefined;
  /** Reaches the server and reads its list of tools; brings a closed one back. @throws McpError and ToolConfigurationError, and leaves the state as it was. */
  start(): Promise<void>;
  /** The tools as they are now. @throws McpError when the server can't be reached (unless `onUnavailable` is `"skip"`), or is closed. */
  resolve(scope?: TaskScope): Promise<readonly AnyTool[]>;
  /** Ends the connection, and the process of a local server with all it has started. Never fails, and may be called often. Tools that are still held fail from now on. */
  close(): Promise<void>;
}

/** Something in an MCP tool's result that is no text for the model: an image, a sound, a resource or a link to one. In `structured` of the result. */
export interface McpAttachment {
  readonly kind: "image" | "audio" | "resource" | "resource_link";
  readonly mimeType?: string | undefined;
  readonly uri?: string | undefined;
  readonly name?: string | undefined;
  /** Base64; absent where it would have been too large to keep. */
  readonly data?: string | undefined;
  readonly text?: string | undefined;
  /** Size of the data. */
  readonly bytes?: number | undefined;
}

/** What `structured` of a tool's result holds where attachments came with it; without any it is the server's structured content itself. */
export interface McpStructuredOutput {
  readonly structuredContent: unknown;
  readonly attachments: readonly McpAttachment[];
}
