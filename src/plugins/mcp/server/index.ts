import type { McpServer, McpServingSettings, ServerPorts } from "./types.js";
import { offersOf } from "./offers.js";
import { resolveServingSettings } from "./mcp-server-options.js";
import { OfferingServer } from "./server.js";

export { MCP_SERVING_SETTINGS } from "./mcp-server-options.js";
export type {
  McpHttpEndpoint,
  McpHttpOptions,
  McpServer,
  McpServingSettings,
  McpTransport,
  ServerPorts,
} from "./types.js";

/**
 * Creates a server of tools and tasks. The protocol's SDK is loaded when the server starts.
 * @throws ValidationError
 */
export function createMcpServer(settings: McpServingSettings, ports: ServerPorts): McpServer {
  const resolved = resolveServingSettings(settings);
  return new OfferingServer(resolved, offersOf(resolved, ports), ports);
}
