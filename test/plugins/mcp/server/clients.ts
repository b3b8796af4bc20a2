import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { fileURLToPath } from "node:url";

/** What tests look at in the result of a call. */
export interface Called {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
}

/** What tests look at in a progress notification. */
export interface Step {
  readonly progress: number;
  readonly message?: string;
}

export interface CallControl {
  readonly signal?: AbortSignal;
  readonly onprogress?: (step: Step) => void;
}

/** A connected client, whichever it is. */
export interface TestClient {
  list(): Promise<
    readonly {
      readonly name: string;
      readonly description?: string | undefined;
      readonly inputSchema: unknown;
      readonly outputSchema?: unknown;
    }[]
  >;
  call(name: string, args: Record<string, unknown>, control?: CallControl): Promise<Called>;
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  close(): Promise<void>;
}

/** How the server is reached. */
export type Target =
  | { readonly url: string; readonly headers?: Record<string, string> }
  | { readonly program: string };

export type Connect = (target: Target) => Promise<TestClient>;

const info = { name: "test-client", version: "1.0.0" };

/** The program that serves over stdio, compiled. */
export const stdioProgram = fileURLToPath(
  new URL("../../../support/mcp-stdio-server.js", import.meta.url),
);

const command = (program: string): { command: string; args: string[]; stderr: "pipe" } => ({
  command: process.execPath,
  args: [program],
  stderr: "pipe",
});

async function connectV1(target: Target): Promise<TestClient> {
  const client = new ClientV1(info);
  const transport =
    "url" in target
      ? new HttpV1(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
      : new StdioV1(command(target.program));
  await client.connect(transport); // its own transports miss its own type under exactOptionalPropertyTypes
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args, control) =>
      (await client.callTool({ name, arguments: args }, undefined, control as object)) as Called,
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    close: () => client.close(),
  };
}

async function connectV2(target: Target, mode: "legacy" | "auto"): Promise<TestClient> {
  const client = new ClientV2(info, { versionNegotiation: { mode } });
  const transport =
    "url" in target
      ? new HttpV2(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
      : new StdioV2(command(target.program));
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args, control) =>
      (await client.callTool({ name, arguments: args }, control as object)) as Called,
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    close: () => client.close(),
  };
}

/** The official clients: both packages, and both revisions of the protocol that the newer one speaks. */
export const CLIENTS: Readonly<Record<string, Connect>> = {
  "client of SDK 1": connectV1,
  "client of SDK 2, protocol of 2025": (target) => connectV2(target, "legacy"),
  "client of SDK 2, protocol of 2026": (target) => connectV2(target, "auto"),
};
