import type * as core from "@a2a-js/sdk";
import type * as clientSide from "@a2a-js/sdk/client";
import type * as errors from "@a2a-js/sdk/errors";
import type * as serverSide from "@a2a-js/sdk/server";
import { isOptionalInstalled } from "../../../../util/import-optional.js";
import { loadOptionalPackage } from "../../../shared/optional-package.js";

/** The extension of A2A that has the fields of requests and results. */
export const WORK_EXTENSION = "urn:agentensemble:a2a:work:v1";
/** The version of the protocol. Requests without a version header have version 0.3. */
export const A2A_VERSION = "1.0";
export const VERSION_HEADER = "A2A-Version";
export const EXTENSIONS_HEADER = "A2A-Extensions";
export const CARD_PATH = "/.well-known/agent-card.json";
export const RPC_PATH = "/a2a";

/** States of tasks, by the numbers of the protocol. */
export const STATE: Readonly<Record<StateName, core.TaskState>> = Object.freeze({
  SUBMITTED: 1,
  WORKING: 2,
  COMPLETED: 3,
  FAILED: 4,
  CANCELED: 5,
  INPUT_REQUIRED: 6,
  REJECTED: 7,
  AUTH_REQUIRED: 8,
});

type StateName =
  | ("SUBMITTED" | "WORKING" | "INPUT_REQUIRED" | "AUTH_REQUIRED")
  | ("COMPLETED" | "FAILED" | "CANCELED" | "REJECTED");

/** Roles of messages, by the numbers of the protocol. */
export const ROLE = Object.freeze({ USER: 1, AGENT: 2 } as const) satisfies Readonly<
  Record<string, core.Role>
>;

export type A2aErrorVendor = typeof errors;
export type A2aServerVendor = Pick<
  typeof serverSide,
  "JsonRpcTransportHandler" | "ServerCallContext"
>;
export type A2aClientVendor = Pick<typeof core, "AgentCard"> &
  Pick<typeof clientSide, "ClientFactory" | "JsonRpcTransportFactory">;

/** Returns whether the package of the protocol can be loaded. Loads nothing. */
export function isA2aInstalled(): boolean {
  return isOptionalInstalled("@a2a-js/sdk/server");
}

/** Loads the server of the package. @throws ValidationError if the package is not installed. */
export async function loadA2aServer(): Promise<A2aServerVendor & A2aErrorVendor> {
  const [server, named] = await Promise.all([
    loadOptionalPackage<typeof serverSide>("@a2a-js/sdk/server", "A2A needs"),
    loadOptionalPackage<A2aErrorVendor>("@a2a-js/sdk/errors", "A2A needs"),
  ]);
  return { ...named, ...server };
}

/** Loads the client of the package. @throws ValidationError if the package is not installed. */
export async function loadA2aClient(): Promise<A2aClientVendor> {
  const [{ AgentCard }, client] = await Promise.all([
    loadOptionalPackage<typeof core>("@a2a-js/sdk", "A2A needs"),
    loadOptionalPackage<typeof clientSide>("@a2a-js/sdk/client", "A2A needs"),
  ]);
  return { ...client, AgentCard };
}
