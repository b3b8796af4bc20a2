import { join } from "node:path";
import type { BudgetAccounts, CallerQuota, ConversationOptions, Plugin } from "agentensemble";
import {
  Agent,
  Conversation,
  ConversationStore,
  definePlugin,
  Ensemble,
  LimitStoreError,
  RunCancelledError,
  Task,
  Tokens,
  tool,
  TurnQuotaError,
  ValidationError,
  WindowPolicy,
} from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { NetworkBackend, sharedLimits } from "agentensemble/network";
import { recordTo, replayFrom } from "agentensemble/replay";
import { cache } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { SteppingClock } from "../service/stepping-clock.js";
import { rejection, rejectionOf } from "../support/rejection.js";
import { SharedBudgets } from "../support/shared-budgets.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { until } from "../support/time.js";
import { warningsOf } from "../support/warnings.js";
import { Gate, gatedTool } from "./gate.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = "2030-01-01T10:59:50.000Z";
/** The usage of each call: 100 tokens, at a cost of 1. */
const USAGE = { inputTokens: 60, outputTokens: 40 };
const PRICES = { inputTokenRate: 0.01, outputTokenRate: 0.01, currency: "EUR" };
const agent = new Agent({ role: "Clerk", goal: "Answers" });

const answering = (): ScriptedModel => new ScriptedModel(() => ({ text: "Yes.", usage: USAGE }));

describe("the quotas of a conversation", () => {
  const made: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });

  /** A conversation with a fixed clock. */
  function desk(o: Partial<ConversationOptions> & { readonly clock?: SteppingClock }): {
    readonly chat: Conversation;
    readonly clock: SteppingClock;
    send(thread: string, owner?: string): Promise<string>;
  } {
    const { clock = new SteppingClock(START), plugins = [], ...options } = o;
    const chat = new Conversation({
      agent,
      model: answering(),
      ...options,
      plugins: [clock.plugin(), ...plugins],
    });
    made.push(chat);
    const send = async (thread: string, owner?: string): Promise<string> => {
      try {
        return (await chat.thread(thread, { owner }).send("Hello")).status;
      } catch (error) {
        if (!TurnQuotaError.isInstance(error)) throw error;
        return `${error.scope}: ${error.limit} ${error.unit}`;
      }
    };
    return { chat, clock, send };
  }

  it("limit the turns of an owner in all threads, and those of no other owner", async () => {
    const { chat, send } = desk({ quota: { windowMs: DAY, maxRequests: 2 } });
    expect(await send("a", "ada")).to.equal("completed");
    expect(await send("b", "ada")).to.equal("completed");
    for (const thread of ["a", "c"]) expect(await send(thread, "ada")).to.equal("owner: 2 turns");
    expect(await send("d", "bob")).to.equal("completed");
    expect(await chat.thread("c", { owner: "ada" }).head()).to.equal(undefined);
    expect((await chat.thread("a", { owner: "ada" }).head())?.version).to.equal(1);
  });

  it("count threads without an owner together", async () => {
    const { send } = desk({ quota: { windowMs: DAY, maxRequests: 1 } });
    expect(await send("a")).to.equal("completed");
    expect(await send("b")).to.equal("owner: 1 turns");
    expect(await send("c", "ada")).to.equal("completed");
  });

  it("limit the turns of each thread, and both quotas of a turn hold", async () => {
    const { send } = desk({
      quota: { windowMs: DAY, maxRequests: 3 },
      threadQuota: { windowMs: DAY, maxRequests: 2 },
    });
    expect(await send("a", "ada")).to.equal("completed");
    expect(await send("a", "ada")).to.equal("completed");
    for (let n = 0; n < 3; n++) expect(await send("a", "ada")).to.equal("thread: 2 turns");
    expect(await send("b", "ada")).to.equal("completed"); // refused turns do not count for the owner
    for (let n = 0; n < 3; n++) expect(await send("b", "ada")).to.equal("owner: 3 turns");
    expect(await send("c", "bob")).to.equal("completed");
  });

  it("report the limit and the time until the next window, in which turns are accepted", async () => {
    const { chat, clock, send } = desk({ quota: { windowMs: HOUR, maxRequests: 1 } });
    expect(await send("t", "ada")).to.equal("completed");
    const thread = chat.thread("t", { owner: "ada" });
    const error = await rejectionOf(TurnQuotaError, thread.send("Hello"));
    expect(error).to.include({
      code: "AE_TURN_QUOTA",
      scope: "owner",
      threadId: "t",
      limit: 1,
      unit: "turns",
      retryAfterMs: 10_000,
    });
    expect(error.message).to.equal(
      "The quota of 1 turn for this user is used up. The next message is accepted in 10 s",
    );
    await clock.jump(10_000);
    expect(await send("t", "ada")).to.equal("completed");
    expect(await send("t", "ada")).to.equal("owner: 1 turns");
  });

  it("limit tokens and cost, by the usage of the turns that have ended", async () => {
    const day = { windowMs: DAY };
    for (const [quota, reached] of [
      [{ ...day, maxTokens: 150 }, "owner: 150 tokens"],
      [{ ...day, maxCost: 1.5 }, "owner: 1.5 cost"],
    ] as const) {
      const { send } = desk({ quota, costConfiguration: PRICES });
      expect(await send("a", "ada")).to.equal("completed");
      expect(await send("b", "ada")).to.equal("completed"); // 100 are used
      expect(await send("a", "ada")).to.equal(reached);
      expect(await send("a2", "bob")).to.equal("completed");
    }
    const { send } = desk({ threadQuota: { ...day, maxTokens: 100 } });
    expect(await send("a", "ada")).to.equal("completed");
    expect(await send("a", "ada")).to.equal("thread: 100 tokens");
    expect(await send("b", "ada")).to.equal("completed");
  });

  it("name a cost in the message", async () => {
    const { chat, send } = desk({
      quota: { windowMs: HOUR, maxCost: 1 },
      costConfiguration: PRICES,
    });
    await send("t");
    const { message } = await rejectionOf(TurnQuotaError, chat.thread("t").send("Hello"));
    expect(message).to.contain("The quota of a cost of 1 for this user is used up");
  });

  it("require prices for a cost, before a model is called or a thread is stored", async () => {
    const model = answering();
    const store = ConversationStore.inMemory();
    const quota = { windowMs: DAY, maxCost: 1 };
    for (const options of [{ quota }, { threadQuota: quota }, { quota: () => quota }]) {
      const { chat } = desk({ ...options, model, store });
      const { message } = await rejectionOf(ValidationError, chat.thread("t").send("Hello"));
      expect(message).to.equal("A quota limits the cost, but this conversation has no prices");
    }
    expect(model.requests).to.have.length(0);
    expect((await store.list({})).threads).to.have.length(0);
    const bound = definePlugin({
      name: "prices",
      bind: (bind) => void bind.single(Tokens.CostConfiguration).toConstantValue(PRICES),
    });
    const { send } = desk({ quota, plugins: [bound] });
    expect(await send("t")).to.equal("completed");
    expect(await send("t")).to.equal("owner: 1 cost");
  });

  it("can be functions of the owner and the thread", async () => {
    const { send } = desk({
      quota: (owner) => (owner === "ada" ? { windowMs: DAY, maxRequests: 1 } : undefined),
      threadQuota: (threadId, owner) =>
        threadId === "b" && owner === "bob" ? { windowMs: DAY, maxRequests: 2 } : undefined,
    });
    expect(await send("a", "ada")).to.equal("completed");
    expect(await send("a", "ada")).to.equal("owner: 1 turns");
    for (let n = 0; n < 3; n++) expect(await send("c", "bob")).to.equal("completed");
    for (let n = 0; n < 2; n++) expect(await send("b", "bob")).to.equal("completed");
    expect(await send("b", "bob")).to.equal("thread: 2 turns");
  });

  it("are refused if invalid", async () => {
    const invalid: readonly (readonly [unknown, string])[] = [
      [{ windowMs: HOUR }, "must have maxRequests"],
      [{ windowMs: 0, maxRequests: 1 }, "windowMs"],
      [{ windowMs: HOUR, maxTurns: 1 }, "maxTurns"],
      ["daily", "must be an object"],
    ];
    for (const [given, text] of invalid)
      for (const name of ["quota", "threadQuota"]) {
        const quota = given as CallerQuota; // invalid values on purpose
        const make = () => new Conversation({ agent, [name]: quota });
        expect(make).to.throw(ValidationError, text).with.property("message").contains(name);
        const { chat } = desk({ [name]: () => quota });
        const error = await rejectionOf(ValidationError, chat.thread("t").send("Hello"));
        expect(error.message).to.contain(text);
      }
  });

  it("do not count a refused message, and are not checked for it", async () => {
    const { chat, send } = desk({ quota: { windowMs: DAY, maxRequests: 2 }, busy: "refuse" });
    const thread = chat.thread("t", { owner: "ada" });
    await thread.send("Hello", { messageId: "m1" });
    for (let n = 0; n < 3; n++)
      expect(await rejection(thread.send("Hello", { messageId: "m1" }))).to.include({
        about: "messageId",
      });
    expect(await send("t", "ada")).to.equal("completed");
    expect(await rejection(thread.send("Hello", { messageId: "m1" }))).to.include({
      code: "AE_VALIDATION",
    });
  });

  it("are shown with the amounts that the thread and its owner have used", async () => {
    const quota = { windowMs: HOUR, maxRequests: 5, maxCost: 9 };
    const threadQuota = { windowMs: DAY, maxTokens: 150 };
    const { chat, clock, send } = desk({ quota, threadQuota, costConfiguration: PRICES });
    const usage = (id: string, owner?: string) => chat.thread(id, { owner }).usage();
    const none = { requests: 0, tokens: 0, cost: 0 };
    expect(await usage("a", "ada")).to.deep.equal({
      owner: { quota, used: none, resetsInMs: 10_000 },
      thread: { quota: threadQuota, used: none, resetsInMs: 13 * HOUR + 10_000 },
    });
    for (const id of ["a", "b", "a", "a"]) await send(id, "ada"); // the last one is refused
    const { owner, thread } = await usage("a", "ada");
    expect(owner?.used).to.deep.equal({ requests: 3, tokens: 300, cost: 3 });
    expect(thread?.used).to.deep.equal({ requests: 2, tokens: 200, cost: 2 });
    expect((await usage("b", "ada")).thread?.used.tokens).to.equal(100);
    expect((await usage("c", "bob")).owner?.used).to.deep.equal(none);
    await clock.jump(10_000);
    expect((await usage("a", "ada")).owner?.used).to.deep.equal(none);
    expect(await rejection(usage("a", "bob"))).to.have.property("code", "AE_ACCESS_DENIED");
    const some = desk({ quota: () => undefined, threadQuota });
    expect(Object.keys(await some.chat.thread("t").usage())).to.deep.equal(["thread"]);
    expect(await desk({}).chat.thread("t").usage()).to.deep.equal({});
  });

  it("count an edit", async () => {
    const { chat, send } = desk({ threadQuota: { windowMs: DAY, maxRequests: 2 } });
    const thread = chat.thread("t");
    const { turnId } = await thread.send("Hello");
    await thread.edit(turnId, "Hi").result;
    expect(await rejection(thread.edit(turnId, "Hey").result)).to.be.instanceOf(ValidationError);
    expect(await send("t")).to.equal("thread: 2 turns");
    expect((await thread.messages()).map(({ content }) => content)).to.deep.equal(["Hi", "Yes."]);
  });

  it("refuse a stream through its output and its result, without an event", async () => {
    const { chat, send } = desk({ quota: { windowMs: DAY, maxRequests: 1 } });
    await send("t");
    const turn = chat.thread("t").stream("Hello");
    const seen: string[] = [];
    for await (const { type } of turn.events) seen.push(type);
    expect(seen).to.deep.equal([]);
    for (const end of [turn.output, turn.result])
      expect(await rejection(end)).to.be.instanceOf(TurnQuotaError);
  });

  describe("count the usage", () => {
    it("of failed and cancelled turns", async () => {
      const gate = new Gate();
      const model = new ScriptedModel(async ({ messages }) => {
        if (messages.at(-1)?.role !== "tool")
          return { toolCalls: [{ name: "look", arguments: {} }], usage: USAGE };
        await gate.pass();
        throw new Error("out of order");
      });
      const look = tool({ name: "look", description: "l", execute: () => "found" });
      for (const how of ["failed", "cancelled"]) {
        const { chat, send } = desk({
          model,
          tools: [look],
          quota: { windowMs: DAY, maxTokens: 100, maxRequests: 9 },
        });
        const turn = chat.thread("t", { owner: "ada" }).stream("Hello", { throwOnError: false });
        await gate.arrival(how === "failed" ? 1 : 2);
        if (how === "failed") gate.open();
        else turn.cancel();
        expect((await turn.result).status).to.equal(how);
        expect(await send("t", "ada"), how).to.equal("owner: 100 tokens");
      }
    });

    it("of all agents and summaries", async () => {
      const manager = new Agent({ role: "Manager", goal: "Decides" });
      const desks = new Agent({ role: "Desk", goal: "Answers", handoffs: [manager] });
      const model = new ScriptedModel(({ messages, tools = [] }) => {
        if (messages[0]?.role === "user") return { text: "Summary.", usage: USAGE };
        const handoff = tools.find(({ name }) => name.includes("anager"));
        return handoff === undefined
          ? { text: "Yes.", usage: USAGE }
          : { toolCalls: [{ name: handoff.name, arguments: {} }], usage: USAGE };
      });
      const ledger: string[] = [];
      const { chat, send } = desk({
        agent: desks,
        model,
        nextAgent: "first",
        window: WindowPolicy.summary({ turns: 1, keepTurns: 1 }),
        threadQuota: { windowMs: DAY, maxTokens: 700 },
      });
      for (let n = 0; n < 3; n++) {
        const { output } = await chat.thread("t").send("Hello");
        ledger.push(...output.metrics.ledger.map(({ purpose }) => purpose));
      }
      expect(ledger.filter((purpose) => purpose === "summary")).to.have.length(1);
      expect(ledger).to.have.length(7); // two agents in each turn, and a summary
      expect(await send("t")).to.equal("thread: 700 tokens");
    });

    it("of runs that a tool joins to the turn", async () => {
      const team = new Ensemble({ model: answering(), tasks: [Task.of("Research")] });
      made.push(team);
      const research = tool({
        name: "research",
        description: "r",
        execute: async (_input, context) => (await team.run({}, { parent: context })).raw,
      });
      const model = new ScriptedModel(({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? { text: "Yes.", usage: USAGE }
          : { toolCalls: [{ name: "research", arguments: {} }], usage: USAGE },
      );
      const quota = { windowMs: DAY, maxTokens: 300 };
      const { send } = desk({ model, tools: [research], quota });
      expect(await send("t")).to.equal("completed");
      expect(await send("t")).to.equal("owner: 300 tokens");
    });

    it("of a turn that could not be stored", async () => {
      const store = ConversationStore.inMemory();
      const { append } = store;
      store.append = () => Promise.reject(new Error("the disk is full"));
      const { chat, send } = desk({ store, quota: { windowMs: DAY, maxTokens: 100 } });
      expect(await rejection(chat.thread("t").send("Hello"))).to.have.property(
        "code",
        "AE_CONVERSATION_STORE",
      );
      store.append = append;
      expect(await send("t")).to.equal("owner: 100 tokens");
    });

    it("of each call when it ends, before the turn ends", async () => {
      const gate = new Gate();
      const look = gatedTool(gate, "look", "found");
      const model = new ScriptedModel(({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? { text: "Yes.", usage: USAGE }
          : { toolCalls: [{ name: "look", arguments: {} }], usage: USAGE },
      );
      const { chat, send } = desk({
        model,
        tools: [look],
        quota: { windowMs: DAY, maxTokens: 100 },
      });
      const turn = chat.thread("t", { owner: "ada" }).send("Hello");
      await gate.arrival();
      expect(await send("u", "ada")).to.equal("owner: 100 tokens");
      gate.open();
      await turn;
      const { owner } = await chat.thread("t", { owner: "ada" }).usage();
      expect(owner?.used).to.deep.equal({ requests: 1, tokens: 200, cost: 0 });
    });

    it("in the window in which a call ends", async () => {
      const gate = new Gate();
      const model = new ScriptedModel(async () => {
        await gate.pass();
        return { text: "Yes.", usage: USAGE };
      });
      const { chat, clock, send } = desk({ model, quota: { windowMs: HOUR, maxTokens: 100 } });
      const turn = chat.thread("t").send("Hello");
      await gate.arrival();
      await clock.jump(HOUR);
      gate.open();
      await turn;
      expect(await send("t")).to.equal("owner: 100 tokens");
    });
  });

  it("do not count answers of a cache", async () => {
    const { chat, send } = desk({
      quota: { windowMs: DAY, maxTokens: 150 },
      plugins: [cache()],
      window: WindowPolicy.lastTurns(1),
    });
    for (const thread of ["a", "b", "c"]) expect(await send(thread, "ada")).to.equal("completed");
    await chat.thread("a", { owner: "ada" }).send("Something else"); // a new call
    expect(await send("d", "ada")).to.equal("owner: 150 tokens");
  });

  it("refuse the same turns in a replay", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const play = async (plugin: Plugin, model?: ScriptedModel): Promise<readonly string[]> => {
      const { chat, send } = desk({
        ...(model !== undefined && { model }),
        quota: { windowMs: DAY, maxTokens: 150 },
        plugins: [plugin],
      });
      const ends: string[] = [];
      for (const owner of ["ada", "ada", "ada", "bob", "bob", "bob"])
        ends.push(await send(`t-${owner}`, owner));
      await chat.dispose();
      return ends;
    };
    const recorded = await play(recordTo(file));
    expect(recorded).to.deep.equal([
      ...["completed", "completed", "owner: 150 tokens"],
      ...["completed", "completed", "owner: 150 tokens"],
    ]);
    const unused = new ScriptedModel([]);
    expect(await play(replayFrom(file), unused)).to.deep.equal(recorded);
    expect(unused.requests).to.have.length(0);
  });

  describe("of a durable turn", () => {
    /**
     * A conversation whose tool requires approval, opened again with the same stores and accounts.
     */
    function office(quota: CallerQuota) {
      const journal = Journal.inMemory();
      const store = ConversationStore.inMemory();
      const budgets = new SharedBudgets();
      const book = tool({
        name: "book",
        description: "b",
        requireApproval: true,
        execute: () => "booked",
      });
      const model = new ScriptedModel(({ messages }) =>
        messages.at(-1)?.role === "user"
          ? { toolCalls: [{ name: "book", arguments: {} }], usage: USAGE }
          : { text: "Done.", usage: USAGE },
      );
      const open = () =>
        desk({
          name: "office",
          model,
          store,
          tools: [book],
          quota,
          plugins: [durable({ journal }), accountsOf(budgets.client())],
        });
      return { journal, budgets, open };
    }

    it("admit the turn once, and count usage saved in the journal once", async () => {
      const { journal, budgets, open } = office({
        windowMs: DAY,
        maxRequests: 1,
        maxTokens: 9_000,
      });
      const first = open();
      const begun = first.chat.thread("t", { owner: "ada" }).stream("Book");
      await until(async () => (await journal.reviews.pending()).length > 0);
      await first.chat.dispose();
      await rejection(begun.output);
      const second = open();
      const turn = await second.chat.thread("t", { owner: "ada" }).resume();
      const [review] = await journal.reviews.pending();
      await journal.reviews.resolve(review?.reviewId ?? "", { type: "CONTINUE" });
      expect((await turn?.result)?.text).to.equal("Done.");
      expect(await open().send("u", "ada")).to.equal("owner: 1 turns");
      const [usage = ""] = budgets.keys.filter((key) => !key.endsWith(":requests"));
      expect(budgets.stateOf(usage).used.tokens).to.equal(200); // 100 in each process
    });

    it("are not checked again for a message whose run is in the journal", async () => {
      const journal = Journal.inMemory();
      const store = ConversationStore.inMemory();
      const { append } = store;
      store.append = () => Promise.reject(new Error("the disk is full"));
      const { chat, send } = desk({
        store,
        quota: { windowMs: DAY, maxRequests: 1 },
        plugins: [durable({ journal })],
      });
      const again = () => chat.thread("t").send("Hello", { runId: "run-1" });
      expect(await rejection(again())).to.have.property("code", "AE_CONVERSATION_STORE");
      store.append = append;
      expect((await again()).text).to.equal("Yes.");
      expect(await send("t")).to.equal("owner: 1 turns");
      const other = chat.thread("t").send("Hello", { runId: "run-2" });
      expect(await rejection(other)).to.be.instanceOf(TurnQuotaError);
    });
  });

  describe("in accounts of several processes", () => {
    it("count for all conversations with the same name, and for no others", async () => {
      const budgets = new SharedBudgets();
      const open = (name: string) =>
        desk({
          name,
          quota: { windowMs: DAY, maxRequests: 2 },
          plugins: [accountsOf(budgets.client())],
        });
      const [one, two, other] = [open("shop"), open("shop"), open("hotel")];
      expect(await one.send("a", "ada")).to.equal("completed");
      expect(await two.send("b", "ada")).to.equal("completed");
      expect(await one.send("c", "ada")).to.equal("owner: 2 turns");
      expect(await two.send("d", "ada")).to.equal("owner: 2 turns");
      expect(await other.send("e", "ada")).to.equal("completed");
      expect(budgets.keys.every((key) => key.startsWith("turns:["))).to.equal(true);
    });

    it("refuse turns if the accounts are unavailable or invalid, and call no model", async () => {
      const model = answering();
      const away: BudgetAccounts = { open: () => Promise.reject(new Error("away")) };
      const silent: BudgetAccounts = { timeoutMs: 5, open: () => new Promise(() => undefined) };
      const wrong = { open: () => ({ state: {}, reserve: () => undefined }) };
      const late = { open: () => ({}) };
      for (const accounts of [away, silent, wrong, late]) {
        const { chat } = desk({
          model,
          quota: { windowMs: DAY, maxRequests: 1, maxTokens: 1 },
          plugins: [accountsOf(accounts as BudgetAccounts)], // two of them are not
        });
        await rejectionOf(LimitStoreError, chat.thread("t").send("Hello"));
        expect(await chat.thread("t").head()).to.equal(undefined);
      }
      expect(model.requests).to.have.length(0);
    });

    it("end the wait for the accounts when the turn is cancelled", async () => {
      const gate = new Gate();
      const client = new SharedBudgets().client();
      const accounts: BudgetAccounts = {
        open: async (request) => {
          if (request.key.includes("owner")) await gate.pass();
          return client.open(request);
        },
      };
      const { chat, send } = desk({
        quota: { windowMs: DAY, maxRequests: 1 },
        threadQuota: { windowMs: DAY, maxRequests: 1 },
        plugins: [accountsOf(accounts)],
      });
      const turn = chat.thread("t").stream("Hello");
      await gate.arrival();
      turn.cancel();
      expect(await rejection(turn.result)).to.be.instanceOf(RunCancelledError);
      gate.open();
      await until(async () => (await send("t")) === "completed"); // both places are released
      expect(await send("t")).to.equal("thread: 1 turns");
    });

    it("release the thread's reservation if the owner's account fails", async () => {
      const client = new SharedBudgets().client();
      let isAway = true;
      const accounts: BudgetAccounts = {
        open: async (request) => {
          if (isAway && request.key.includes("owner")) throw new Error("away");
          return client.open(request);
        },
      };
      const { chat, send } = desk({
        quota: { windowMs: DAY, maxRequests: 1 },
        threadQuota: { windowMs: DAY, maxRequests: 1 },
        plugins: [accountsOf(accounts)],
      });
      await rejectionOf(LimitStoreError, chat.thread("t").send("Hello"));
      isAway = false;
      expect(await send("t")).to.equal("completed");
    });

    it("are those of sharedLimits", async () => {
      const budgets = new SharedBudgets();
      const memory = NetworkBackend.inMemory();
      const backend = {
        ...memory,
        limits: {
          budgetAccounts: budgets.client(),
          rateWindow: { take: () => ({ begin: () => undefined, end: () => undefined }) },
        },
      };
      const { send } = desk({
        name: "shop",
        quota: { windowMs: DAY, maxRequests: 1 },
        plugins: [sharedLimits(backend)],
      });
      expect(await send("t", "ada")).to.equal("completed");
      const day = Math.floor(Date.parse(START) / DAY);
      const key = `turns:["shop","owner","ada"]:${DAY}:${day}`;
      expect(budgets.stateOf(`${key}:requests`).used.tokens).to.equal(1);
    });

    it("warn of usage that could not be counted, and return the answer", async () => {
      const budgets = new SharedBudgets().client();
      let isAway = false;
      const accounts: BudgetAccounts = {
        open: async (request) => {
          const account = await budgets.open(request);
          const { reserve } = account;
          account.reserve = async (amount) => {
            if (isAway) throw new Error("away");
            return reserve(amount);
          };
          return account;
        },
      };
      const model = new ScriptedModel(() => {
        isAway = true;
        return { text: "Yes.", usage: USAGE };
      });
      const { send } = desk({
        model,
        quota: { windowMs: DAY, maxTokens: 100 },
        plugins: [accountsOf(accounts)],
      });
      const warnings = await warningsOf(async () => {
        expect(await send("t")).to.equal("completed");
      });
      expect(warnings.join()).to.contain("The usage of a turn of thread 't' is missing");
    });
  });

  it("never admit more turns of a window than the limit, however turns overlap", async () => {
    const STEP = fc.record({
      thread: fc.constantFrom("a", "b", "c", "d"),
      fails: fc.boolean(),
      waits: fc.integer({ min: 0, max: 3 }),
      act: fc.constantFrom("send", "send", "send", "await", "next window"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { minLength: 3, maxLength: 14 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, perThread, perOwner) => {
          const begun = new Map<string, number>();
          const clock = new SteppingClock(START);
          const model = new ScriptedModel(async ({ messages }) => {
            const text = JSON.stringify(messages.at(-1)?.content).slice(1, -1);
            const [thread = "", owner = "", fails, waits] = text.split(" ");
            const window = Math.floor(clock.now().getTime() / HOUR);
            for (const key of [`thread ${thread} ${window}`, `owner ${owner} ${window}`])
              begun.set(key, (begun.get(key) ?? 0) + 1);
            for (let n = 0; n < Number(waits); n++)
              await new Promise((resolve) => setImmediate(resolve));
            if (fails === "true") throw new Error("out of order");
            return "Yes.";
          });
          const place = desk({
            clock,
            model,
            window: WindowPolicy.lastTurns(1),
            quota: { windowMs: HOUR, maxRequests: perOwner },
            threadQuota: { windowMs: HOUR, maxRequests: perThread },
          });
          const asked = new Map<string, number>();
          let admitted = new Map<string, number>();
          let turns: Promise<void>[] = [];
          const settle = async (): Promise<void> => {
            await Promise.all(turns);
            turns = [];
            // A turn is refused for a reached limit only.
            for (const [owner, count] of asked) {
              const here = admitted.get(owner) ?? 0;
              if (count > here) {
                const threads = owner === "ada" ? ["a", "b"] : ["c", "d"];
                const isFull =
                  here === perOwner ||
                  threads.some((thread) => (admitted.get(thread) ?? 0) === perThread);
                expect(isFull).to.equal(true);
              }
            }
          };
          for (const { thread, fails, waits, act } of steps) {
            const owner = thread < "c" ? "ada" : "bob";
            if (act === "await") await settle();
            if (act === "next window") {
              await settle();
              await clock.jump(HOUR);
              asked.clear();
              admitted = new Map();
            }
            asked.set(owner, (asked.get(owner) ?? 0) + 1);
            const text = `${thread} ${owner} ${fails} ${waits}`;
            const counts = admitted;
            turns.push(
              place.chat
                .thread(thread, { owner })
                .send(text, { throwOnError: false })
                .then(
                  () => {
                    for (const key of [thread, owner]) counts.set(key, (counts.get(key) ?? 0) + 1);
                  },
                  (error: unknown) => {
                    if (!TurnQuotaError.isInstance(error)) throw error;
                  },
                ),
            );
          }
          await settle();
          for (const [key, count] of begun)
            expect(count, key).to.be.at.most(key.startsWith("owner") ? perOwner : perThread);
        },
      ),
      { numRuns: 40 },
    );
  });
});

function accountsOf(accounts: BudgetAccounts) {
  return definePlugin({
    name: "accounts",
    bind: (bind) => void bind.single(Tokens.BudgetAccounts).toConstantValue(accounts),
  });
}
