import type { SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { messageWith, textPart } from "../../../../src/plugins/network/shared/a2a/parts.js";
import { ROLE } from "../../../../src/plugins/network/shared/a2a/protocol.js";

/** A client of the protocol's own package. */
export async function plainClient(url: string, token?: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  return new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(url);
}

/** A request to send a text. */
export function textRequest(
  text: string,
  o: {
    readonly messageId?: string;
    readonly contextId?: string;
    readonly metadata?: Record<string, unknown>;
    readonly returnImmediately?: boolean;
  } = {},
): SendMessageRequest {
  return {
    tenant: "",
    message: messageWith({
      messageId: o.messageId ?? "m-1",
      contextId: o.contextId ?? "",
      role: ROLE.USER,
      parts: [textPart(text)],
      metadata: o.metadata,
    }),
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: o.returnImmediately ?? false,
    },
    metadata: undefined,
  };
}

/** The task in an answer. */
export function taskIn(sent: object): Task {
  if ("status" in sent) return sent as Task; // messages have none
  throw new Error(`Not a task: ${JSON.stringify(sent)}`);
}

/** The text of a task's result. */
export function resultOf({ artifacts }: Task): string | undefined {
  const content = artifacts[0]?.parts[0]?.content;
  return content?.$case === "text" ? content.value : undefined;
}

export async function collected(
  stream: AsyncIterable<StreamResponse>,
): Promise<StreamResponse["payload"][]> {
  const events: StreamResponse["payload"][] = [];
  for await (const { payload } of stream) events.push(payload);
  return events;
}

/** Sends a body to the endpoint unchanged. */
export async function posted(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = { "A2A-Version": "1.0" },
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const { status } = response;
  return { status, headers: response.headers, body: isJson ? (JSON.parse(text) as unknown) : text };
}
