import type { EnsembleOptions } from "agentensemble";
import type { RunHandlerOptions } from "agentensemble/http";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { runHandler } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { StreamStore } from "agentensemble/ui";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect } from "chai";
import { authenticate, serve, STREAM } from "./service.js";

const QUESTION: UIMessage = {
  id: "m1",
  role: "user",
  parts: [{ type: "text", text: "When is high water?" }],
};

/** What `useChat` does with a stream. */
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

  /** A page that talks to a clerk, set up as the documentation has it. */
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

  it("reads the answer, and comes back to it after it has left", async () => {
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

  it("finds nothing to come back to where nothing is kept", async () => {
    const { send, reconnect } = await page({});
    expect(textOf(await readMessage(await send([QUESTION])))).to.equal("It is at 14:40.");
    expect(await reconnect()).to.equal(null);
  });

  it("answers an approval after a reload, and goes on with the message", async () => {
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
    } as UIMessage; // as addToolApprovalResponse makes it
    const whole = await readMessage(await send([QUESTION, answered]), answered);
    expect(whole.id).to.equal(asked.id);
    expect(callOf(whole).state).to.equal("output-available");
    expect(textOf(whole)).to.equal("It is at 14:40.");
  });
});
