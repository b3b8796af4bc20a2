import type { Thread, TurnResult } from "agentensemble";
import { Agent, Conversation, ConversationStore, tool, WindowPolicy } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";

const clerk = new Agent({ role: "Clerk", goal: "Answers" });

describe("resume of a thread", () => {
  const made: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });

  /**
   * A conversation whose tool requires approval. The others use the same stores, as after a
   * restart.
   */
  function office(): {
    readonly journal: Journal;
    readonly done: string[];
    open(model?: ScriptedModel): Conversation;
  } {
    const journal = Journal.inMemory();
    const store = ConversationStore.inMemory();
    const done: string[] = [];
    const book = tool({
      name: "book",
      description: "b",
      requireApproval: true,
      execute: () => {
        done.push("booked");
        return "booked";
      },
    });
    const open = (
      model = new ScriptedModel(({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? "Done."
          : { text: "Wait.", toolCalls: [{ name: "book", arguments: {} }] },
      ),
    ): Conversation => {
      const chat = new Conversation({
        agent: clerk,
        model,
        store,
        tools: [book],
        plugins: [durable({ journal })],
      });
      made.push(chat);
      return chat;
    };
    return { journal, done, open };
  }

  /** Begins a turn that waits for an approval, and ends its program. */
  async function left(
    { journal, open }: ReturnType<typeof office>,
    begin: (thread: Thread) => unknown = (thread) => thread.stream("Book", { messageId: "m1" }),
  ): Promise<string> {
    const chat = open();
    begin(chat.thread("t", { owner: "ada" }));
    await until(async () => (await journal.reviews.pending()).length > 0);
    await chat.dispose();
    const [review] = await journal.reviews.pending();
    return review?.reviewId ?? "";
  }

  const unfinished = async ({ journal }: ReturnType<typeof office>): Promise<number> => {
    const { runs } = await journal.list();
    return runs.filter(({ status }) => status === "interrupted").length;
  };

  it("continues the turn, and repeats no paid call", async () => {
    const world = office();
    const reviewId = await left(world);
    const model = new ScriptedModel(["Done after the restart."]);
    const thread = world.open(model).thread("t", { owner: "ada" });
    const turn = await thread.resume();
    expect(turn?.question).to.deep.equal({ id: "m1", content: "Book", replaces: undefined });
    await world.journal.reviews.resolve(reviewId, { type: "CONTINUE" });
    const result = await turn?.result;
    expect(result?.text).to.equal("Done after the restart.");
    expect(world.done).to.deep.equal(["booked"]);
    expect(model.requests).to.have.length(1);
    expect((await thread.messages()).map(({ id }) => id)[0]).to.equal("m1");
    expect(await thread.resume()).to.equal(undefined);
  });

  it("returns nothing to another owner, for another thread, and without a journal", async () => {
    const world = office();
    await left(world);
    const chat = world.open();
    expect(await chat.thread("t", { owner: "bob" }).resume()).to.equal(undefined);
    expect(await chat.thread("t").resume()).to.equal(undefined);
    expect(await chat.thread("u", { owner: "ada" }).resume()).to.equal(undefined);
    await using plain = new Conversation({ agent: clerk });
    expect(await plain.thread("t", { owner: "ada" }).resume()).to.equal(undefined);
    expect(await unfinished(world)).to.equal(1);
  });

  it("drops a turn after its thread has continued or was deleted", async () => {
    const world = office();
    await left(world);
    const thread = world.open(new ScriptedModel(["Hello."])).thread("t", { owner: "ada" });
    await thread.send("Something else");
    expect(await thread.resume()).to.equal(undefined);
    expect(await unfinished(world)).to.equal(0);
    await thread.delete();
    await left(world);
    expect(await unfinished(world)).to.equal(1);
    await world.open().thread("t", { owner: "ada" }).delete();
    expect(await unfinished(world)).to.equal(0);
    expect(world.done).to.deep.equal([]);
  });

  it("continues an edit, which replaces the turn", async () => {
    const world = office();
    const first = world.open(new ScriptedModel(["Hello."])).thread("t", { owner: "ada" });
    const { turnId } = await first.send("Hi", { messageId: "m0" });
    const reviewId = await left(world, (thread) => thread.edit("m0", "Book"));
    const thread = world.open().thread("t", { owner: "ada" });
    const turn = await thread.resume();
    expect(turn?.question).to.deep.equal({ id: "m0", content: "Book", replaces: turnId });
    await world.journal.reviews.resolve(reviewId, { type: "CONTINUE" });
    await turn?.result;
    expect((await thread.messages()).map(({ content }) => content)).to.deep.equal([
      "Book",
      "Wait.",
      "booked",
      "Done.",
    ]);
  });

  describe("after the answer was journaled and the turn was not stored", () => {
    const hours = tool({ name: "hours", description: "h", execute: () => "9 to 5" });
    const manager = new Agent({ role: "Manager", goal: "Decides" });
    const desk = new Agent({ role: "Desk", goal: "Answers", tools: [hours], handoffs: [manager] });

    /** Answers with a tool call, a handoff, and a text of the manager. Summarizes its input. */
    const answers = (summaries: string[]): ScriptedModel =>
      new ScriptedModel(({ messages, tools = [] }) => {
        const text = JSON.stringify(messages);
        if (messages[0]?.role === "user") {
          summaries.push(text);
          return `Summary ${summaries.length}.`;
        }
        if (messages.at(-1)?.content === "Question 4")
          return { text: "I look.", toolCalls: [{ name: "hours", arguments: {} }] };
        const handoff = tools.find(({ name }) => name.includes("anager"));
        if (text.includes("9 to 5") && handoff !== undefined)
          return { toolCalls: [{ name: handoff.name, arguments: {} }] };
        return `Answer ${messages.length}.`;
      });

    /** Sends four questions and a fifth. `fails`: the store refuses the fourth turn once. */
    async function threadOf(fails: boolean): Promise<Record<string, unknown>> {
      const store = ConversationStore.inMemory();
      const journal = Journal.inMemory();
      const summaries: string[] = [];
      const requests: number[] = [];
      const open = (): [Conversation, ScriptedModel] => {
        const model = answers(summaries);
        const chat = new Conversation({
          agent: desk,
          model,
          store,
          window: WindowPolicy.summary({ turns: 2, keepTurns: 1 }),
          plugins: [durable({ journal })],
        });
        made.push(chat);
        return [chat, model];
      };
      const send = async (n: number): Promise<TurnResult> => {
        const [chat, model] = open();
        try {
          return await chat.thread("t").send(`Question ${n}`, { runId: `run-${n}` });
        } finally {
          requests.push(model.requests.length);
          await chat.dispose();
        }
      };
      for (const n of [1, 2, 3]) await send(n);
      if (fails) {
        const { append } = store;
        store.append = () => Promise.reject(new Error("the disk is full"));
        expect(await rejection(send(4))).to.have.property("code", "AE_CONVERSATION_STORE");
        store.append = append;
      }
      const fourth = await send(4);
      if (fails) expect(requests.pop(), "calls of the second execution").to.equal(0);
      const fifth = await send(5);
      const [chat] = open();
      const thread = chat.thread("t");
      const head = await thread.head();
      const messages = await thread.messages();
      const { llmCallCount, toolCallCount } = fourth.output.metrics;
      return {
        requests,
        summaries,
        ends: [fourth, fifth].map(({ agentRole, finishReason }) => [agentRole, finishReason]),
        totals: { llmCallCount, toolCallCount, fifth: fifth.output.metrics.llmCallCount },
        summary: { ...head?.summary, at: undefined },
        messages: messages.map(({ at: _at, ...message }) => message),
      };
    }

    it("stores the turn with its messages, agent and summary, and repeats no paid call", async () => {
      const undisturbed = await threadOf(false);
      expect(undisturbed["summaries"]).to.have.length(1);
      expect(undisturbed["ends"]).to.deep.equal([
        ["Manager", "stop"],
        ["Manager", "stop"],
      ]);
      expect(await threadOf(true)).to.deep.equal(undisturbed);
    });
  });
});
