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

/** Makes a server of tools and tasks over the protocol's SDK, which is loaded when it begins to serve. @throws ValidationError */
export function createMcpServer(settings: McpServingSettings, ports: ServerPorts): McpServer {
  const resolved = resolveServingSettings(settings);
  return new OfferingServer(resolved, offersOf(resolved, ports), ports);
}
