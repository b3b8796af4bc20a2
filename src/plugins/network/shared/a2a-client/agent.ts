import type { AgentCard } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import type { SharedCapability } from "../../../../contracts/network.js";
import type { A2aClientVendor } from "../a2a/protocol.js";
import type { Fields } from "../../../../util/objects.js";
import type { A2aSettings } from "./a2a-options.js";
import type { AgentTraffic } from "./agent-traffic.js";
import { NetworkError } from "../../../../contracts/network-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { asFields, asList, asText } from "../../../../util/objects.js";
import {
  A2A_VERSION,
  EXTENSIONS_HEADER,
  VERSION_HEADER,
  WORK_EXTENSION,
  loadA2aClient,
} from "../a2a/protocol.js";

const TYPES = ["TASK", "TOOL", "RUN"] as const;

/** An agent whose card was read. */
export interface Agent {
  readonly client: Client;
  /** Whether the agent supports the extension of this framework. */
  readonly hasExtension: boolean;
  readonly streams: boolean;
  readonly capabilities: readonly SharedCapability[];
}

/**
 * Reads the card of an agent.
 * @throws NetworkError for an agent without A2A 1.0 over JSON-RPC at its own origin, and for an
 * invalid card; AgentAwayError; the reason of the signal.
 */
export async function connectAgent(
  settings: A2aSettings,
  traffic: AgentTraffic,
  signal: AbortSignal,
): Promise<Agent> {
  const vendor = await loadA2aClient();
  const card = await readCard(settings, { traffic, vendor, signal });
  const address = ownAddress(card, settings);
  const { JsonRpcTransportFactory, ClientFactory } = vendor;
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: traffic.fetch })],
  });
  const client = await factory.createFromAgentCard({ ...card, supportedInterfaces: [address] });
  const extension = card.capabilities?.extensions.find(({ uri }) => uri === WORK_EXTENSION);
  return {
    client,
    hasExtension: extension !== undefined,
    streams: card.capabilities?.streaming === true,
    capabilities: capabilitiesOf(card, extension?.params),
  };
}

/** Returns the headers of each request to an agent. */
export function headersFor({ hasExtension }: Agent): Record<string, string> {
  return hasExtension ? { [EXTENSIONS_HEADER]: WORK_EXTENSION } : {};
}

async function readCard(
  { cardUrl }: A2aSettings,
  o: {
    readonly traffic: AgentTraffic;
    readonly vendor: A2aClientVendor;
    readonly signal: AbortSignal;
  },
): Promise<AgentCard> {
  const response = await o.traffic.fetch(cardUrl, {
    headers: { Accept: "application/json", [VERSION_HEADER]: A2A_VERSION },
    signal: o.signal,
  });
  if (!response.ok)
    throw new NetworkError(`There is no agent card at ${cardUrl}: HTTP ${response.status}`, {
      hint: "Give the address of an A2A agent, or of its card.",
    });
  let card: unknown;
  try {
    card = await response.json();
  } catch (cause) {
    throw notACard(cardUrl, cause);
  }
  const fields = asFields(card);
  if (fields === undefined) throw notACard(cardUrl, new Error("it is not a JSON object"));
  if (fields["supportedInterfaces"] === undefined) throw oldVersion(fields, cardUrl);
  try {
    return o.vendor.AgentCard.fromJSON(fields);
  } catch (cause) {
    throw notACard(cardUrl, cause);
  }
}

function notACard(cardUrl: string, cause: unknown): NetworkError {
  return new NetworkError(`${cardUrl} is not an agent card: ${messageOf(cause)}`, { cause });
}

function oldVersion({ protocolVersion }: Fields, cardUrl: string): NetworkError {
  const version = asText(protocolVersion).slice(0, 20);
  const spoken = version === "" ? "an older version of A2A" : `A2A ${version}`;
  return new NetworkError(
    `The agent at ${cardUrl} supports ${spoken}; A2A ${A2A_VERSION} is required`,
    {
      isPermanent: true,
      hint: "Update the agent.",
    },
  );
}

/**
 * Returns the interface to use. A card may contain other hosts, which must not receive the token.
 */
function ownAddress(
  card: AgentCard,
  { origin, cardUrl }: A2aSettings,
): AgentCard["supportedInterfaces"][0] {
  const fitting = card.supportedInterfaces.filter(
    ({ protocolBinding, protocolVersion }) =>
      protocolBinding.toUpperCase() === "JSONRPC" && protocolVersion === A2A_VERSION,
  );
  if (fitting.length === 0) {
    const offered = card.supportedInterfaces.map(
      ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`,
    );
    throw new NetworkError(
      `The agent at ${cardUrl} has no interface for JSON-RPC and A2A ${A2A_VERSION}`,
      {
        isPermanent: true,
        hint: `Its card names: ${offered.slice(0, 5).join(", ").slice(0, 200) || "none"}.`,
      },
    );
  }
  const own = fitting.find(({ url }) => URL.canParse(url) && new URL(url).origin === origin);
  if (own !== undefined) return own;
  throw new NetworkError(`The card at ${cardUrl} names an address of another origin`, {
    isPermanent: true,
    hint: `It names ${fitting[0]?.url.slice(0, 200) ?? ""}. Give the address of that origin, if you trust it.`,
  });
}

function capabilitiesOf(card: AgentCard, params: unknown): readonly SharedCapability[] {
  const described = asList(asFields(params)?.["capabilities"]).flatMap((one) => capabilityOf(one));
  if (described.length > 0) return Object.freeze(described);
  return Object.freeze(
    card.skills.map(({ id, description, tags }) => ({
      name: id,
      type: "TASK" as const,
      description,
      tags,
    })),
  );
}

function capabilityOf(value: unknown): readonly SharedCapability[] {
  const { name, type, description, version, tags, inputSchema } = asFields(value) ?? {};
  const known = TYPES.find((one) => one === type);
  if (typeof name !== "string" || known === undefined) return [];
  return [
    {
      name,
      type: known,
      description: asText(description),
      ...(typeof version === "string" && { version }),
      tags: asList(tags).filter((tag) => typeof tag === "string"),
      ...(inputSchema !== undefined && { inputSchema }),
    },
  ];
}
