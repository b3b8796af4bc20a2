import type { Plugin } from "../../../contracts/plugin.js";
import type { McpCallOptions, McpServerOptions } from "./mcp-client-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { McpServerTools } from "./mcp-tools.js";
import { resolveServers } from "./mcp-client-options.js";
import { secretFilterOf } from "./server-secrets.js";
import { MCP_TEMPLATES } from "./mcp-client-prompts.js";

export { mcpTools } from "./mcp-tools.js";
export type {
  McpCallOptions,
  McpHttpServer,
  McpServerCommon,
  McpServerOptions,
  McpStdioServer,
} from "./mcp-client-options.js";
export type {
  McpAttachment,
  McpServerState,
  McpStructuredOutput,
  McpToolProvider,
} from "./mcp-types.js";

/** Options of `mcp()`: the servers, and defaults for options that a server does not set. */
export interface McpOptions extends McpCallOptions {
  readonly servers: readonly McpServerOptions[];
}

/**
 * Offers the tools of MCP servers to every agent of the kernel. A server is connected when a task
 * first needs its tools. All ensembles of the kernel share the connection, which closes with the
 * kernel.
 *
 * @throws ValidationError for an unknown option, an invalid value, and two servers with the same
 * name.
 */
export function mcp(options: McpOptions): Plugin {
  const resolved = resolveServers(options);
  const servers = resolved.map((server) => new McpServerTools(server));
  let kernels = 0;
  return definePlugin({
    name: "mcp",
    bind(bind) {
      for (const server of servers) bind.many(Tokens.Tool).toConstantValue(server);
      for (const { endpoint } of resolved)
        bind.many(Tokens.SecretFilter).toConstantValue(secretFilterOf(endpoint));
      bind.many(Tokens.PromptTemplates).toConstantValue(MCP_TEMPLATES);
      kernels++;
    },
    start: async () => void (await Promise.all(servers.map((server) => server.reconnect()))),
    async dispose() {
      if (--kernels === 0) await Promise.all(servers.map((server) => server.close()));
    },
  });
}
