import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConversationOptions } from "agentensemble";
import { Agent, Conversation, ConversationStore, tool } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { chatService, partsIn } from "../plugins/http/chat-service.js";
import { textsOf } from "../plugins/ui/fixtures.js";
import { OtherProcess } from "../support/other-process.js";
import { rejection } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { until } from "../support/time.js";
import { warningsOf } from "../support/warnings.js";

const PROGRAM = fileURLToPath(new URL("./dying-desk.js", import.meta.url));
const hours = tool({ name: "hours", description: "h", execute: () => expect.fail("called again") });
const agent = new Agent({ role: "Clerk", goal: "Answers", tools: [hours] });
const MESSAGES = ["When are you open?", "I look.", "9 to 5", "From 9 to 5."];

describe("a turn whose process was killed before it was stored", function () {
  this.timeout(60_000);
  afterEach("no process stays after any failure", () => {
    for (const child of OtherProcess.running) child.kill("SIGKILL");
  });

  async function killed(folder: string, how: "send" | "resume"): Promise<readonly string[]> {
    const program = OtherProcess.of(PROGRAM, folder, how);
    const lines = await program.ended();
    expect(program.child.signalCode).to.equal("SIGKILL");
    return lines;
  }

  const options = (folder: string) => ({
    agent,
    model: new ScriptedModel([]),
    store: ConversationStore.file(join(folder, "threads")),
    plugins: [durable({ url: `file:${join(folder, "runs")}` })],
  });

  it("is found by resume and stored, without a call, also after a second kill", async () => {
    for (const again of [false, true]) {
      const folder = temporaryFolder();
      expect(await killed(folder, "send")).to.deep.equal(["called", "called"]);
      if (again) expect(await killed(folder, "resume")).to.deep.equal([]);
      await using chat = new Conversation(options(folder));
      expect(await chat.thread("t").resume()).to.equal(undefined);
      const thread = chat.thread("t", { owner: "ada" });
      const turn = await thread.resume();
      expect(turn?.question).to.include({ id: "m1", content: "When are you open?" });
      expect((await turn?.result)?.text).to.equal("From 9 to 5.");
      const stored = await thread.messages();
      expect(stored.map(({ content }) => content)).to.deep.equal(MESSAGES);
      expect(stored[0]?.id).to.equal("m1");
      expect(await thread.resume()).to.equal(undefined);
      const journal = Journal.file(join(folder, "runs"));
      expect((await journal.list()).runs.map(({ status }) => status)).to.deep.equal(["completed"]);
      await journal.close();
    }
  });

  it("is in the thread that a page loads", async () => {
    const folder = temporaryFolder();
    await killed(folder, "send");
    await using desk = await chatService(options(folder));
    const { status, body } = await desk.service.ask("/api/chat/t");
    expect(status).to.equal(200);
    const { turn } = body as { readonly turn?: string };
    if (turn !== undefined) {
      const stream = await desk.service.fetch(`/api/chat/t/stream?turn=${turn}`);
      expect(textsOf(await partsIn(stream))).to.include("From 9 to 5.");
    }
    const thread = desk.chat.thread("t", { owner: "ada" });
    expect((await thread.messages()).map(({ content }) => content)).to.deep.equal(MESSAGES);
  });

  it("is not repeated once its thread has continued or was deleted", async () => {
    for (const act of ["send", "delete"]) {
      const folder = temporaryFolder();
      await killed(folder, "send");
      await using chat = new Conversation({
        ...options(folder),
        model: new ScriptedModel(["Hi."]),
      });
      const thread = chat.thread("t", { owner: "ada" });
      if (act === "send") await thread.send("Hello");
      else await thread.delete();
      expect(await thread.resume()).to.equal(undefined);
      expect((await thread.head())?.turns ?? 0).to.equal(act === "send" ? 1 : 0);
    }
  });
});

describe("the run of a turn in its journal", () => {
  it("is completed when the turn is stored, and before the answer is returned", async () => {
    const journal = Journal.inMemory();
    const store = ConversationStore.inMemory();
    const statusNow = async (): Promise<unknown> => (await journal.list()).runs[0]?.status;
    const { append } = store;
    const seen: unknown[] = [];
    store.append = async (id, change) => {
      const head = await append.call(store, id, change);
      seen.push(await statusNow());
      return head;
    };
    const model = new ScriptedModel(["Yes."]);
    await using chat = new Conversation({ agent, model, store, plugins: [durable({ journal })] });
    await chat.thread("t").send("Hello");
    expect([...seen, await statusNow()]).to.deep.equal(["running", "completed"]);
  });

  it("is failed for a turn that failed, and completed if another turn was stored first", async () => {
    const journal = Journal.inMemory();
    const store = ConversationStore.inMemory();
    const model = new ScriptedModel(() => {
      if (model.requests.length === 1) throw new Error("out of order");
      return "Yes.";
    });
    await using chat = new Conversation({ agent, model, store, plugins: [durable({ journal })] });
    const statuses = async (): Promise<unknown> =>
      (await journal.list()).runs.map(({ status }) => status).sort();
    expect(await rejection(chat.thread("t").send("Hello"))).to.include({
      code: "AE_TASK_EXECUTION",
    });
    expect(await statuses()).to.deep.equal(["failed"]);
    const { append } = store;
    store.append = async (id, change) => {
      const { turns, ...others } = change;
      await append.call(store, id, { ...others, turns }); // another writer
      return append.call(store, id, change);
    };
    const conflict = await rejection(chat.thread("t").send("Hello"));
    expect(conflict).to.include({ code: "AE_CONVERSATION_CONFLICT" });
    expect(await statuses()).to.deep.equal(["completed", "failed"]);
  });

  describe("of a turn that the store refused", () => {
    /** A conversation whose store refuses changes while `isFull`. */
    function fullDesk(o: Partial<ConversationOptions> = {}) {
      const store = ConversationStore.inMemory();
      const journal = Journal.inMemory();
      const disk = { isFull: true };
      const { append } = store;
      store.append = async (id, change) => {
        if (disk.isFull) throw new Error("the disk is full");
        return append.call(store, id, change);
      };
      const model = new ScriptedModel(["Yes."]);
      return {
        options: { agent, model, store, plugins: [durable({ journal })], ...o },
        disk,
        journal,
      };
    }

    it("is interrupted, and resume stores the answer without a call", async () => {
      const { options, disk, journal } = fullDesk();
      await using chat = new Conversation(options);
      const thread = chat.thread("t", { owner: "ada" });
      const refused = {
        code: "AE_CONVERSATION_STORE",
        hint: "The journal keeps the answer: thread.resume() stores it, without a model call.",
      };
      const sent = thread.send("Hello", { messageId: "m1" });
      expect(await rejection(sent)).to.include(refused);
      expect((await journal.list()).runs.map(({ status }) => status)).to.deep.equal([
        "interrupted",
      ]);
      const again = await thread.resume();
      expect(await rejection(Promise.resolve(again?.result))).to.include(refused);
      disk.isFull = false;
      const turn = await thread.resume();
      expect(turn?.question).to.include({ id: "m1", content: "Hello" });
      expect((await turn?.result)?.text).to.equal("Yes.");
      expect((await thread.messages()).map(({ content }) => content)).to.deep.equal([
        "Hello",
        "Yes.",
      ]);
      expect(await thread.resume()).to.equal(undefined);
      expect((await journal.list()).runs.map(({ status }) => status)).to.deep.equal(["completed"]);
    });

    it("is abandoned when the thread continues without it", async () => {
      const { options, disk, journal } = fullDesk({ model: new ScriptedModel(["Yes.", "No."]) });
      await using chat = new Conversation(options);
      await rejection(chat.thread("t").send("Hello"));
      disk.isFull = false;
      await chat.thread("t").send("Hi");
      expect(await chat.thread("t").resume()).to.equal(undefined);
      expect((await journal.list()).runs.map(({ status }) => status).sort()).to.deep.equal([
        "cancelled",
        "completed",
      ]);
    });

    it("provides its answer to a page that is loaded later, and ends every wait", async () => {
      const { options, disk } = fullDesk();
      await using desk = await chatService(options);
      expect((await partsIn(await desk.send("t", "Hello"))).at(-1)).to.deep.include({
        type: "error",
      });
      const { status } = await desk.service.ask("/api/chat/t");
      expect(status).to.be.oneOf([200, 404]);
      disk.isFull = false;
      const thread = desk.chat.thread("t", { owner: "ada" });
      await until(async () => {
        await desk.service.ask("/api/chat/t");
        return (await thread.messages()).length > 0;
      });
      expect((await thread.messages()).map(({ content }) => content)).to.deep.equal([
        "Hello",
        "Yes.",
      ]);
    });

    it("gives no hint of a journal if there is none", async () => {
      const { options } = fullDesk({ plugins: [] });
      await using chat = new Conversation(options);
      const error = await rejection(chat.thread("t").send("Hello"));
      expect((error as { readonly hint?: string }).hint).to.equal(undefined);
    });
  });

  it("reports a warning if it can't be ended, and provides the answer", async () => {
    const journal = Journal.inMemory();
    journal.release = () => Promise.reject(new Error("connection lost"));
    const model = new ScriptedModel(["Yes."]);
    await using chat = new Conversation({ agent, model, plugins: [durable({ journal })] });
    const warnings = await warningsOf(async () => {
      expect((await chat.thread("t").send("Hello")).text).to.equal("Yes.");
    });
    expect(warnings.join()).to.contain("The end of a turn of thread 't' is not in its journal");
    expect(await chat.thread("t").messages()).to.have.length(2);
  });
});
