import { AgentCard, SendMessageResponse, StreamResponse, Task } from "@a2a-js/sdk";
import { expect } from "chai";
import type { TestAgent } from "./agent.js";
import { STATE } from "../../../../src/plugins/network/shared/a2a/protocol.js";
import { gate } from "../../../service/support.js";
import { rejection } from "../../../support/rejection.js";
import { NEVER, startAgent } from "./agent.js";
import { collected, plainClient, posted, taskIn, textRequest } from "./plain-client.js";

interface Codec<T> {
  fromJSON(value: unknown): T;
  toJSON(value: T): unknown;
}

/** The package of the protocol reads the complete JSON and would write the same. */
function expectWire<T>(codec: Codec<T>, json: unknown): void {
  const [wire, read] = [json, codec.toJSON(codec.fromJSON(json))].map(withoutEmpty);
  expect(read).to.deep.equal(wire);
}

/** JSON without the fields that have their default value. */
function withoutEmpty(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutEmpty);
  if (typeof json !== "object" || json === null) return json;
  const fields = Object.entries(json).map(([name, value]) => [name, withoutEmpty(value)] as const);
  const isEmpty = (value: unknown): boolean =>
    value === "" || value === false || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(fields.filter(([, value]) => !isEmpty(value)));
}

const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "soup" }] };

async function resultTo(agent: TestAgent, method: string, params: unknown): Promise<unknown> {
  const { body } = await posted(agent.url, { jsonrpc: "2.0", id: 7, method, params });
  const { result, ...rest } = body as { readonly result?: unknown };
  expect(rest).to.deep.equal({ jsonrpc: "2.0", id: 7 });
  return result;
}

async function eventsOf(agent: TestAgent, method: string, params: unknown): Promise<unknown[]> {
  const { body } = await posted(agent.url, { jsonrpc: "2.0", id: 7, method, params });
  return String(body)
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => (JSON.parse(event.slice(6)) as { readonly result: unknown }).result);
}

describe("A2A: the messages of an agent", () => {
  let agent: TestAgent;
  afterEach(() => agent.close());

  it("can be read and written by the package of the protocol, in each answer and event", async () => {
    agent = await startAgent({
      work: async ({ context = "" }, report) => {
        await report({ step: 1 });
        return context === "burn"
          ? { status: "FAILED", reason: "RUN_FAILED", error: "smoke" }
          : { result: context, parsed: { length: 4 } };
      },
    });
    expectWire(SendMessageResponse, await resultTo(agent, "SendMessage", { message }));
    const id = (await resultTo(agent, "SendMessage", { message })) as { task: { id: string } };
    expectWire(Task, await resultTo(agent, "GetTask", { id: id.task.id }));
    for (const [messageId, text] of [
      ["m-2", "stew"],
      ["m-3", "burn"],
    ] as const) {
      const sent = { message: { ...message, messageId, parts: [{ text }] } };
      const events = await eventsOf(agent, "SendStreamingMessage", sent);
      expect(events.length).to.be.greaterThan(1);
      for (const event of events) expectWire(StreamResponse, event);
    }
    for (const event of await eventsOf(agent, "SubscribeToTask", { id: id.task.id }))
      expectWire(StreamResponse, event);
    const card: unknown = await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json();
    expectWire(AgentCard, card);
  });

  it("can be read by the package for a cancelled task", async () => {
    agent = await startAgent({ work: NEVER });
    const configuration = { returnImmediately: true };
    const sent = await resultTo(agent, "SendMessage", { message, configuration });
    expectWire(SendMessageResponse, sent);
    const { id } = (sent as { readonly task: { readonly id: string } }).task;
    expectWire(Task, await resultTo(agent, "CancelTask", { id }));
  });
});

describe("A2A: the methods of a plain client", () => {
  let agent: TestAgent;
  afterEach(() => agent.close());

  it("receive a task again while it is executed", async () => {
    const { opened, open } = gate();
    agent = await startAgent({
      work: async () => {
        await opened;
        return { result: "soup" };
      },
    });
    const client = await plainClient(agent.url);
    const { id } = taskIn(
      await client.sendMessage(textRequest("soup", { returnImmediately: true })),
    );
    const events = client.resubscribeTask({ tenant: "", id })[Symbol.asyncIterator]();
    const first = (await events.next()).value?.payload;
    expect(first?.$case === "task" && first.value.id).to.equal(id);
    open();
    const rest = await collected({ [Symbol.asyncIterator]: () => events });
    const end = rest.at(-1);
    expect(end?.$case === "statusUpdate" && end.value.status?.state).to.equal(STATE.COMPLETED);
  });

  it("are refused with the errors of the protocol if they are not offered", async () => {
    agent = await startAgent();
    const client = await plainClient(agent.url);
    const { id: taskId } = taskIn(await client.sendMessage(textRequest("soup")));
    const named = { tenant: "", taskId, id: "config" };
    const config = { ...named, url: "http://127.0.0.1:9", token: "", authentication: undefined };
    const page = { pageSize: 10, pageToken: "" };
    const unknown = { tenant: "", id: "unknown", metadata: undefined };
    const listed = {
      ...{ tenant: "", contextId: "", status: STATE.COMPLETED, ...page },
      ...{ historyLength: undefined, statusTimestampAfter: undefined, includeArtifacts: undefined },
    };
    const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["PushNotificationNotSupportedError", () => client.createTaskPushNotificationConfig(config)],
      ["PushNotificationNotSupportedError", () => client.getTaskPushNotificationConfig(named)],
      [
        "PushNotificationNotSupportedError",
        () => client.listTaskPushNotificationConfig({ tenant: "", taskId, ...page }),
      ],
      ["PushNotificationNotSupportedError", () => client.deleteTaskPushNotificationConfig(named)],
      ["UnsupportedOperationError", () => client.listTasks(listed)],
      ["TaskNotFoundError", () => client.getTask({ tenant: "", id: "unknown" })],
      ["TaskNotFoundError", () => client.cancelTask(unknown)],
      ["TaskNotFoundError", () => collected(client.resubscribeTask({ tenant: "", id: "unknown" }))],
      ["TaskNotCancelableError", () => client.cancelTask({ ...unknown, id: taskId })],
    ];
    for (const [name, call] of cases)
      expect(await rejection(Promise.resolve().then(call)), name).to.have.property("name", name);
  });
});
