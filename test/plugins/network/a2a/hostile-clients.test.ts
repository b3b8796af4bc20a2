import { expect } from "chai";
import fc from "fast-check";
import type { TestAgent } from "./agent.js";
import { startAgent } from "./agent.js";
import { posted } from "./plain-client.js";

interface RpcError {
  readonly id: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

async function refusalTo(
  agent: TestAgent,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<{
  readonly status: number;
  readonly code: number | undefined;
  readonly message: string;
}> {
  const { status, body: answer } = await posted(agent.url, body, headers);
  const { error } = answer as RpcError; // answers of the endpoint are JSON-RPC
  return { status, code: error?.code, message: error?.message ?? "" };
}

const get = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } };

describe("A2A: clients with faults", () => {
  let agent: TestAgent;
  beforeEach(async () => void (agent = await startAgent({ maxBodyBytes: 200_000 })));
  afterEach(() => agent.close());

  it("answers a client of version 0.3 with the required version", async () => {
    const old = { jsonrpc: "2.0", id: 9, method: "message/send", params: { message: {} } };
    const refusal = await refusalTo(agent, old, {});
    expect(refusal).to.include({ status: 200, code: -32_009 });
    expect(refusal.message).to.contain("supports A2A 1.0");
    expect(refusal.message).to.contain("0.3 (no A2A-Version header)");
    const other = await refusalTo(agent, get, { "A2A-Version": "2.0" });
    expect(other.message).to.contain("has version 2.0");
  });

  it("refuses a body that is not a JSON-RPC request", async () => {
    expect(await refusalTo(agent, "{")).to.include({ status: 200, code: -32_700 });
    for (const body of [[], [get], 5, null, "x", {}, { jsonrpc: "2.0", method: 5 }])
      expect(await refusalTo(agent, JSON.stringify(body))).to.include({ code: -32_600 });
    expect(await refusalTo(agent, { ...get, jsonrpc: "1.0" })).to.include({ code: -32_602 });
    expect(await refusalTo(agent, { ...get, method: "Nothing" })).to.include({ code: -32_601 });
    expect(await refusalTo(agent, { ...get, params: [] })).to.include({ code: -32_602 });
    const asText = await fetch(`${agent.url}/a2a`, { method: "POST", body: JSON.stringify(get) });
    expect(asText.status).to.equal(415);
  });

  it("refuses bodies that are too deep, too large or contain keys of prototypes", async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","y":${"[".repeat(600)}${"]".repeat(600)}}}`;
    expect(await refusalTo(agent, deep)).to.include({ status: 200, code: -32_600 });
    expect((await posted(agent.url, `"${"x".repeat(300_000)}"`)).status).to.equal(413);
    const proto = '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","__proto__":{}}}';
    expect(await refusalTo(agent, proto)).to.include({ code: -32_600 });
  });

  it("refuses unsupported methods", async () => {
    const refused = async (method: string): Promise<number | undefined> =>
      (await refusalTo(agent, { ...get, method, params: { taskId: "x", url: "http://x" } })).code;
    expect(await refused("ListTasks")).to.equal(-32_004);
    expect(await refused("CreateTaskPushNotificationConfig")).to.equal(-32_003);
    expect(await refused("GetTaskPushNotificationConfig")).to.equal(-32_003);
    expect(await refused("ListTaskPushNotificationConfigs")).to.equal(-32_003);
    expect(await refused("DeleteTaskPushNotificationConfig")).to.equal(-32_003);
    expect(await refused("GetExtendedAgentCard")).to.equal(-32_007);
  });

  it("refuses a message without an id, and an unknown task", async () => {
    const send = { ...get, method: "SendMessage", params: { message: { parts: [] } } };
    expect((await refusalTo(agent, send)).message).to.contain("messageId");
    const stream = { ...send, method: "SendStreamingMessage" };
    expect((await refusalTo(agent, stream)).message).to.contain("messageId");
    expect((await refusalTo(agent, { ...send, params: {} })).message).to.contain("no message");
    for (const method of ["GetTask", "CancelTask", "SubscribeToTask"])
      expect(await refusalTo(agent, { ...get, method })).to.include({ status: 200, code: -32_001 });
    const answer = { message: { messageId: "m", taskId: "x", parts: [] } };
    expect(await refusalTo(agent, { ...send, params: answer })).to.include({ code: -32_001 });
  });

  it("never answers 500", async () => {
    const method = fc.constantFrom(
      ...["SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask"],
      ...["ListTasks", "GetExtendedAgentCard", "CreateTaskPushNotificationConfig"],
    );
    const message = fc.record(
      {
        messageId: fc.oneof(fc.string(), fc.jsonValue()),
        contextId: fc.jsonValue(),
        taskId: fc.jsonValue(),
        role: fc.jsonValue(),
        parts: fc.oneof(fc.jsonValue(), fc.array(fc.record({ data: fc.jsonValue() }))),
        metadata: fc.jsonValue(),
        extensions: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const params = fc.oneof(
      fc.jsonValue(),
      fc.record({ message: fc.oneof(message, fc.jsonValue()), configuration: fc.jsonValue() }),
      fc.record({ id: fc.jsonValue(), metadata: fc.jsonValue(), tenant: fc.jsonValue() }),
    );
    await fc.assert(
      fc.asyncProperty(method, params, fc.jsonValue(), async (name, given, id) => {
        const rpc = { jsonrpc: "2.0", id, method: name, params: given };
        const { status, body } = await posted(agent.url, rpc);
        expect(status).to.be.oneOf([200]);
        expect(JSON.stringify(body)).not.to.match(/ at .+\.js:\d/);
      }),
      { numRuns: 300 },
    );
    expect(agent.errors).to.deep.equal([]);
  });
});
