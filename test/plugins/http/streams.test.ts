import type { EnsembleOptions, ReviewStore, RunStore } from "agentensemble";
import type { RunHandlerOptions } from "agentensemble/http";
import type { UIChunk } from "agentensemble/ui";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { runHandler } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel, type Step } from "agentensemble/testing";
import { StreamStore } from "agentensemble/ui";
import { expect } from "chai";
import { z } from "zod";
import { pause, until } from "../../support/time.js";
import {
  checkAgUiEvents,
  checkUiParts,
  messageOf,
  ofType,
  textsOf,
  typesOf,
} from "../ui/fixtures.js";
import { memoryLog } from "./memory-log.js";
import { authenticate, serve, STREAM, type Ask, type Service } from "./service.js";

/** Takes the parts of an answer as they come. */
async function* partsOf(answer: Response): AsyncGenerator<UIChunk> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of answer.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true }); // bodies of answers are bytes
    const lines = text.split("\n\n");
    text = lines.pop() ?? "";
    for (const line of lines)
      if (line !== "data: [DONE]") yield JSON.parse(line.slice("data: ".length)) as UIChunk; // our own stream
  }
}

async function allParts(answer: Response): Promise<readonly UIChunk[]> {
  const parts: UIChunk[] = [];
  for await (const part of partsOf(answer)) parts.push(part);
  return parts;
}

const CALL: Step = { toolCalls: [{ name: "tide", arguments: { harbour: "Husum" } }] };
const ANSWER: Step = { chunks: ["High water ", "at Husum ", "is at 14:40."] };
const TEXT = "High water at Husum is at 14:40.";

describe("streams of a handler of runs", () => {
  const made: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });

  interface Office {
    readonly service: Service;
    readonly calls: { readonly signal: AbortSignal; readonly answer: () => void }[];
    readonly ends: string[];
  }

  /** A clerk whose tool answers when the test says so, or at once. */
  const office = async (
    o: Partial<RunHandlerOptions> = {},
    { waits = false, ...options }: EnsembleOptions & { waits?: boolean; approve?: boolean } = {},
  ): Promise<Office> => {
    const calls: Office["calls"] = [];
    const ends: string[] = [];
    const tide = tool({
      name: "tide",
      description: "Returns the tide",
      input: z.object({ harbour: z.string() }),
      requireApproval: options.approve === true,
      execute: ({ harbour }, { signal }) =>
        new Promise<object>((resolve) => {
          const answer = (): void => resolve({ harbour, at: "14:40" });
          calls.push({ signal, answer });
          if (!waits) answer();
        }),
    });
    const agent = new Agent({ role: "Clerk", goal: "g", tools: [tide] });
    const { approve: _, on, ...rest } = options;
    const team = new Ensemble({
      model: new ScriptedModel((request) =>
        request.messages.some(({ role }) => role === "tool") ? ANSWER : CALL,
      ),
      tasks: [new Task({ description: "Secret task: {question}", agent })],
      on: (e) => {
        if (e.type === "ensemble_completed") ends.push(e.exitReason);
        if (typeof on === "function") on(e);
      },
      ...rest,
    });
    const service = await serve(runHandler(team, { authenticate, ...o }));
    made.push(service, team);
    return { service, calls, ends };
  };
  const start = (service: Service, o: Ask = {}): Promise<Response> =>
    service.fetch("/api/run", { body: { question: "tide?" }, headers: STREAM, ...o });
  const idOf = (answer: Response): string => answer.headers.get("x-agentensemble-run-id") ?? "";
  const resume = (service: Service, id: string, by = "ada"): Promise<Response> =>
    service.fetch(`/api/run/${id}/stream`, { by });

  it("are UI message streams, which the SDK reads", async () => {
    const { service } = await office();
    const answer = await start(service);
    expect(answer.headers.get("content-type")).to.equal("text/event-stream");
    expect(answer.headers.get("x-vercel-ai-ui-message-stream")).to.equal("v1");
    expect(answer.headers.get("cache-control")).to.equal("no-store, no-transform");
    const parts = await allParts(answer);
    await checkUiParts(parts);
    expect(parts[0]?.["messageId"]).to.equal(`${idOf(answer)}-a`);
    expect(textsOf(parts)).to.deep.equal([TEXT]);
    expect(JSON.stringify(parts)).to.not.include("Secret");
  });

  it("are AG-UI events or the events of the run, by the option", async () => {
    const agUi = await office({ protocol: "ag-ui" });
    checkAgUiEvents(await allParts(await start(agUi.service)));
    const plain = await office({ protocol: "events" });
    const answer = await start(plain.service);
    expect(answer.headers.has("x-vercel-ai-ui-message-stream")).to.equal(false);
    const types = typesOf(await allParts(answer));
    expect(types[0]).to.equal("ensemble_started");
    expect(types).to.include.members(["tool_called", "token", "task_completed"]);
    expect(types.at(-1)).to.equal("ensemble_completed");
  });

  it("are no streams if the inputs are invalid: the status is an error", async () => {
    const { service } = await office();
    const answer = await service.fetch("/api/run", { body: {}, headers: STREAM });
    expect(answer.status).to.equal(400);
    expect(await answer.json()).to.have.nested.property(
      "error.message",
      "Missing inputs: question",
    );
  });

  it("end with a masked error, or the text of onError", async () => {
    const model = new ScriptedModel([]);
    for (const [o, text] of [
      [{}, "An error occurred. (AE_TASK_EXECUTION)"],
      [{ onError: () => "sorry" }, "sorry"],
      [{ onError: () => "no", ui: { onError: () => "for pages" } }, "for pages"],
    ] as const) {
      const { service } = await office(o, { model });
      const parts = await allParts(await start(service));
      expect(parts.at(-1)).to.deep.equal({ type: "error", errorText: text });
    }
  });

  it("end the run when the client disconnects between a call and its result", async () => {
    const { service, calls, ends } = await office({}, { waits: true });
    const leaving = new AbortController();
    const answer = await start(service, { signal: leaving.signal });
    await until(() => calls.length === 1);
    leaving.abort();
    await answer.text().catch(() => undefined);
    await until(() => ends.length === 1);
    expect(calls[0]?.signal.aborted).to.equal(true);
    expect(ends).to.deep.equal(["CANCELLED"]);
    expect((await resume(service, idOf(answer))).status).to.equal(204);
  });

  it("continue the run after a disconnection, with the option", async () => {
    const { service, calls, ends } = await office(
      { ui: { onDisconnect: "finish" } },
      { waits: true },
    );
    const leaving = new AbortController();
    const answer = await start(service, { signal: leaving.signal });
    await until(() => calls.length === 1);
    leaving.abort();
    await answer.text().catch(() => undefined);
    await pause(20);
    expect(calls[0]?.signal.aborted).to.equal(false);
    calls[0]?.answer();
    await until(() => ends.length === 1);
    expect(ends).to.deep.equal(["COMPLETED"]);
  });

  it("are read again from the first part by two concurrent clients, and only by their owner", async () => {
    const { service, calls } = await office({ streams: StreamStore.inMemory() }, { waits: true });
    const first = await start(service);
    await until(() => calls.length === 1);
    const [second, third] = await Promise.all([
      resume(service, idOf(first)),
      resume(service, idOf(first)),
    ]);
    for (const by of ["bob", "root"])
      expect((await resume(service, idOf(first), by)).status).to.equal(404);
    expect((await resume(service, "no-such-run")).status).to.equal(404);
    calls[0]?.answer();
    const streams = await Promise.all([first, second, third].map(allParts));
    await checkUiParts(streams[0] ?? []);
    expect(streams[1]).to.deep.equal(streams[0]);
    expect(streams[2]).to.deep.equal(streams[0]);
    expect(await allParts(await resume(service, idOf(first)))).to.deep.equal(streams[0]);
  });

  it("continue without a reader if they are stored, or end with the last reader", async () => {
    for (const onDisconnect of [undefined, "cancel"] as const) {
      const { service, calls, ends } = await office(
        { streams: StreamStore.inMemory(), ui: { onDisconnect } },
        { waits: true },
      );
      const leaving = [new AbortController(), new AbortController()];
      const first = await start(service, { signal: leaving[0]?.signal ?? null });
      await until(() => calls.length === 1);
      const second = await service.fetch(`/api/run/${idOf(first)}/stream`, {
        signal: leaving[1]?.signal ?? null,
      });
      leaving[0]?.abort();
      await first.text().catch(() => undefined);
      await pause(20);
      expect(calls[0]?.signal.aborted).to.equal(false);
      leaving[1]?.abort();
      await second.text().catch(() => undefined);
      if (onDisconnect === undefined) {
        await pause(20);
        calls[0]?.answer();
      }
      await until(() => ends.length === 1);
      expect(ends).to.deep.equal([onDisconnect === undefined ? "COMPLETED" : "CANCELLED"]);
      const again = await allParts(await resume(service, idOf(first)));
      expect(again.at(-1)?.type).to.equal(onDisconnect === undefined ? "finish" : "abort");
    }
  });

  it("are stopped by DELETE", async () => {
    const { service, calls } = await office({ streams: StreamStore.inMemory() }, { waits: true });
    const first = await start(service);
    await until(() => calls.length === 1);
    const stopped = await service.ask(`/api/run/${idOf(first)}`, { method: "DELETE" });
    expect(stopped.status).to.equal(202);
    expect((await allParts(first)).at(-1)?.type).to.equal("abort");
  });

  it("end with an error if the store drops them or fails", async () => {
    const { service, calls, ends } = await office(
      { streams: StreamStore.inMemory({ maxBytes: 600 }) },
      { waits: true },
    );
    const first = await start(service);
    await until(() => calls.length === 1);
    calls[0]?.answer();
    const parts = await allParts(first);
    expect(parts.at(-1)?.["errorText"]).to.match(/AE_STREAM_LOST/);
    await until(() => ends.length === 1);
    expect((await resume(service, idOf(first))).status).to.equal(204);
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const broken: StreamStore = {
      append: () => Promise.reject(new Error("the store is away")),
      read: () => undefined,
      end: () => undefined,
    };
    const failing = await office({ streams: broken });
    expect((await start(failing.service)).status).to.equal(500);
    expect((await warned).message).to.include("the store is away");
  });

  it("end with an error if the store fails during the stream", async () => {
    const kept = StreamStore.inMemory();
    const streams: StreamStore = {
      append: (id, n, chunks) => {
        if (n === 4) throw new Error("the store is away");
        return kept.append(id, n, chunks);
      },
      read: (id, from, signal) => kept.read(id, from, signal),
      end: (id) => kept.end(id),
    };
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const { service, ends } = await office({ streams });
    const parts = await allParts(await start(service));
    await checkUiParts(parts);
    expect(parts).to.have.length(5);
    expect(parts.at(-1)).to.deep.equal({ type: "error", errorText: "An error occurred." });
    expect((await warned).message).to.include("the store is away");
    await until(() => ends.length === 1);
    expect(ends).to.deep.equal(["COMPLETED"]);
  });

  it("are rebuilt from the log, also after a restart", async () => {
    const { log, record } = memoryLog();
    const { service } = await office({ log }, { on: record });
    const first = await start(service);
    const parts = await allParts(first);
    const restarted = await office({ log });
    for (const by of [service, restarted.service]) {
      const again = await allParts(await resume(by, idOf(first)));
      await checkUiParts(again);
      expect(textsOf(again)).to.deep.equal(textsOf(parts));
      expect(again.at(-1)?.type).to.equal("finish");
      expect((await resume(by, idOf(first), "bob")).status).to.equal(404);
      expect((await resume(by, "no-such-run")).status).to.equal(404);
    }
  });

  it("of an incomplete log end with an error", async () => {
    const { log, record } = memoryLog();
    let isKilled = false;
    const { service, calls } = await office(
      { log },
      { waits: true, on: (e) => void (isKilled || (typeof record === "function" && record(e))) },
    );
    const first = await start(service);
    await until(() => calls.length === 1);
    isKilled = true;
    const restarted = await office({ log });
    const parts = await allParts(await resume(restarted.service, idOf(first)));
    await checkUiParts(parts);
    expect(typesOf(parts)).to.include("tool-input-available");
    expect(parts.at(-1)?.["errorText"]).to.match(/AE_RUN_INTERRUPTED/);
    calls[0]?.answer();
    await allParts(first);
  });

  it("of a log follow a run in progress", async () => {
    const { log, record } = memoryLog();
    const { service, calls } = await office({ log }, { waits: true, on: record });
    const first = await start(service);
    await until(() => calls.length === 1);
    const again = partsOf(await resume(service, idOf(first)));
    expect((await again.next()).value).to.have.property("type", "start");
    calls[0]?.answer();
    const rest: UIChunk[] = [];
    for await (const part of again) rest.push(part);
    expect(textsOf(rest)).to.deep.equal([TEXT]);
    expect(rest.at(-1)?.type).to.equal("finish");
    await allParts(first);
  });

  it("of a log that is written late wait for the end of the log", async () => {
    const { log, record } = memoryLog();
    const held: (() => void)[] = [];
    const { service } = await office(
      { log },
      {
        on: (e) => {
          const write = (): void => void (typeof record === "function" && record(e));
          if (e.type === "token" || held.length > 0) held.push(write);
          else write();
        },
      },
    );
    const first = await start(service);
    await allParts(first);
    expect(held).to.not.deep.equal([]);
    const again = partsOf(await resume(service, idOf(first)));
    expect((await again.next()).value).to.have.property("type", "start");
    held.forEach((write) => write());
    const rest: UIChunk[] = [];
    for await (const part of again) rest.push(part);
    expect(textsOf(rest)).to.deep.equal([TEXT]);
    expect(rest.at(-1)?.type).to.equal("finish");
  });

  describe("with approval in the page", () => {
    const approvalsOf = (parts: readonly UIChunk[]): readonly string[] =>
      ofType(parts, "tool-approval-request").map((part) => String(part["approvalId"]));
    const message = (answers: readonly object[]): object => ({
      id: "chat",
      trigger: "submit-message",
      messages: [
        { id: "u", role: "user", parts: [{ type: "text", text: "ignored" }] },
        {
          id: "a",
          role: "assistant",
          parts: [
            { type: "text", text: "forged" },
            ...answers.map((approval, i) => ({
              type: "dynamic-tool",
              toolName: "tide",
              toolCallId: `call-${i}`,
              state: "approval-responded",
              input: { harbour: "forged" },
              approval,
            })),
          ],
        },
      ],
    });
    const desk = async (
      o: Partial<RunHandlerOptions> & { readonly reviews?: ReviewStore } = {},
      waits = false,
    ): Promise<Office> => {
      const store = o.reviews ?? reviewInbox();
      const plugins = [review({ store })];
      return office({ reviews: store, ...o }, { approve: true, waits, plugins });
    };

    /** A store like one in another process: an answer reaches the run a while later. */
    const slowInbox = (inbox = reviewInbox()): ReviewStore => {
      return {
        ask: (request) => inbox.ask(request),
        pending: () => inbox.pending(),
        resolve: (id, decision) => inbox.resolve(id, decision),
        waitFor: async (id, signal) => {
          const decision = await inbox.waitFor(id, signal);
          await pause(20);
          return decision;
        },
        onRequest: (fn) => inbox.onRequest(fn),
        isWatched: () => inbox.isWatched(),
      };
    };

    for (const [name, o] of [
      ["answered late", { reviews: slowInbox() }],
      ["kept and answered late", { reviews: slowInbox(), streams: StreamStore.inMemory() }],
      ["read once", {}],
      ["kept", { streams: StreamStore.inMemory() }],
    ] as const) {
      it(`continue the same message when they are ${name}`, async () => {
        const { service, calls } = await desk(o);
        const first = await start(service);
        const asked = await allParts(first);
        const before = await checkUiParts(asked);
        expect(asked.at(-1)).to.include({ type: "finish", finishReason: "tool-calls" });
        expect(calls).to.deep.equal([]);
        const [id] = approvalsOf(asked);
        const next = await service.fetch("/api/run", { body: message([{ id, approved: true }]) });
        expect(next.status).to.equal(200);
        expect(idOf(next)).to.equal(idOf(first));
        const rest = await allParts(next);
        expect(rest[0]?.["messageId"]).to.equal(asked[0]?.["messageId"]);
        expect(textsOf(rest)).to.deep.equal([TEXT]);
        expect(calls).to.have.length(1);
        const whole = await messageOf(rest, before);
        expect(whole.parts.filter(({ type }) => type === "dynamic-tool")).to.have.length(1);
      });
    }

    it("are rebuilt from the log up to the question, for a run that waits in this or another process", async () => {
      const { log, record } = memoryLog();
      const inbox = reviewInbox();
      const plugins = [review({ store: inbox })];
      const { service } = await office(
        { log, reviews: inbox },
        { approve: true, plugins, on: record },
      );
      const first = await start(service);
      const parts = await allParts(first);
      const id = idOf(first);
      const waiting = {
        ...log,
        get: async (runId: string) => ({ ...(await log.get(runId)), state: "waiting" }),
      };
      const elsewhere = await office({ log: waiting as RunStore, reviews: inbox });
      for (const by of [service, elsewhere.service]) {
        const again = await allParts(await resume(by, id));
        await checkUiParts(again);
        expect(typesOf(again)).to.deep.equal(typesOf(parts));
        expect(again.at(-1)).to.include({ type: "finish", finishReason: "tool-calls" });
      }
      const dead = await office({ log, reviews: inbox });
      const last = (await allParts(await resume(dead.service, id))).at(-1);
      expect(last?.["errorText"]).to.match(/AE_RUN_INTERRUPTED/);
      const [approval = ""] = approvalsOf(parts);
      const rest = await service.fetch("/api/run", {
        body: message([{ id: approval, approved: true }]),
        headers: STREAM,
      });
      expect(textsOf(await allParts(rest))).to.deep.equal([TEXT]);
    });

    it("do not make the call after a refusal, and the model receives the reason", async () => {
      const { service, calls } = await desk();
      const asked = await allParts(await start(service));
      const answers = approvalsOf(asked).map((id) => ({ id, approved: false, reason: "not now" }));
      const rest = await allParts(await service.fetch("/api/run", { body: message(answers) }));
      expect(typesOf(rest)).to.include("tool-output-denied");
      expect(rest.at(-1)).to.include({ type: "finish", finishReason: "stop" });
      expect(calls).to.deep.equal([]);
    });

    it("accept answers to known questions from their own principal, once", async () => {
      const { service, calls } = await desk({}, true);
      const asked = await allParts(await start(service));
      const [id] = approvalsOf(asked);
      const answer = (approval: object, by = "ada") =>
        service.ask("/api/run", { body: message([approval]), by });
      for (const by of ["bob", "root"])
        expect((await answer({ id, approved: true }, by)).status, by).to.equal(404);
      expect((await answer({ id: "other", approved: true })).status).to.equal(404);
      for (const wrong of [{ id }, { id, approved: "yes" }, { id, approved: true, reason: 1 }])
        expect((await answer(wrong)).status).to.equal(400);
      expect(calls).to.deep.equal([]);
      const statuses: number[] = [];
      const sent = [1, 2].map(() =>
        answer({ id, approved: true }).then(({ status }) => statuses.push(status)),
      );
      await until(() => statuses.length === 1 && calls.length === 1);
      expect(statuses).to.deep.equal([409]);
      calls[0]?.answer();
      await Promise.all(sent);
      expect(statuses).to.deep.equal([409, 200]);
      expect(calls).to.have.length(1);
    });

    it("accept no answer from a principal without the required role", async () => {
      const inbox = reviewInbox();
      const store: ReviewStore = Object.assign(slowInbox(inbox), {
        pending: () => inbox.pending().map((one) => ({ ...one, requiredRole: "finance" })),
      });
      const { service, calls } = await desk({ reviews: store });
      const body = (parts: readonly UIChunk[]): object =>
        message(approvalsOf(parts).map((id) => ({ id, approved: true })));
      const asked = await allParts(await start(service));
      expect((await service.ask("/api/run", { body: body(asked) })).status).to.equal(403);
      expect(inbox.pending()).to.have.length(1);
      const ofCleo = await allParts(await start(service, { by: "cleo" }));
      const answered = await service.ask("/api/run", { body: body(ofCleo), by: "cleo" });
      expect(answered.status).to.equal(200);
      expect(calls).to.have.length(1);
    });

    it("show their state to a page that reconnects, and the remaining parts to a page that connects later", async () => {
      const { service } = await desk({ streams: StreamStore.inMemory() });
      const first = await start(service);
      const asked = await allParts(first);
      expect(await allParts(await resume(service, idOf(first)))).to.deep.equal(asked);
      const [id] = approvalsOf(asked);
      const body = message([{ id, approved: true }]);
      const rest = await allParts(await service.fetch("/api/run", { body }));
      const again = await allParts(await resume(service, idOf(first)));
      expect(again).to.deep.equal([...asked.slice(0, -1), ...rest]);
      expect(await allParts(await service.fetch("/api/run", { body }))).to.deep.equal(rest);
    });

    it("continue when the previous, answered request is aborted late", async () => {
      const reviews = reviewInbox();
      const remove = tool({
        name: "remove",
        description: "d",
        requireApproval: true,
        execute: () => "ok",
      });
      const team = new Ensemble({
        model: new ScriptedModel([{ toolCalls: [{ name: "remove", arguments: {} }] }, ANSWER]),
        tasks: [
          new Task({
            description: "d",
            agent: new Agent({ role: "r", goal: "g", tools: [remove] }),
          }),
        ],
        plugins: [review({ store: reviews })],
      });
      made.push(team);
      const handler = runHandler(team, { authenticate, reviews });
      const post = (body: object, signal: AbortSignal | null = null): Promise<Response> =>
        handler(
          new Request("http://127.0.0.1/api/run", {
            method: "POST",
            headers: { "content-type": "application/json", "x-user": "ada", ...STREAM },
            body: JSON.stringify(body),
            signal,
          }),
        );
      const end = new AbortController();
      const asked = await allParts(await post({}, end.signal));
      const [id] = approvalsOf(asked);
      const next = await post(message([{ id, approved: true }]));
      end.abort(); // some servers do so after each request
      const rest = await allParts(next);
      expect(rest.at(-1)).to.include({ type: "finish", finishReason: "stop" });
      expect(textsOf(rest)).to.deep.equal([TEXT]);
    });

    for (const [name, o] of [
      ["read once", {}],
      ["kept", { streams: StreamStore.inMemory() }],
    ] as const) {
      it(`do not wait if the answer arrived before, when they are ${name}`, async () => {
        const reviews = reviewInbox();
        const two = [
          { toolCalls: [{ name: "tide", arguments: { harbour: "Husum" } }] },
          { toolCalls: [{ name: "tide", arguments: { harbour: "List" } }] },
          ANSWER,
        ];
        const { service, calls } = await office(
          { reviews, ...o },
          { approve: true, plugins: [review({ store: reviews })], model: new ScriptedModel(two) },
        );
        const answer = (id: string | undefined): Promise<Response> =>
          service.fetch("/api/run", { body: message([{ id, approved: true }]) });
        const [first] = approvalsOf(await allParts(await start(service)));
        const [second] = approvalsOf(await allParts(await answer(first)));
        expect(second).to.not.equal(undefined);
        expect((await answer(first)).status).to.equal(409);
        expect(textsOf(await allParts(await answer(second)))).to.deep.equal([TEXT]);
        expect(calls).to.have.length(2);
      });
    }

    it("watch their store until the handler is closed", async () => {
      let watchers = 0;
      const reviews: ReviewStore = Object.assign(slowInbox(), {
        onRequest: () => {
          watchers++;
          return () => void watchers--;
        },
      });
      const team = new Ensemble({ tasks: [new Task({ description: "x", handler: () => "x" })] });
      made.push(team);
      const handler = runHandler(team, { authenticate, reviews });
      expect(watchers).to.equal(1);
      handler.close();
      expect(watchers).to.equal(0);
      runHandler(team, { authenticate }).close();
    });

    it("are inputs if they contain no answer", async () => {
      const echo = new Task({ description: "x", handler: ({ inputs }) => JSON.stringify(inputs) });
      const { service } = await desk({});
      const team = new Ensemble({ tasks: [echo] });
      const other = await serve(runHandler(team, { authenticate, reviews: reviewInbox() }));
      made.push(other, team);
      const body = { messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }] };
      const { body: answer } = await other.ask("/api/run", { body });
      expect(answer).to.have.nested.property("output.raw", JSON.stringify(body));
      expect(service.port).to.not.equal(other.port);
    });
  });
});
