import type { ConversationOptions } from "agentensemble";
import type { ChatHandlerOptions } from "agentensemble/http";
import { ConversationStore } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { StreamStore } from "agentensemble/ui";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect } from "chai";
import { Gate } from "../../conversation/gate.js";
import { chatService, partsIn, type ChatService } from "./chat-service.js";
import { memoryLog } from "./memory-log.js";

/** A page that is loaded: it requests the thread, then the turn in progress. */
interface LoadedPage {
  /** The received messages, as `role: text`. */
  readonly shown: readonly string[];
  /** Returns the messages after the turn in progress, with an `error` that it ended with. */
  resume(): Promise<readonly string[]>;
}

async function load({ service }: ChatService): Promise<LoadedPage> {
  const { body } = await service.ask("/api/chat/t");
  const { messages = [] } = body as { readonly messages?: readonly UIMessage[] };
  return {
    shown: messages.map(lineOf),
    resume: async () => {
      const transport = new DefaultChatTransport<UIMessage>({
        api: `${service.url}/api/chat`,
        headers: { "x-user": "ada" },
      });
      const stream = await transport.reconnectToStream({ chatId: "t" });
      if (stream === null) return messages.map(lineOf);
      const last = messages.at(-1);
      const before = last?.role === "assistant" ? last : undefined; // like useChat
      const errors: string[] = [];
      let message = before;
      for await (const next of readUIMessageStream({
        stream,
        ...(before !== undefined && { message: before }),
        onError: (error) => void errors.push(`error: ${String(error)}`),
      }))
        message = next;
      const others = before === undefined ? messages : messages.slice(0, -1);
      return [...others, ...(message === undefined ? [] : [message])].map(lineOf).concat(errors);
    },
  };
}

function lineOf({ role, parts }: UIMessage): string {
  return `${role}: ${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`;
}

describe("a page that is loaded while a turn ends", () => {
  const made: ChatService[] = [];
  afterEach(async () => {
    for (const desk of made.splice(0)) await desk[Symbol.asyncDispose]();
  });
  const open = async (
    o: Partial<ChatHandlerOptions>,
    conversation: Partial<ConversationOptions> = {},
  ): Promise<ChatService> => {
    const desk = await chatService(conversation, o);
    made.push(desk);
    return desk;
  };
  /** A model that answers when its gate is open. */
  const held = (gate: Gate, fails = false): ScriptedModel =>
    new ScriptedModel(async (_request, index) => {
      await gate.pass();
      if (fails) throw new Error("SECRET");
      return `Answer ${index}.`;
    });
  const whole = ["user: Where?", "assistant: Answer 0."];

  const stores: Readonly<Record<string, () => Partial<ChatHandlerOptions & ConversationOptions>>> =
    {
      "the store of streams": () => ({ streams: StreamStore.inMemory() }),
      "the log of runs": () => {
        const { log, record: on } = memoryLog();
        return { log, on };
      },
    };
  for (const [name, make] of Object.entries(stores))
    it(`receives its answer once, from ${name}`, async () => {
      const gate = new Gate();
      const { on, ...o } = make();
      const desk = await open(o, { model: held(gate), ...(on !== undefined && { on }) });
      const first = await desk.send("t", "Where?");
      const pages = [await load(desk), await load(desk)];
      for (const { shown } of pages) expect(shown).to.deep.equal(["user: Where?"]);
      gate.open();
      await partsIn(first);
      for (const { resume } of pages) expect(await resume()).to.deep.equal(whole);
      expect((await desk.service.fetch("/api/chat/t/stream")).status).to.equal(204);
    });

  it("receives no part twice if the answer is stored before the end of the turn", async () => {
    const memory = ConversationStore.inMemory();
    const stored = new Gate();
    const store: ConversationStore = {
      open: (id) => memory.open(id),
      read: (id, o) => memory.read(id, o),
      list: (o) => memory.list(o),
      delete: (id) => memory.delete(id),
      append: async (id, change) => {
        const head = await memory.append(id, change);
        await stored.pass();
        return head;
      },
    };
    const gate = new Gate();
    const desk = await open({ streams: StreamStore.inMemory() }, { store, model: held(gate) });
    const first = await desk.send("t", "Where?");
    const early = await load(desk);
    gate.open();
    await stored.arrival();
    const late = load(desk);
    let isLoaded = false;
    void late.then(() => (isLoaded = true));
    for (let i = 0; i < 3; i++) await desk.service.ask("/api/chat");
    expect(isLoaded, "the thread is sent before the end of the turn").to.equal(false);
    stored.open();
    await partsIn(first);
    expect((await late).shown).to.deep.equal(whole);
    expect(await (await late).resume()).to.deep.equal(whole);
    expect(early.shown).to.deep.equal(["user: Where?"]);
  });

  it("receives no part twice if another page received only the question", async () => {
    const gate = new Gate();
    const desk = await open({ streams: StreamStore.inMemory() }, { model: held(gate) });
    const first = await desk.send("t", "Where?");
    await load(desk); // the page is closed before it requests the stream
    gate.open();
    await partsIn(first);
    const later = await load(desk);
    expect(later.shown).to.deep.equal(whole);
    expect(await later.resume()).to.deep.equal(whole);
  });

  it("receives the displayed turn, and not the next one", async () => {
    const gates = [new Gate(), new Gate()];
    const model = new ScriptedModel(async (_request, index) => {
      await gates[index]?.pass();
      return `Answer ${index}.`;
    });
    const desk = await open({ streams: StreamStore.inMemory() }, { model });
    const first = await desk.send("t", "Where?");
    const page = await load(desk);
    gates[0]?.open();
    await partsIn(first);
    const second = await desk.send("t", "When?");
    await gates[1]?.arrival();
    expect(await page.resume()).to.deep.equal(whole);
    gates[1]?.open();
    await partsIn(second);
  });

  it("receives the error of a failed turn, and the thread without it later", async () => {
    const gate = new Gate();
    const desk = await open({ streams: StreamStore.inMemory() }, { model: held(gate, true) });
    const first = await desk.send("t", "Where?");
    const page = await load(desk);
    gate.open();
    await partsIn(first);
    expect(await page.resume()).to.deep.equal([
      "user: Where?",
      "assistant: ",
      "error: Error: An error occurred. (AE_TASK_EXECUTION)",
    ]);
    expect((await load(desk)).shown).to.deep.equal([]);
  });
});
