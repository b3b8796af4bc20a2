import type {
  CallToolRequest,
  CallToolResult,
  Server,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import type { CallDispatcher } from "./call-dispatcher.js";
import type { ResolvedSettings } from "./mcp-server-options.js";
import type { Offer } from "../../shared/offers/offer.js";
import type { Sdk } from "./sdk.js";
import { progressListener } from "./progress.js";

/**
 * Creates protocol servers. The SDK needs one per connection, and one per request of the 2026
 * protocol.
 */
export function protocolServers(
  sdk: Sdk,
  dispatcher: CallDispatcher,
  { name, version, instructions }: ResolvedSettings,
): () => Server {
  const tools = [...dispatcher.offers].map(toolOf);
  // shared; by default the SDK creates one per server
  const validator = new sdk.CfWorkerJsonSchemaValidator();
  return () => {
    const server = new sdk.Server(
      { name, version },
      {
        capabilities: { tools: {} },
        jsonSchemaValidator: validator,
        ...(instructions !== undefined && { instructions }),
      },
    );
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", (request, context) =>
      answerCall(sdk, dispatcher, request, context),
    );
    return server;
  };
}

function toolOf({ name, description, inputSchema, outputSchema }: Offer): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema as Tool["inputSchema"], // `Offer` guarantees an object schema
    ...(outputSchema !== undefined && { outputSchema: outputSchema }),
  };
}

/**
 * Answers a call.
 * @throws the protocol's error for an unknown tool; any other failure is a result
 */
async function answerCall(
  sdk: Sdk,
  dispatcher: CallDispatcher,
  { params }: CallToolRequest,
  { mcpReq, http }: ServerContext,
): Promise<CallToolResult> {
  if (!dispatcher.has(params.name))
    throw new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      `Unknown tool: ${params.name.slice(0, 100)}`,
    );
  // A session outlives the connections of its requests, but the response to a closed connection
  // could not be delivered.
  const gone = http?.req?.signal;
  const signal = gone === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, gone]);
  const token = mcpReq._meta?.progressToken;
  const sent: Promise<void>[] = [];
  const listener =
    token === undefined
      ? undefined
      : progressListener((step) => {
          if (signal.aborted) return;
          const notice = mcpReq.notify({
            method: "notifications/progress",
            params: { ...step, progressToken: token },
          });
          // if the connection is broken, the signal of the call ends the call
          sent.push(notice.catch(() => undefined));
        });
  const result = await dispatcher.call(params.name, params.arguments ?? {}, {
    id: String(mcpReq.id),
    signal,
    listener,
  });
  await Promise.all(sent); // no notification may follow the result
  return result;
}
