import type { ChatMessage, ChatRequest, EnsembleEvent, ThreadMessage } from "agentensemble";
import {
  AccessDeniedError,
  Agent,
  Conversation,
  ConversationConflictError,
  ConversationStore,
  ConversationStoreError,
  createToken,
  GuardrailViolationError,
  RunCancelledError,
  runValue,
  ThreadBusyError,
  tool,
  ValidationError,
} from "agentensemble";
import { ScriptedModel, type Step } from "agentensemble/testing";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection.js";
import { Gate, gatedTool } from "./gate.js";

const agent = new Agent({ role: "Assistant", goal: "Answers in one sentence" });

const texts = (messages: readonly (ThreadMessage | ChatMessage)[]): readonly unknown[] =>
  messages.map(({ role, content }) => [role, content]);

const requestAt = (model: ScriptedModel, index: number): ChatRequest => {
  const request = model.requests[index];
  if (request === undefined) throw new Error(`there was no request ${index}`);
  return request;
};

const echoing = (): ScriptedModel =>
  new ScriptedModel(({ messages }) => `re: ${messages.at(-1)?.content as string}`);

const look = tool({ name: "look", description: "Looks something up", execute: () => "found" });

/** A model whose calls wait for a gate. */
const gated = (gate: Gate): ScriptedModel =>
  new ScriptedModel(async () => {
    await gate.pass();
    return "done";
  });

describe("Conversation", () => {
  it("sends the instructions, the thread and the unchanged message", async () => {
    const model = new ScriptedModel(["Hello Ada.", "Ada."]);
    await using chat = new Conversation({ agent, model });
    const thread = chat.thread("user-42");
    await thread.send("My name is {Ada}.");
    const { text, messages, status, turnId, finishReason } = await thread.send("What is my name?");
    expect({ text, status, finishReason }).to.deep.equal({
      text: "Ada.",
      status: "completed",
      finishReason: "stop",
    });
    expect(texts(requestAt(model, 1).messages)).to.deep.equal([
      ["system", "You are Assistant.\n\nYour goal: Answers in one sentence"],
      ["user", "My name is {Ada}."],
      ["assistant", "Hello Ada."],
      ["user", "What is my name?"],
    ]);
    expect(messages.map(({ id }) => id)).to.deep.equal([`${turnId}-0`, `${turnId}-1`]);
    expect(texts(await thread.messages())).to.have.length(4);
    expect(await thread.head()).to.include({ version: 2, turns: 2, agentRole: "Assistant" });
  });

  it("separates threads", async () => {
    const model = echoing();
    await using chat = new Conversation({ agent, model });
    await chat.thread("a").send("secret of a");
    await chat.thread("b").send("hello");
    expect(JSON.stringify(requestAt(model, 1).messages)).not.to.contain("secret");
    const { threads } = await chat.threads();
    expect(threads.map(({ id }) => id).sort()).to.deep.equal(["a", "b"]);
  });

  it("keeps tool calls and their results for the next turn", async () => {
    const model = new ScriptedModel([
      { toolCalls: [{ name: "look", arguments: { input: "x" } }] },
      "It is there.",
      "As I said.",
    ]);
    await using chat = new Conversation({ agent, model, tools: [look] });
    const thread = chat.thread("t");
    const { messages, output } = await thread.send("Where?");
    expect(messages.map(({ role }) => role)).to.deep.equal([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(output.totalToolCalls).to.equal(1);
    await thread.send("Sure?");
    const [, , call, result] = requestAt(model, 2).messages;
    expect(call).to.have.property("role", "assistant");
    expect(call).to.have.nested.property("toolCalls[0].name", "look");
    expect(result).to.deep.include({ role: "tool", content: "found", toolName: "look" });
    expect(result).not.to.have.any.keys("id", "turnId", "at", "agentRole");
  });

  it("omits tool calls for an agent without tools", async () => {
    const model = new ScriptedModel([
      { text: "Let me see.", toolCalls: [{ name: "look", arguments: { input: "x" } }] },
      "It is there.",
      "Yes.",
    ]);
    const clerk = agent.with({ tools: [look] });
    await using chat = new Conversation({ agent: clerk, model });
    await chat.thread("t").send("Where?");
    await chat.thread("t").send("Sure?", { agent });
    expect(texts(requestAt(model, 2).messages).slice(1)).to.deep.equal([
      ["user", "Where?"],
      ["assistant", "Let me see."],
      ["assistant", "It is there."],
      ["user", "Sure?"],
    ]);
  });

  it("streams the text and the events, and settles output and result after storing", async () => {
    await using chat = new Conversation({ agent, model: new ScriptedModel(["Hello you."]) });
    const turn = chat.thread("t").stream("Hi");
    const pieces: string[] = [];
    const events: EnsembleEvent[] = [];
    for await (const piece of turn.text) pieces.push(piece);
    expect(await chat.thread("t").messages()).to.have.length(2);
    for await (const event of turn.events) events.push(event);
    expect(pieces.join("")).to.equal("Hello you.");
    expect(events.map(({ type }) => type)).to.include.members([
      "task_started",
      "ensemble_completed",
    ]);
    const [output, result] = await Promise.all([turn.output, turn.result]);
    expect(result.output).to.equal(output);
    expect([turn.id, turn.threadId]).to.deep.equal([output.runId, "t"]);
  });

  describe("a turn that fails", () => {
    const failing = (): ScriptedModel =>
      new ScriptedModel((_, index) => {
        if (index === 1) throw new ValidationError("out of order");
        return "fine";
      });

    it("stores nothing by default", async () => {
      await using chat = new Conversation({ agent, model: failing() });
      const thread = chat.thread("t");
      await thread.send("one");
      const before = JSON.stringify([await thread.head(), await thread.messages()]);
      const { output } = (await thread.send("two").then(undefined, (error: unknown) => error)) as {
        readonly output?: unknown;
      };
      expect(output).to.have.property("exitReason", "ERROR");
      expect(JSON.stringify([await thread.head(), await thread.messages()])).to.equal(before);
      const result = await thread.send("three");
      expect(result.status).to.equal("completed");
    });

    it("resolves with its error if throwOnError is false", async () => {
      const model = new ScriptedModel(() => {
        throw new ValidationError("out of order");
      });
      await using chat = new Conversation({ agent, model });
      const { status, error, text } = await chat
        .thread("t")
        .send("my PIN is 1234", { throwOnError: false });
      expect({ status, text }).to.deep.equal({ status: "failed", text: "" });
      expect(error).to.have.property("code", "AE_TASK_EXECUTION");
      expect(error?.message, "without the message of the user").to.equal(
        "Task failed: turn: out of order",
      );
    });

    it("stores its question and its status if onFailure is keep", async () => {
      const model = failing();
      await using chat = new Conversation({ agent, model, onFailure: "keep" });
      const thread = chat.thread("t");
      await thread.send("one");
      const { status } = await thread.send("two", { throwOnError: false });
      expect(status).to.equal("failed");
      await thread.send("three");
      expect(texts(requestAt(model, 2).messages).slice(3)).to.deep.equal([
        ["user", "two"],
        ["assistant", "[interrupted]"],
        ["user", "three"],
      ]);
    });

    it("keeps the text received before the failure, without calls that have no result", async () => {
      const gate = new Gate();
      const slow = gatedTool(gate, "slow", "late");
      const model = new ScriptedModel([
        { text: "One moment.", toolCalls: [{ name: "slow", arguments: { input: "x" } }] },
        "again",
      ]);
      await using chat = new Conversation({ agent, model, tools: [slow] });
      const thread = chat.thread("t");
      const turn = thread.stream("go", { onFailure: "keep", throwOnError: false });
      await gate.arrival();
      turn.cancel("enough");
      const { status, messages, text } = await turn.result;
      gate.open();
      expect({ status, text }).to.deep.equal({ status: "cancelled", text: "One moment." });
      expect(texts(messages)).to.deep.equal([
        ["user", "go"],
        ["assistant", "One moment."],
      ]);
      await thread.send("again?");
      expect(texts(requestAt(model, 1).messages).slice(2)).to.deep.equal([
        ["assistant", "One moment. [interrupted]"],
        ["user", "again?"],
      ]);
    });

    it("keeps no call without a result, even if an earlier call has the same id", async () => {
      const gate = new Gate();
      const quick = tool({ name: "quick", description: "Answers", execute: () => "here" });
      const slow = gatedTool(gate, "slow", "late");
      const calling = (name: string): Step => ({
        toolCalls: [{ id: "call_0", name, arguments: {} }],
      });
      const model = new ScriptedModel([calling("quick"), calling("slow"), "again"]);
      await using chat = new Conversation({ agent, model, tools: [quick, slow] });
      const thread = chat.thread("t");
      const turn = thread.stream("go", { onFailure: "keep", throwOnError: false });
      await gate.arrival();
      turn.cancel("enough");
      await turn.result;
      gate.open();
      await thread.send("again?");
      const sent = requestAt(model, 2).messages.slice(2);
      expect(sent.map(({ role }) => role)).to.deep.equal([
        "assistant",
        "tool",
        "assistant",
        "user",
      ]);
      expect(sent[0]).to.have.nested.property("toolCalls[0].name", "quick");
      expect(sent[2]).to.deep.equal({ role: "assistant", content: "[interrupted]" });
    });

    it("stores no refused question and no refused answer, even if onFailure is keep", async () => {
      const model = new ScriptedModel([
        { text: "Let me look.", toolCalls: [{ name: "look", arguments: {} }] },
        { text: "It is worse.", chunks: ["It is", " worse."] },
        "fine",
      ]);
      await using chat = new Conversation({
        agent,
        model,
        tools: [look],
        onFailure: "keep",
        guardrails: {
          input: [({ taskDescription }) => !taskDescription.includes("bad")],
          output: [({ raw }) => !raw.includes("worse")],
        },
      });
      const thread = chat.thread("t");
      const { text: none } = await thread.send("bad", { throwOnError: false });
      expect(await thread.messages()).to.deep.equal([]);
      const { text, status } = await thread.stream("go", { throwOnError: false }).result;
      expect([none, text, status]).to.deep.equal(["", "", "failed"]);
      await thread.send("again?");
      expect(texts(requestAt(model, 2).messages).slice(1)).to.deep.equal([
        ["user", "go"],
        ["assistant", "Let me look."],
        ["tool", "found"],
        ["assistant", "[interrupted]"],
        ["user", "again?"],
      ]);
    });

    it("is refused by guardrails of input and output, and nothing is stored", async () => {
      const model = echoing();
      await using chat = new Conversation({
        agent,
        model,
        guardrails: {
          input: [
            ({ taskDescription }) => ({ ok: !taskDescription.includes("bad"), reason: "bad" }),
          ],
          output: [({ raw }) => ({ ok: !raw.includes("worse"), reason: "worse" })],
        },
      });
      const thread = chat.thread("t");
      for (const input of ["bad", "worse"]) {
        const { error } = await thread.send(input, { throwOnError: false });
        expect(GuardrailViolationError.find(error)?.violationMessage).to.equal(input);
      }
      expect(model.requests).to.have.length(1);
      expect(await thread.head()).to.equal(undefined);
    });
  });

  describe("two concurrent turns", () => {
    it("wait for each other, in the order of the calls", async () => {
      const gate = new Gate();
      const model = gated(gate);
      await using chat = new Conversation({ agent, model });
      const thread = chat.thread("t");
      const first = thread.send("one");
      await gate.arrival();
      const others = [chat.thread("t").send("two"), chat.thread("t").send("three")];
      await chat.thread("free").head();
      expect(model.requests).to.have.length(1);
      gate.open();
      await Promise.all([first, ...others]);
      const questions = (await thread.messages()).filter(({ role }) => role === "user");
      expect(questions.map(({ content }) => content)).to.deep.equal(["one", "two", "three"]);
    });

    it("are refused if busy is refuse, and if the wait is too long", async () => {
      const gate = new Gate();
      const store = ConversationStore.inMemory();
      await using chat = new Conversation({ agent, model: gated(gate), store });
      await using strict = new Conversation({ agent, model: gated(gate), store, busy: "refuse" });
      await using hasty = new Conversation({ agent, model: gated(gate), store, busyTimeoutMs: 5 });
      const first = chat.thread("t").send("one");
      await gate.arrival();
      const refused = await rejectionOf(ThreadBusyError, strict.thread("t").send("two"));
      expect(refused).to.include({ code: "AE_THREAD_BUSY", threadId: "t" });
      await rejectionOf(ThreadBusyError, hasty.thread("t").send("three"));
      gate.open();
      await first;
      expect((await strict.thread("t").send("four")).status).to.equal("completed");
    });

    it("can be cancelled while they wait, also by their signal", async () => {
      const gate = new Gate();
      const model = gated(gate);
      await using chat = new Conversation({ agent, model });
      const first = chat.thread("t").send("one");
      await gate.arrival();
      const second = chat.thread("t").stream("two", { throwOnError: false });
      const abort = new AbortController();
      const third = chat.thread("t").send("three", { signal: abort.signal });
      second.cancel("no more");
      abort.abort();
      await rejectionOf(RunCancelledError, second.result);
      await rejectionOf(RunCancelledError, third);
      gate.open();
      await first;
      expect(model.requests).to.have.length(1);
    });

    it("conflict in a store without locks: the first answer is stored, the error contains the second", async () => {
      const gate = new Gate();
      const { lock: _lock, ...bare } = withoutClass(ConversationStore.inMemory());
      await using chat = new Conversation({ agent, model: gated(gate), store: bare });
      const turns = [chat.thread("t").send("one"), chat.thread("t").send("two")];
      await gate.arrival();
      await gate.arrival(2);
      gate.open();
      const settled = await Promise.allSettled(turns);
      const refused = settled.find(({ status }) => status === "rejected") as PromiseRejectedResult;
      expect(refused.reason).to.be.instanceOf(ConversationConflictError);
      expect((refused.reason as ConversationConflictError).result?.text).to.equal("done");
      expect(await chat.thread("t").messages()).to.have.length(2);
    });
  });

  it("returns the answer if the store fails", async () => {
    const store = withoutClass(ConversationStore.inMemory());
    const broken = { ...store, append: () => Promise.reject(new Error("disk full")) };
    await using chat = new Conversation({ agent, model: echoing(), store: broken });
    const turn = chat.thread("t").stream("hi");
    const error = await rejectionOf(ConversationStoreError, turn.result);
    expect(error).to.include({ code: "AE_CONVERSATION_STORE", operation: "append" });
    expect(error.result?.text).to.equal("re: hi");
    expect(await rejectionOf(ConversationStoreError, turn.output)).to.equal(error);
  });

  describe("a thread", () => {
    it("can be forked at a message", async () => {
      const model = echoing();
      await using chat = new Conversation({ agent, model });
      const thread = chat.thread("t", { owner: "ada" });
      const first = await thread.send("one");
      await thread.send("two");
      const fork = await thread.fork(first.messages[0]?.id);
      expect(fork.owner).to.equal("ada");
      await fork.send("other");
      expect(texts(await fork.messages()).map((pair) => (pair as string[])[1])).to.deep.equal([
        "one",
        "re: one",
        "other",
        "re: other",
      ]);
      expect(await thread.messages()).to.have.length(4);
      expect(await (await thread.fork(undefined, { id: "copy" })).messages()).to.have.length(4);
      expect(await (await chat.thread("new").fork()).head()).to.equal(undefined);
      const { message } = await rejectionOf(
        ValidationError,
        thread.fork(undefined, { id: "copy" }),
      );
      expect(message).to.equal("fork() can't create thread 'copy', because it exists");
      await rejectionOf(ValidationError, thread.fork("unknown"));
      await rejectionOf(ValidationError, chat.thread("new").fork("unknown"));
    });

    it("replaces a turn and all later turns after an edit", async () => {
      const model = echoing();
      await using chat = new Conversation({ agent, model });
      const thread = chat.thread("t");
      await thread.send("one");
      const second = await thread.send("two");
      await thread.send("three");
      await thread.edit(second.turnId, "zwei").result;
      expect(texts(requestAt(model, 3).messages).slice(1)).to.deep.equal([
        ["user", "one"],
        ["assistant", "re: one"],
        ["user", "zwei"],
      ]);
      const repeated = await thread.edit(`${(await thread.messages()).at(-1)?.turnId}-a`).result;
      expect(repeated.text).to.equal("re: zwei");
      expect(await thread.head()).to.include({ turns: 2 });
      await rejectionOf(ValidationError, thread.edit("unknown").result);
    });

    it("keeps the old turns if the new turn of an edit fails", async () => {
      const model = new ScriptedModel((_, index) => {
        if (index === 1) throw new ValidationError("no");
        return "fine";
      });
      await using chat = new Conversation({ agent, model });
      const thread = chat.thread("t");
      const { turnId } = await thread.send("one");
      await thread.edit(turnId, "uno", { throwOnError: false }).result;
      expect(texts(await thread.messages())).to.deep.equal([
        ["user", "one"],
        ["assistant", "fine"],
      ]);
    });

    it("has a title, messages in pages, and can be deleted", async () => {
      await using chat = new Conversation({ agent, model: echoing() });
      const thread = chat.thread("t");
      await rejectionOf(ValidationError, thread.rename("Too early"));
      for (const input of ["one", "two", "three"]) await thread.send(input);
      await thread.rename("Numbers");
      expect(await thread.head()).to.include({ title: "Numbers", version: 4 });
      const last = await thread.messages({ limit: 1 });
      expect(last.map(({ content }) => content)).to.deep.equal(["three", "re: three"]);
      const before = await thread.messages({ limit: 1, before: last[0]?.id ?? "" });
      expect(before.map(({ content }) => content)).to.deep.equal(["two", "re: two"]);
      expect(await thread.delete()).to.equal(true);
      expect(await thread.delete()).to.equal(false);
      expect(await thread.messages()).to.deep.equal([]);
    });

    it("cancels the turn in progress when it is deleted", async () => {
      const gate = new Gate();
      await using chat = new Conversation({ agent, model: gated(gate) });
      const turn = chat.thread("t").stream("one", { throwOnError: false });
      await gate.arrival();
      await chat.thread("t").delete();
      expect((await turn.result).status).to.equal("cancelled");
      gate.open();
      expect(await chat.thread("t").head()).to.equal(undefined);
    });

    it("keeps its first turn if another owner tries to delete it", async () => {
      const gate = new Gate();
      await using chat = new Conversation({ agent, model: gated(gate) });
      const turn = chat.thread("t", { owner: "ada" }).send("one");
      await gate.arrival();
      for (const owner of ["bob", undefined])
        expect(await chat.thread("t", { owner }).delete()).to.equal(false);
      gate.open();
      expect((await turn).status).to.equal("completed");
      expect((await chat.thread("t", { owner: "ada" }).head())?.turns).to.equal(1);
    });

    it("is kept if its first turn is stored while another owner deletes it", async () => {
      const memory = ConversationStore.inMemory();
      let looks = 0;
      const store: ConversationStore = {
        open: async (id) => {
          const head = await memory.open(id);
          if (++looks === 1)
            await memory.append(id, { expectedVersion: 0, owner: "ada", turns: [] });
          return head;
        },
        read: (id, o) => memory.read(id, o),
        list: (o) => memory.list(o),
        append: (id, change) => memory.append(id, change),
        delete: (id) => memory.delete(id),
      };
      await using chat = new Conversation({ agent, model: echoing(), store });
      await rejectionOf(AccessDeniedError, chat.thread("t", { owner: "bob" }).delete());
      expect((await memory.open("t"))?.owner).to.equal("ada");
    });

    it("is accessible to its owner only", async () => {
      await using chat = new Conversation({ agent, model: echoing() });
      await chat.thread("t", { owner: "ada" }).send("hi");
      for (const other of [chat.thread("t"), chat.thread("t", { owner: "bob" })])
        for (const work of [
          () => other.send("x"),
          () => other.messages(),
          () => other.delete(),
          () => other.rename("x"),
          () => other.fork(),
        ])
          await rejectionOf(AccessDeniedError, work());
      const { threads } = await chat.threads({ owner: "bob" });
      expect(threads).to.deep.equal([]);
      expect((await chat.threads({ owner: "ada" })).threads).to.have.length(1);
    });

    it("refuses a message id that it already contains", async () => {
      const model = echoing();
      await using chat = new Conversation({ agent, model });
      const thread = chat.thread("t");
      const { messages } = await thread.send("one", { messageId: "m1" });
      expect(messages[0]?.id).to.equal("m1");
      const turnId = messages[0]?.turnId ?? "";
      for (const messageId of ["m1", turnId, `${turnId}-a`, `${turnId}-1`])
        await rejectionOf(ValidationError, thread.send("one", { messageId }));
      expect(model.requests).to.have.length(1);
    });
  });

  it("names threads and scopes by a value of the run", async () => {
    const User = createToken<{ readonly id: string }>("test/user");
    const seen: string[] = [];
    const who = tool({
      name: "who",
      description: "Names the user",
      execute: (_input, ctx) => {
        seen.push(ctx.scope.run.get(User).id);
        return "ok";
      },
    });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "who", arguments: { input: "" } }] },
      "one",
      { toolCalls: [{ name: "who", arguments: { input: "" } }] },
      "two",
    ]);
    await using chat = new Conversation({ agent, model, tools: [who] });
    const thread = chat.thread((run) => `chat-${run.get(User).id}`, {
      owner: "ada",
      values: [runValue(User, { id: "ada" })],
    });
    expect(thread.id).to.equal("chat-ada");
    await thread.send("hi");
    await thread.send("hi", { values: [runValue(User, { id: "eve" })] });
    expect(seen).to.deep.equal(["ada", "eve"]);
    expect(() => chat.thread((run) => run.get(User).id)).to.throw(ValidationError, /test\/user/);
  });

  it("adds tags without the names of thread and owner", async () => {
    await using chat = new Conversation({ agent, model: echoing() });
    const { output } = await chat
      .thread("private", { owner: "ada" })
      .send("hi", { tags: { kind: "test" } });
    const [usage] = output.metrics.ledger;
    expect(usage?.tags).to.have.all.keys("kind", "threadId", "owner");
    expect(usage?.tags["threadId"]).to.match(/^[0-9a-f]{16}$/);
    expect(JSON.stringify(usage?.tags)).not.to.match(/private|ada/);
  });

  it("refuses inconsistent options before any cost arises", async () => {
    const model = echoing();
    await using chat = new Conversation({ agent, model });
    const thread = chat.thread("t");
    const bad = (value: unknown): never => value as never;
    for (const id of ["", "a\nb", "x".repeat(257), "\ud800", bad(7)])
      expect(() => chat.thread(id), String(id)).to.throw(ValidationError);
    for (const id of ["../../etc/passwd", "a/b", "CON", "\u{1F980}".repeat(256)])
      expect(chat.thread(id).id).to.equal(id);
    for (const input of ["", "  ", [], bad(7), [{ type: "text", text: "" }], "x".repeat(1_048_577)])
      await rejectionOf(ValidationError, thread.send(bad(input)));
    for (const options of [
      { messageId: "" },
      { onFailure: "retry" },
      { agent: {} },
      { retries: 1 },
    ])
      await rejectionOf(ValidationError, thread.send("x", bad(options)));
    expect(model.requests).to.have.length(0);
    for (const options of [
      {},
      { agent, tasks: [] },
      { agent, store: {} },
      { agent, window: {} },
      { agent, busy: "queue" },
      { agent, onFailure: "retry" },
      { agent, guardrails: { inputs: [] } },
      { agent, guardrails: { input: [1] } },
      { agent, tools: [look, tool({ name: "look", description: "x", execute: () => "" })] },
    ])
      expect(() => new Conversation(bad(options)), JSON.stringify(Object.keys(options))).to.throw(
        ValidationError,
      );
  });

  it("sends images unchanged, and counts them as files of the task", async () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1").toString("base64");
    const model = new ScriptedModel(["A picture.", "Another one."]);
    await using chat = new Conversation({ agent, model });
    const image = { type: "image", data: new URL(`data:image/png;base64,${png}`) } as const;
    const { messages } = await chat.thread("t").send([{ type: "text", text: "What?" }, image]);
    const sent = [
      { type: "text", text: "What?" },
      { ...image, data: image.data.href },
    ];
    expect(requestAt(model, 0).messages.at(-1)?.content).to.deep.equal(sent);
    expect(messages[0]?.content).to.deep.equal(sent);
    const alone = await chat.thread("u").send([image]);
    expect(alone.status).to.equal("completed");
    expect(requestAt(model, 1).messages.at(-1)?.content).to.deep.equal([sent[1]]);
  });
});

/** The methods of a store as a plain object. */
function withoutClass(store: ConversationStore): Required<Omit<ConversationStore, "close">> {
  return {
    open: (id) => store.open(id),
    read: (id, query) => store.read(id, query),
    append: (id, change) => store.append(id, change),
    list: (query) => store.list(query),
    delete: (id) => store.delete(id),
    lock: (id, o) => store.lock?.(id, o) ?? Promise.reject(new Error("no lock")),
  };
}
