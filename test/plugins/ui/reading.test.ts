import type { EnsembleEvent, RunHandle } from "agentensemble";
import type { UIChunk } from "agentensemble/ui";
import { createServer } from "node:http";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Agent, AgentEnsembleError, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { toAgUiEvents, toUIMessageStream, toUIMessageStreamResponse } from "agentensemble/ui";
import { DefaultChatTransport } from "ai";
import { expect } from "chai";
import { collect } from "../../support/collect.js";
import { rejection } from "../../support/rejection.js";
import { checkUiParts, handleOf, ofType, partsOf, started, textsOf, typesOf } from "./fixtures.js";

const TOKENS = 5_000;
const chunks = Array.from({ length: TOKENS }, (_, i) => `${i} `);
const talkative = () => ({
  model: new ScriptedModel([{ text: chunks.join(""), chunks }]),
  tasks: [Task.of("t")],
});

/** A run that waits in a tool until it is cancelled. */
function waiting(): {
  readonly handle: RunHandle;
  readonly called: Promise<void>;
  readonly isAborted: () => boolean;
} {
  let begin: () => void = () => undefined;
  const called = new Promise<void>((resolve) => (begin = resolve));
  let aborted = false;
  const wait = tool({
    name: "wait",
    description: "Waits",
    execute: (_input, { signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => {
          aborted = true;
          resolve("late");
        });
        begin();
      }),
  });
  const model = new ScriptedModel([{ toolCalls: [{ id: "w", name: "wait", arguments: {} }] }, "x"]);
  const agent = new Agent({ role: "A", goal: "g", model, tools: [wait] });
  const handle = started({ tasks: [new Task({ description: "d", agent })] });
  return { handle, called, isAborted: () => aborted };
}

const eventOf = (event: Partial<EnsembleEvent>): EnsembleEvent =>
  ({ v: 1, seq: 0, runId: "run-1", at: "", agentRole: "A", ...event }) as EnsembleEvent; // whole for its type

async function* eventsOf(
  ...events: readonly Partial<EnsembleEvent>[]
): AsyncGenerator<EnsembleEvent> {
  for (const event of events) yield await Promise.resolve(eventOf(event));
}

describe("reading the stream of a run", () => {
  it("merges unread parts for a slow reader, without losing text", async () => {
    const handle = started(talkative());
    const stream = toUIMessageStream(handle);
    await handle.output;
    const parts = await partsOf(stream);
    expect(textsOf(parts)).to.deep.equal([chunks.join("")]);
    expect(ofType(parts, "text-delta").length).to.be.lessThan(TOKENS / 50);
    await checkUiParts(parts);
  });

  it("keeps at most 64 parts for a reader that does not read", async () => {
    let taken = 0;
    async function* endless(): AsyncGenerator<EnsembleEvent> {
      for (;;) {
        taken++;
        yield await Promise.resolve(
          eventOf({ type: "budget_exceeded", taskId: `t${taken}`, limit: `l${taken}` }),
        );
      }
    }
    const handle = handleOf(endless(), new Promise(() => undefined));
    const reader = toUIMessageStream(handle).getReader();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(taken).to.be.within(60, 66);
    for (let i = 0; i < 10; i++) await reader.read();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(taken).to.be.within(70, 76);
    await reader.cancel();
    expect(handle.cancelled).to.have.length(1);
  });

  it("cancels the run when the reader disconnects", async () => {
    const { handle, called, isAborted } = waiting();
    const reader = toUIMessageStream(handle).getReader();
    await called;
    await reader.cancel();
    expect(await rejection(handle.output)).to.have.property("code", "AE_RUN_CANCELLED");
    expect(isAborted()).to.equal(true);
  });

  it("allows the run to finish without its reader if requested", async () => {
    const handle = started(talkative());
    const reader = toUIMessageStream(handle, { onDisconnect: "finish" }).getReader();
    await reader.read();
    await reader.cancel();
    expect((await handle.output).exitReason).to.equal("COMPLETED");
    expect((await collect(handle.events)).length).to.equal(0); // none are kept
  });

  it("cancels the run when the loop over AG-UI events is left", async () => {
    const { handle } = waiting();
    for await (const event of toAgUiEvents(handle)) {
      expect(event.type).to.equal("RUN_STARTED");
      break;
    }
    expect(await rejection(handle.output)).to.have.property("code", "AE_RUN_CANCELLED");
  });

  it("ends with an error, and cancels the run, if the events can't be read", async () => {
    async function* overflowing(): AsyncGenerator<EnsembleEvent> {
      yield await Promise.resolve(eventOf({ type: "run_warning", message: "m" }));
      throw new AgentEnsembleError("AE_EVENTS_OVERFLOW", "too slow");
    }
    const handle = handleOf(overflowing(), new Promise(() => undefined));
    const parts = await partsOf(toUIMessageStream(handle));
    expect(parts.at(-1)).to.deep.equal({
      type: "error",
      errorText: "An error occurred. (AE_EVENTS_OVERFLOW)",
    });
    expect(handle.cancelled).to.have.length(1);
  });

  it("ends with an error if a function of the options throws", async () => {
    const broken = (): never => {
      throw new Error("mine");
    };
    for (const options of [{ metadata: broken }, { text: broken }]) {
      const place = { taskIndex: 1, totalTasks: 1, taskDescription: "d", attempt: 1 };
      const events = eventsOf({ type: "task_started", taskId: "t", ...place });
      const handle = handleOf(events, new Promise(() => undefined));
      const parts = await partsOf(toUIMessageStream(handle, options));
      expect(parts.at(-1)).to.deep.equal({ type: "error", errorText: "An error occurred." });
      expect(handle.cancelled).to.have.length(1);
    }
  });
});

describe("toUIMessageStreamResponse()", () => {
  it("sends server-sent events with the headers of the protocol", async () => {
    const handle = started({ model: new ScriptedModel(["one\ntwo"]), tasks: [Task.of("t")] });
    const response = toUIMessageStreamResponse(handle, {
      status: 201,
      headers: { "X-Mine": "yes", "cache-control": "no-store" },
    });
    expect(response.status).to.equal(201);
    expect(Object.fromEntries(response.headers)).to.deep.equal({
      "cache-control": "no-store",
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
      "x-mine": "yes",
      "x-vercel-ai-ui-message-stream": "v1",
    });
    const lines = (await response.text()).split("\n\n");
    expect(lines.slice(-2)).to.deep.equal(["data: [DONE]", ""]);
    const parts = lines.slice(0, -2).map((line) => JSON.parse(line.slice(6)) as UIChunk);
    expect(textsOf(parts)).to.deep.equal(["one\ntwo"]);
    await checkUiParts(parts);
  });

  it("refuses a status without a body, and invalid headers", () => {
    const handle = handleOf(eventsOf(), new Promise(() => undefined));
    for (const options of [{ status: 204 }, { status: 99 }, { headers: { "a b": "c" } }])
      expect(() => toUIMessageStreamResponse(handle, options))
        .to.throw()
        .with.property("code", "AE_VALIDATION");
  });

  it("can be read by the transport of useChat, whose disconnection cancels the run and its tool", async () => {
    const { handle, called, isAborted } = waiting();
    const server = createServer((_request, outgoing) => {
      const { status, headers, body } = toUIMessageStreamResponse(handle);
      outgoing.writeHead(status, Object.fromEntries(headers));
      if (body !== null) pipeline(Readable.fromWeb(body), outgoing).catch(() => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const page = new AbortController();
    const stream = await new DefaultChatTransport({
      api: `http://127.0.0.1:${port}/`,
    }).sendMessages({
      chatId: "c",
      messageId: undefined,
      trigger: "submit-message",
      messages: [],
      abortSignal: page.signal,
    });
    const seen: UIChunk[] = [];
    const reading = (async () => {
      for await (const part of stream as ReadableStream<UIChunk>) {
        seen.push(part);
        if (part.type === "tool-input-available") void called.then(() => page.abort());
      }
    })();
    await rejection(reading);
    expect(await rejection(handle.output)).to.have.property("code", "AE_RUN_CANCELLED");
    expect(isAborted()).to.equal(true);
    expect(typesOf(seen).at(-1)).to.equal("tool-input-available");
    server.closeAllConnections();
    server.close();
  });
});
