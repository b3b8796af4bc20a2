import type { CatalogueEntry } from "../../../contracts/network.js";
import { A2A_VERSION, RPC_PATH, WORK_EXTENSION } from "../shared/a2a/protocol.js";

const MODES = Object.freeze(["text/plain", "application/json"]);

/** The data of a card in addition to the entry of its service. */
export interface CardSettings {
  /** The address of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly needsToken: boolean;
  /** Whether the service sends push notifications. */
  readonly hasPush: boolean;
}

/**
 * Returns the agent card of a service, in the JSON of the protocol. Its skills are the shared tasks
 * and tools.
 */
export function agentCardOf(
  { ensemble, description, capabilities }: CatalogueEntry,
  { baseUrl, needsToken, hasPush }: CardSettings,
): unknown {
  return {
    name: ensemble,
    description: description ?? `The ensemble ${ensemble}`,
    version: "1",
    supportedInterfaces: [
      {
        url: `${baseUrl}${RPC_PATH}`,
        protocolBinding: "JSONRPC",
        protocolVersion: A2A_VERSION,
      },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: hasPush,
      extendedAgentCard: false,
      extensions: [
        {
          uri: WORK_EXTENSION,
          description: "Names the shared task or tool, its limits, and what its execution used",
          required: false,
          params: { ensemble, capabilities },
        },
      ],
    },
    ...(needsToken && {
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    }),
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: capabilities.map(({ name, description: text, tags, type }) => ({
      id: name,
      name,
      description: text,
      tags: [...(tags ?? []), type.toLowerCase()],
    })),
  };
}
