/**
 * The Model Context Protocol: tools of MCP servers for agents, and an MCP server that offers tools
 * and tasks.
 */
export { McpError } from "./contracts/state-errors.js";
export { mcpServer } from "./ensemble/serve-mcp.js";
export type { McpServingOptions } from "./ensemble/serve-mcp.js";
export { mcp, mcpTools } from "./plugins/mcp/client/index.js";
export type {
  McpAttachment,
  McpCallOptions,
  McpHttpServer,
  McpOptions,
  McpServerCommon,
  McpServerOptions,
  McpServerState,
  McpStdioServer,
  McpStructuredOutput,
  McpToolProvider,
} from "./plugins/mcp/client/index.js";
export type {
  McpHttpEndpoint,
  McpHttpOptions,
  McpServer,
  McpServingSettings,
  McpTransport,
} from "./plugins/mcp/server/index.js";
