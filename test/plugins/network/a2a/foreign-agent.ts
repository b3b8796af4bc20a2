import type { AgentCard, Task, TaskState } from "@a2a-js/sdk";
import type { AgentExecutor, ExecutionEventBus, RequestContext } from "@a2a-js/sdk/server";
import { AgentCard as AgentCardJson } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import type { Page } from "../../../support/loopback-site.js";
import { LoopbackSite } from "../../../support/loopback-site.js";
import { messageWith, textPart } from "../../../../src/plugins/network/shared/a2a/parts.js";
import { ROLE, STATE } from "../../../../src/plugins/network/shared/a2a/protocol.js";

/** The behaviour of a foreign agent: publishes events for a message. */
export type Act = (context: RequestContext, bus: ExecutionEventBus) => Promise<void>;

/** An agent that uses the protocol's own package and nothing of this framework. */
export async function foreignAgent(
  act: Act,
  o: { readonly streaming?: boolean } = {},
): Promise<LoopbackSite> {
  const executor: AgentExecutor = {
    execute: act,
    cancelTask: async (taskId, bus) => {
      const status = { state: STATE.CANCELED, message: undefined, timestamp: undefined };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "c", status, metadata: undefined }));
      bus.finished();
    },
  };
  const site = await LoopbackSite.start({
    "/.well-known/agent-card.json": (_request, response) =>
      void response
        .writeHead(200, { "Content-Type": "application/json" })
        .end(JSON.stringify(AgentCardJson.toJSON(cardOf(site.url("/rpc"), o)))),
    "/rpc": (...exchange) => void answer(...exchange),
  });
  const handler = new JsonRpcTransportHandler(
    new DefaultRequestHandler(cardOf(site.url("/rpc"), o), new InMemoryTaskStore(), executor),
  );
  async function answer(...[, response, body]: Parameters<Page>): Promise<void> {
    const context = new ServerCallContext({ requestedVersion: "1.0" });
    const result = await handler.handle(body, context);
    if (Symbol.asyncIterator in result) {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      for await (const event of result) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end();
    } else
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(result));
  }
  return site;
}

function cardOf(url: string, { streaming = true }: { readonly streaming?: boolean }): AgentCard {
  return AgentCardJson.fromJSON({
    name: "foreign",
    description: "An agent of others",
    version: "1",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming },
    skills: [{ id: "upper", name: "Upper", description: "Writes in capitals", tags: ["text"] }],
  });
}

/** A task that a foreign agent has begun. */
export function begunTask({ taskId, contextId }: RequestContext): Task {
  const status = { state: STATE.WORKING, message: undefined, timestamp: undefined };
  return { id: taskId, contextId, status, artifacts: [], history: [], metadata: undefined };
}

/** Completes a task with one text, or asks for input with it. */
export function finish(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  text: string,
  state: TaskState = STATE.COMPLETED,
): void {
  const parts = [textPart(text)];
  const base = { taskId, contextId, metadata: undefined };
  if (state === STATE.COMPLETED)
    bus.publish(
      AgentEvent.artifactUpdate({
        ...base,
        append: false,
        lastChunk: true,
        artifact: {
          artifactId: "a",
          name: "",
          description: "",
          parts,
          metadata: undefined,
          extensions: [],
        },
      }),
    );
  const message =
    state === STATE.COMPLETED
      ? undefined
      : messageWith({ messageId: "q", role: ROLE.AGENT, taskId, contextId, parts });
  bus.publish(
    AgentEvent.statusUpdate({ ...base, status: { state, message, timestamp: undefined } }),
  );
  bus.finished();
}
