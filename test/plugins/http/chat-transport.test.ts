import type { EnsembleOptions } from "agentensemble";
import type { RunHandlerOptions } from "agentensemble/http";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { runHandler } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { StreamStore } from "agentensemble/ui";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect } from "chai";
import { Gate } from "../../conversation/gate.js";
import { collect } from "../../support/collect.js";
import { chatService } from "./chat-service.js";
import { authenticate, serve, STREAM } from "./service.js";

const QUESTION: UIMessage = {
  id: "m1",
  role: "user",
  parts: [{ type: "text", text: "When is high water?" }],
};

/** The actions of `useChat` on a stream. */
async function readMessage(
  stream: ReadableStream<UIMessageChunk>,
  before?: UIMessage,
): Promise<UIMessage> {
  let message = before;
  const reading = readUIMessageStream(
    before === undefined ? { stream } : { stream, message: before },
  );
  for await (const next of reading) message = next;
  return message ?? expect.fail("the stream has a message");
}

const textOf = (message: UIMessage | undefined): unknown =>
  message?.parts.findLast((part) => part.type === "text")?.text;
const callOf = (message: UIMessage) =>
  message.parts.find((part) => part.type === "dynamic-tool") ?? expect.fail("there is a call");

describe("the transport of useChat", () => {
  const made: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });

  /** A page with a chat, as in the documentation. */
  async function page(
    o: Partial<RunHandlerOptions>,
    options: EnsembleOptions & { readonly approve?: boolean } = {},
  ) {
    const { approve = false, ...rest } = options;
    const tide = tool({
      name: "tide",
      description: "Returns the tide",
      requireApproval: approve,
      execute: () => ({ at: "14:40" }),
    });
    const agent = new Agent({ role: "Clerk", goal: "g", tools: [tide] });
    const team = new Ensemble({
      model: new ScriptedModel((request) =>
        request.messages.some(({ role }) => role === "tool")
          ? { chunks: ["It is ", "at 14:40."], delayMs: 5 }
          : { toolCalls: [{ name: "tide", arguments: {} }], delayMs: 5 },
      ),
      tasks: [new Task({ description: "Answer: {question}", agent })],
      ...rest,
    });
    const service = await serve(runHandler(team, { authenticate, ...o }));
    made.push(service, team);
    const api = `${service.url}/api/run`;
    let runId = "";
    const transport = new DefaultChatTransport<UIMessage>({
      api,
      headers: { ...STREAM, "x-user": "ada" },
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        runId = answer.headers.get("x-agentensemble-run-id") ?? runId;
        return answer;
      },
      prepareSendMessagesRequest: ({ messages }) => {
        const last = messages.at(-1);
        return { body: last?.role === "user" ? { question: textOf(last) } : { messages } };
      },
      prepareReconnectToStreamRequest: () => ({ api: `${api}/${runId}/stream` }),
    });
    const send = (messages: UIMessage[], abortSignal?: AbortSignal) =>
      transport.sendMessages({
        chatId: "c1",
        messageId: undefined,
        trigger: "submit-message",
        messages,
        abortSignal,
      });
    return { send, reconnect: () => transport.reconnectToStream({ chatId: "c1" }) };
  }

  it("reads the answer, and resumes it after a disconnection", async () => {
    const { send, reconnect } = await page({ streams: StreamStore.inMemory() });
    const end = new AbortController();
    const reader = (await send([QUESTION], end.signal)).getReader();
    await reader.read();
    end.abort();
    await reader.read().catch(() => undefined);
    for (const when of ["while it goes on", "after its end"]) {
      const stream = (await reconnect()) ?? expect.fail("the stream is kept");
      expect(textOf(await readMessage(stream)), when).to.equal("It is at 14:40.");
    }
  });

  it("resumes nothing if nothing is stored", async () => {
    const { send, reconnect } = await page({});
    expect(textOf(await readMessage(await send([QUESTION])))).to.equal("It is at 14:40.");
    expect(await reconnect()).to.equal(null);
  });

  it("answers an approval after a reload, and continues the message", async () => {
    const reviews = reviewInbox();
    const plugins = [review({ store: reviews })];
    const { send, reconnect } = await page(
      { reviews, streams: StreamStore.inMemory() },
      { approve: true, plugins },
    );
    await readMessage(await send([QUESTION]));
    const asked = await readMessage((await reconnect()) ?? expect.fail("the stream is kept"));
    const call = callOf(asked);
    expect(call.state).to.equal("approval-requested");
    const answered = {
      ...asked,
      parts: asked.parts.map((part) =>
        part === call
          ? {
              ...call,
              state: "approval-responded",
              approval: { id: call.approval?.id, approved: true },
            }
          : part,
      ),
    } as UIMessage; // the form of addToolApprovalResponse
    const whole = await readMessage(await send([QUESTION, answered]), answered);
    expect(whole.id).to.equal(asked.id);
    expect(callOf(whole).state).to.equal("output-available");
    expect(textOf(whole)).to.equal("It is at 14:40.");
  });
});

describe("the transport of useChat with a chatHandler", () => {
  it("requires the URL only: it sends, resumes, regenerates and receives errors", async () => {
    const gate = new Gate();
    let isFailing = false;
    const model = new ScriptedModel(async () => {
      if (isFailing) throw new Error("SECRET");
      await gate.pass();
      return { chunks: ["It is ", "at 14:40."] };
    });
    await using desk = await chatService({ model }, { streams: StreamStore.inMemory() });
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${desk.service.url}/api/chat`,
      headers: { "x-user": "ada" },
    });
    const send = (o: Partial<Parameters<typeof transport.sendMessages>[0]> = {}) =>
      transport.sendMessages({
        chatId: "c/1",
        messageId: undefined,
        trigger: "submit-message",
        messages: [QUESTION],
        abortSignal: undefined,
        ...o,
      });
    const end = new AbortController();
    const reader = (await send({ abortSignal: end.signal })).getReader();
    await reader.read();
    end.abort();
    await reader.read().catch(() => undefined);
    const again = await transport.reconnectToStream({ chatId: "c/1" });
    gate.open();
    const answer = await readMessage(again ?? expect.fail("the turn goes on"));
    expect(textOf(answer)).to.equal("It is at 14:40.");
    expect(answer.metadata).to.include({ threadId: "c/1" });
    expect(await transport.reconnectToStream({ chatId: "c/1" })).to.equal(null);
    const other = await readMessage(
      await send({ trigger: "regenerate-message", messageId: answer.id }),
    );
    expect(other.id).to.not.equal(answer.id);
    const stored = await desk.chat.thread("c/1", { owner: "ada" }).messages();
    expect(stored.map(({ role }) => role)).to.deep.equal(["user", "assistant"]);
    const twice = await send().catch((error: unknown) => String(error));
    expect(twice).to.include("AE_VALIDATION");
    isFailing = true;
    const failed = await send({ messages: [{ ...QUESTION, id: "m2" }] });
    expect((await collect(failed)).at(-1)).to.deep.equal({
      type: "error",
      errorText: "An error occurred. (AE_TASK_EXECUTION)",
    });
  });

  it("receives a readable error after the limit of a quota", async () => {
    const quota = { windowMs: 86_400_000, maxRequests: 1 };
    await using desk = await chatService({ quota });
    await collect(await sendOnce(desk.service.url, QUESTION));
    const error: unknown = await sendOnce(desk.service.url, { ...QUESTION, id: "m2" }).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.contain("The quota of 1 turn for this user is used up");
  });
});

function sendOnce(url: string, message: UIMessage): Promise<ReadableStream<UIMessageChunk>> {
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${url}/api/chat`,
    headers: { "x-user": "ada" },
  });
  return transport.sendMessages({
    chatId: "c1",
    messageId: undefined,
    trigger: "submit-message",
    messages: [message],
    abortSignal: undefined,
  });
}
