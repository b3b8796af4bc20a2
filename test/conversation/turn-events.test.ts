import type { EnsembleEvent, EventType, ThreadLock } from "agentensemble";
import {
  Agent,
  attachment,
  Conversation,
  ConversationStore,
  ConversationStoreError,
  definePlugin,
  HierarchicalConstraints,
  ReflectionStore,
  ValidationError,
  WindowPolicy,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection.js";
import { warningsOf } from "../support/warnings.js";

const agent = new Agent({ role: "Assistant", goal: "Answers" });

const eventsOf = async (turn: {
  readonly events: AsyncIterable<EnsembleEvent>;
}): Promise<readonly EnsembleEvent[]> => {
  const events: EnsembleEvent[] = [];
  for await (const event of turn.events) events.push(event);
  return events;
};
const pick = (events: readonly EnsembleEvent[], ...types: EventType[]): readonly EnsembleEvent[] =>
  events.filter(({ type }) => types.includes(type));

describe("the events of a turn", () => {
  it("report its start and, before the end of the run, its storage", async () => {
    const order: string[] = [];
    const watch = definePlugin({
      name: "watch",
      apply: ({ hooks }) =>
        hooks.afterRun.tap({ name: "watch", lane: "commit" }, () => void order.push("commit")),
    });
    const inMemory = ConversationStore.inMemory();
    const store: ConversationStore = {
      ...methodsOf(inMemory),
      append: (id, change) => (order.push("append"), inMemory.append(id, change)),
    };
    const model = new ScriptedModel(["one", "two", "summary", "three"]);
    await using chat = new Conversation({
      agent,
      model,
      store,
      plugins: [watch],
      window: WindowPolicy.summary({ turns: 1, keepTurns: 1 }),
    });
    const thread = chat.thread("t");
    await thread.send("1", { messageId: "m-1" });
    expect(order).to.deep.equal(["commit", "append"]);
    await thread.send("2");
    const events = await eventsOf(thread.stream("3", { messageId: "m-3" }));
    const [started, stored, ended] = pick(
      events,
      "turn_started",
      "turn_stored",
      "ensemble_completed",
    );
    expect(started).to.include({ type: "turn_started", threadId: "t", messageId: "m-3" });
    expect(stored).to.include({
      type: "turn_stored",
      threadId: "t",
      taskId: "turn",
      agentRole: "Assistant",
      version: 3,
      status: "completed",
      turnsInWindow: 1,
      summarized: true,
    });
    expect(ended?.type).to.equal("ensemble_completed");
  });

  it("report the storage of a failed turn only if it is kept", async () => {
    const failing = (): ScriptedModel =>
      new ScriptedModel(() => {
        throw new ValidationError("out of order");
      });
    for (const onFailure of ["discard", "keep"] as const) {
      await using chat = new Conversation({ agent, model: failing(), onFailure });
      const turn = chat.thread("t").stream("1", { throwOnError: false });
      const stored = pick(await eventsOf(turn), "turn_stored");
      expect(stored).to.have.length(onFailure === "keep" ? 1 : 0);
      if (onFailure === "keep") expect(stored[0]).to.include({ status: "failed", version: 1 });
      expect((await turn.result).status).to.equal("failed");
    }
  });

  it("are complete if the store fails, whose error contains the answer", async () => {
    const store: ConversationStore = {
      ...methodsOf(ConversationStore.inMemory()),
      append: () => Promise.reject(new Error("disk full")),
    };
    await using chat = new Conversation({ agent, model: new ScriptedModel(["fine"]), store });
    const turn = chat.thread("t").stream("1");
    const events = await eventsOf(turn);
    expect(pick(events, "turn_stored")).to.deep.equal([]);
    expect(pick(events, "ensemble_completed")).to.have.length(1);
    const error = await rejectionOf(ConversationStoreError, turn.result);
    expect(error.result?.text).to.equal("fine");
    expect(error.result?.output).to.have.property("raw", "fine");
  });
});

describe("the options of a conversation", () => {
  const model = new ScriptedModel(() => "fine");
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);
  const image = { type: "text", text: "What is it?" } as const;

  it("limit the parts of messages, in both directions", async () => {
    await using strict = new Conversation({
      agent,
      model,
      limits: { maxBytes: 1_000, types: ["application/pdf"] },
    });
    const refused = await rejectionOf(
      ValidationError,
      strict.thread("t").send([image, attachment.fromBytes(png, { mediaType: "image/png" })]),
    );
    expect(refused.message).to.include("image/png, which is not accepted");
    const many = Array.from({ length: 40 }, () => image);
    await using wide = new Conversation({ agent, model, limits: { maxParts: 50 } });
    expect((await wide.thread("t").send(many)).status).to.equal("completed");
    expect(() => new Conversation({ agent, model, limits: { maxbytes: 1 } as never })).to.throw(
      ValidationError,
      "maxBytes",
    );
  });

  it("are refused if they have no effect", () => {
    for (const [options, name] of [
      [{ hierarchicalConstraints: new HierarchicalConstraints({}) }, "hierarchicalConstraints"],
      [{ reflectionStore: ReflectionStore.inMemory() }, "reflectionStore"],
      [{ busy: "refuse", busyTimeoutMs: 5 }, "busyTimeoutMs"],
      [{ nextAgent: "other" }, "nextAgent"],
      [{ maxHandoffs: -1 }, "maxHandoffs"],
      [{ handoffs: [agent] }, "hand off to itself"],
    ] as const)
      expect(() => new Conversation({ agent, model, ...options } as never), name).to.throw(
        ValidationError,
        name,
      );
  });

  it("are refused if invalid, with the correct option in the hint", () => {
    for (const [options, message, hint] of [
      [{ agent: undefined }, "must have an agent", "new Agent("],
      [{ store: "./threads" }, "store must have a method open", 'ConversationStore.file("./th'],
      [{ window: 20 }, "window must have a method select", "WindowPolicy.lastTurns(20)"],
      [{ guardrails: [() => ({ ok: true })] }, "{ input, output }, not a list", "the answer"],
      [{ quota: { maxTokens: 5 } }, "quota must have windowMs", "86_400_000"],
      [{ memory: {} }, "Use memoryScopes", undefined],
      [{ systemPrompt: "Be kind" }, "Use `background` of the agent", undefined],
    ] as const) {
      const error = errorOf(() => new Conversation({ agent, model, ...options } as never));
      expect(error.message).to.include(message);
      if (hint !== undefined) expect(error.hint).to.include(hint);
    }
  });

  it("for a turn are listed in the error for an unknown option", async () => {
    await using chat = new Conversation({ agent, model });
    const error = await rejectionOf(
      ValidationError,
      chat.thread("t").send("hi", { onFailur: "keep" } as never),
    );
    expect(error.message)
      .to.include("Unknown option 'onFailur' in Turn")
      .and.include("'onFailure'");
    const other = await rejectionOf(ValidationError, chat.thread("t").send("hi", null as never));
    expect(other.message).to.equal("Turn options must be an object, got: null");
  });

  it("are refused without a model, in an error that omits the user's words", async () => {
    await using chat = new Conversation({ agent });
    const error = await rejectionOf(ValidationError, chat.thread("t").send("my secret question"));
    expect(JSON.stringify([error.message, error])).not.to.include("secret");
    expect(error.message).to.include("Agent 'Assistant'");
  });

  it("select the store even if a thread is renamed first", async () => {
    const store = ConversationStore.inMemory();
    await using first = new Conversation({ agent, model, store });
    await first.thread("t").send("hi");
    await using chat = new Conversation({ agent, model, store });
    await chat.thread("t").rename("Greeting");
    expect(await first.thread("t").head()).to.include({ title: "Greeting" });
    await using bare = new Conversation({ agent, model });
    await rejectionOf(ValidationError, bare.thread("t").rename("x"));
  });

  it("include a lock whose failed release causes a warning, while the answer remains available", async () => {
    const inMemory = ConversationStore.inMemory();
    const lock = async (): Promise<ThreadLock> => ({
      release: () => Promise.reject(new Error("connection lost")),
    });
    await using chat = new Conversation({
      agent,
      model,
      store: { ...methodsOf(inMemory), lock },
    });
    const warnings = await warningsOf(async () => {
      expect((await chat.thread("t").send("hi")).text).to.equal("fine");
    });
    expect(warnings.join()).to.include("could not be released: connection lost");
  });
});

function errorOf(work: () => unknown): ValidationError {
  try {
    work();
  } catch (error) {
    if (ValidationError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

function methodsOf(store: ConversationStore): ConversationStore {
  return {
    open: (id) => store.open(id),
    read: (id, query) => store.read(id, query),
    append: (id, change) => store.append(id, change),
    list: (query) => store.list(query),
    delete: (id) => store.delete(id),
  };
}
