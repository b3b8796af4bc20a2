import { expect } from "chai";
import type { TestAgent } from "./agent.js";
import { STATE, WORK_EXTENSION } from "../../../../src/plugins/network/shared/a2a/protocol.js";
import { storedIdOf } from "../../../../src/plugins/network/shared/stored-ids.js";
import { rejection } from "../../../support/rejection.js";
import { until } from "../../../support/time.js";
import { ECHO, NEVER, startAgent } from "./agent.js";
import { collected, plainClient, posted, resultOf, taskIn, textRequest } from "./plain-client.js";

describe("A2A: an agent for plain clients", () => {
  let agent: TestAgent;
  afterEach(() => agent.close());

  it("answers a blocking message with the completed task", async () => {
    agent = await startAgent();
    const client = await plainClient(agent.url);
    const task = taskIn(await client.sendMessage(textRequest("soup")));
    expect(task.status?.state).to.equal(STATE.COMPLETED);
    expect(resultOf(task)).to.equal("echo: soup");
    expect(task.metadata?.[WORK_EXTENSION]).to.include({ attempt: 1, servedBy: "one" });
  });

  it("streams the task, its progress, the result and its end", async () => {
    agent = await startAgent({
      work: async ({ context = "" }, report) => {
        await report({ step: 1 });
        return { result: context.toUpperCase(), parsed: { length: 4 } };
      },
    });
    const client = await plainClient(agent.url);
    const events = await collected(client.sendMessageStream(textRequest("soup")));
    expect(events.map((event) => event?.$case)).to.deep.equal([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    const [, progress, artifact, end] = events;
    expect(progress?.$case === "statusUpdate" && progress.value.metadata).to.deep.equal({
      [WORK_EXTENSION]: { progress: { step: 1 } },
    });
    const parts = artifact?.$case === "artifactUpdate" ? artifact.value.artifact?.parts : [];
    expect(parts?.map(({ content }) => content?.value as unknown)).to.deep.equal([
      "SOUP",
      { length: 4 },
    ]);
    expect(end?.$case === "statusUpdate" && end.value.status?.state).to.equal(STATE.COMPLETED);
  });

  it("keeps a task for GetTask and late subscribers", async () => {
    agent = await startAgent();
    const client = await plainClient(agent.url);
    const { id } = taskIn(await client.sendMessage(textRequest("soup")));
    expect(resultOf(await client.getTask({ tenant: "", id }))).to.equal("echo: soup");
    const [late, ...rest] = await collected(client.resubscribeTask({ tenant: "", id }));
    expect(late?.$case === "task" && resultOf(late.value)).to.equal("echo: soup");
    expect(rest).to.deep.equal([]);
  });

  it("executes a repeated message once, and refuses its id for other content", async () => {
    agent = await startAgent();
    const client = await plainClient(agent.url);
    const first = taskIn(await client.sendMessage(textRequest("soup")));
    const second = taskIn(await client.sendMessage(textRequest("soup")));
    expect([second.id, resultOf(second)]).to.deep.equal([first.id, "echo: soup"]);
    expect(agent.executed).to.have.lengthOf(1);
    const error = await rejection(client.sendMessage(textRequest("stew")));
    expect(error).to.have.property("name", "RequestMalformedError");
    expect(error).to.have.property("message").that.contains("other content");
  });

  it("keeps the context of a client in every answer", async () => {
    agent = await startAgent();
    const client = await plainClient(agent.url);
    const request = textRequest("soup", { contextId: "dinner", returnImmediately: true });
    const { id, contextId, status } = taskIn(await client.sendMessage(request));
    expect([contextId, status?.state]).to.deep.equal(["dinner", STATE.SUBMITTED]);
    const later = await client.getTask({ tenant: "", id });
    expect([later.id, later.contextId]).to.deep.equal([id, "dinner"]);
  });

  it("cancels a task once", async () => {
    agent = await startAgent({ work: NEVER });
    const client = await plainClient(agent.url);
    const request = textRequest("soup", { returnImmediately: true });
    const { id } = taskIn(await client.sendMessage(request));
    const cancelled = await client.cancelTask({
      tenant: "",
      id,
      metadata: { [WORK_EXTENSION]: { reason: "no guests" } },
    });
    expect(cancelled.status?.state).to.equal(STATE.CANCELED);
    const content = cancelled.status?.message?.parts[0]?.content;
    expect(content).to.have.property("value", "no guests");
    const again = await rejection(client.cancelTask({ tenant: "", id, metadata: undefined }));
    expect(again).to.have.property("name", "TaskNotCancelableError");
  });

  it("separates the work of callers", async () => {
    agent = await startAgent({
      callers: {
        "token-of-a": { name: "a", role: "caller" },
        "token-of-b": { name: "b", role: "caller" },
      },
    });
    const [a, b] = await Promise.all([
      plainClient(agent.url, "token-of-a"),
      plainClient(agent.url, "token-of-b"),
    ]);
    const { id } = taskIn(await a.sendMessage(textRequest("soup")));
    const stored = storedIdOf("a", "m-1");
    expect(agent.executed[0]).to.include({ requestId: stored, from: "a", to: "kitchen" });
    const found = await rejection(b.getTask({ tenant: "", id }));
    expect(found).to.have.property("name", "TaskNotFoundError");
    const cancelled = await rejection(b.cancelTask({ tenant: "", id, metadata: undefined }));
    expect(cancelled).to.have.property("name", "TaskNotFoundError");
    const own = taskIn(await b.sendMessage(textRequest("stew")));
    expect(resultOf(own)).to.equal("echo: stew");
    expect(agent.executed).to.have.lengthOf(2);
  });

  it("does not execute functions that the caller may not call", async () => {
    agent = await startAgent({
      capabilities: [ECHO, { ...ECHO, name: "secret" }],
      callers: { "token-of-a": { name: "a", role: "caller", may: ["echo"] } },
    });
    const client = await plainClient(agent.url, "token-of-a");
    const metadata = { [WORK_EXTENSION]: { task: "secret" } };
    const task = taskIn(await client.sendMessage(textRequest("soup", { metadata })));
    expect(task.status?.state).to.equal(STATE.REJECTED);
    expect(task.metadata?.[WORK_EXTENSION]).to.include({ reason: "UNKNOWN" });
    const content = task.status?.message?.parts[0]?.content;
    expect(content?.value).to.contain("Known: echo");
    expect(agent.executed).to.deep.equal([]);
  });

  it("lists the skills if a message names none of several", async () => {
    agent = await startAgent({ capabilities: [ECHO, { ...ECHO, name: "other" }] });
    const client = await plainClient(agent.url);
    const task = taskIn(await client.sendMessage(textRequest("soup")));
    expect(task.metadata?.[WORK_EXTENSION]).to.include({ reason: "INVALID_INPUT" });
    expect(task.status?.message?.parts[0]?.content?.value).to.contain("Known: echo, other.");
  });

  it("rejects a request that exceeds the limit of the queue", async () => {
    agent = await startAgent({ maxQueued: 1, work: NEVER });
    const client = await plainClient(agent.url);
    const sent = (messageId: string): Promise<object> =>
      client.sendMessage(textRequest("soup", { messageId, returnImmediately: true }));
    for (const id of ["1", "2", "3", "4"]) {
      await sent(id);
      await until(() => agent.executed.length === Number(id)); // the worker has it
    }
    await sent("5");
    const task = taskIn(await sent("6"));
    expect(task.status?.state).to.equal(STATE.REJECTED);
    expect(task.metadata?.[WORK_EXTENSION]).to.include({
      reason: "AT_CAPACITY",
      retryAfterMs: 1_000,
    });
  });

  it("refuses new work while it drains, and still shows existing work", async () => {
    agent = await startAgent();
    const client = await plainClient(agent.url);
    const { id } = taskIn(await client.sendMessage(textRequest("soup")));
    agent.drain();
    const { message } = textRequest("stew", { messageId: "m-2" });
    const rpc = { jsonrpc: "2.0", id: 7, method: "SendMessage", params: { message } };
    const refused = await posted(agent.url, rpc);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get("retry-after")).to.equal("1");
    expect(refused.body).to.have.property("id", 7);
    expect(resultOf(await client.getTask({ tenant: "", id }))).to.equal("echo: soup");
  });

  it("limits the open streams of a caller, and does not count ended streams", async () => {
    agent = await startAgent({ maxStreams: 1, work: NEVER });
    const client = await plainClient(agent.url);
    const end = new AbortController();
    const open = client.sendMessageStream(textRequest("soup"), { signal: end.signal });
    await open.next();
    const resubscribe = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: "m-1" } };
    const refused = await posted(agent.url, resubscribe);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get("retry-after")).to.equal("1");
    end.abort();
    await rejection(open.next());
    await until(async () => {
      const next = await fetch(`${agent.url}/a2a`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
        body: JSON.stringify(resubscribe),
      });
      await next.body?.cancel();
      return next.status === 200;
    });
  });

  it("sends a long text in several events", async () => {
    const long = "0123456789".repeat(200_000);
    agent = await startAgent({ work: async () => ({ result: long }) });
    const client = await plainClient(agent.url);
    let text = "";
    let chunks = 0;
    for await (const { payload } of client.sendMessageStream(textRequest("soup")))
      if (payload?.$case === "artifactUpdate") {
        const content = payload.value.artifact?.parts[0]?.content;
        text += content?.$case === "text" ? content.value : "";
        chunks++;
      }
    expect(text === long).to.equal(true);
    expect(chunks).to.equal(4);
  });

  it("passes on the trace of the caller", async () => {
    agent = await startAgent();
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const { message } = textRequest("soup");
    const rpc = {
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { ...message, parts: [{ text: "soup" }], role: "ROLE_USER" } },
    };
    await posted(agent.url, rpc, { "A2A-Version": "1.0", traceparent, tracestate: "v=1" });
    expect(agent.executed[0]?.traceContext).to.deep.equal({ traceparent, tracestate: "v=1" });
  });

  it("names its skills, its extension and its token in the card", async () => {
    agent = await startAgent({
      callers: { "token-of-a": { name: "a", role: "caller" } },
      publicUrl: "https://kitchen.example/base/",
    });
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as {
      readonly supportedInterfaces: readonly { readonly url: string }[];
      readonly skills: readonly unknown[];
      readonly securitySchemes: unknown;
      readonly capabilities: { readonly extensions: readonly { readonly params: unknown }[] };
    };
    expect(card.supportedInterfaces[0]?.url).to.equal("https://kitchen.example/base/a2a");
    expect(card.skills[0]).to.deep.include({ id: "echo", tags: ["text", "task"] });
    expect(card.capabilities.extensions[0]?.params).to.deep.equal({
      ensemble: "kitchen",
      capabilities: [ECHO],
    });
    expect(card.securitySchemes).to.have.property("bearer");
  });

  it("shows a private card to callers only", async () => {
    agent = await startAgent({
      callers: { "token-of-a": { name: "a", role: "caller" } },
      card: "private",
    });
    const card = `${agent.url}/.well-known/agent-card.json`;
    expect((await fetch(card)).status).to.equal(401);
    const headers = { Authorization: "Bearer token-of-a" };
    expect((await fetch(card, { headers })).status).to.equal(200);
  });
});
