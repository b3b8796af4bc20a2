import { Agent, Conversation, ConversationStore } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { DashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import type {
  ConversationListBody,
  ThreadBody,
  ThreadListBody,
} from "../../../../src/plugins/dashboard/protocol/thread-bodies.js";
import type { ErrorBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { Boards } from "./boards.js";
import { ask, askJson } from "./client.js";

const KEY = "sk-proj-0123456789abcdefghijklmnopqrstuv";
const THREADS = "/api/conversations/support/threads";

describe("threads of conversations on a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  async function opened(
    o: DashboardOptions = {},
    store = ConversationStore.inMemory(),
  ): Promise<{ readonly url: string; readonly chat: Conversation }> {
    const { board, url } = await boards.listening(o);
    const chat = new Conversation({
      agent: new Agent({ role: "Support", goal: "Answers" }),
      model: new ScriptedModel(["Hello Ada", "It is late", "Bye"], { onExhausted: "repeat-last" }),
      kernel: boards.kernel(board),
      store,
    });
    boards.later(() => chat.dispose());
    board.registerConversation("support", chat, { title: "Support" });
    return { url, chat };
  }

  it("are listed, the last changed first, and read with the run of each turn", async () => {
    const { url, chat } = await opened();
    const first = await chat.thread("t 1", { owner: "ada" }).send(`I am Ada, my key is ${KEY}`);
    await chat.thread("t2").send("What time is it?");
    expect(await askJson<ConversationListBody>(url, "/api/conversations")).to.deep.equal({
      conversations: [{ name: "support", title: "Support" }],
    });
    const { threads } = await askJson<ThreadListBody>(url, THREADS);
    expect(threads.map(({ id, owner, turns }) => [id, owner, turns])).to.deep.equal([
      ["t2", undefined, 1],
      ["t 1", "ada", 1],
    ]);
    const page = await askJson<ThreadListBody>(url, `${THREADS}?limit=1`);
    expect(page.threads).to.have.lengthOf(1);
    const rest = await askJson<ThreadListBody>(url, `${THREADS}?limit=1&after=${page.next}`);
    expect(rest.threads[0]?.id).to.equal("t 1");
    const { thread, messages } = await askJson<ThreadBody>(url, `${THREADS}/t%201?owner=ada`);
    expect(thread).to.include({ id: "t 1", owner: "ada", agentRole: "Support" });
    expect(messages.map(({ role, runId, agentRole }) => [role, runId, agentRole])).to.deep.equal([
      ["user", first.turnId, undefined],
      ["assistant", first.turnId, "Support"],
    ]);
    expect(messages[0]?.text).to.include("I am Ada").and.not.include(KEY);
    expect(messages[1]?.text).to.equal("Hello Ada");
    const run = await ask(url, `/api/runs/${first.turnId}`);
    expect(run.status, "the run behind the turn").to.equal(200);
  });

  it("are read in pages, backwards", async () => {
    const { url, chat } = await opened();
    const thread = chat.thread("t");
    for (const text of ["one", "two", "three"]) await thread.send(text);
    const last = await askJson<ThreadBody>(url, `${THREADS}/t?limit=2`);
    expect(last.messages.map(({ text }) => text)).to.include.members(["two", "three"]);
    const path = `${THREADS}/t?limit=2&before=${last.previous}`;
    const before = await askJson<ThreadBody>(url, path);
    expect(before.messages[0]?.text).to.equal("one");
    expect(before).not.to.have.property("previous");
  });

  it("contain no texts with contents: false", async () => {
    const { url, chat } = await opened({ contents: false });
    const thread = chat.thread("t", { owner: "ada" });
    await thread.send("kingfisher");
    await thread.rename("About a kingfisher");
    for (const path of [THREADS, `${THREADS}/t?owner=ada`]) {
      const { status, text } = await ask(url, path);
      expect(status).to.equal(200);
      expect(text)
        .to.include('"owner":"ada"')
        .and.not.match(/kingfisher|Hello/);
    }
  });

  it("are accessible to their owners only", async () => {
    const authenticate = (request: Request) => {
      const owner = request.headers.get("x-user");
      return { name: "someone", role: "viewer", ...(owner !== null && { owner }) } as const;
    };
    const { url, chat } = await opened({ authenticate });
    await chat.thread("t", { owner: "ada" }).send("Hello");
    const asBob = { headers: { "x-user": "bob" } };
    const listed = await askJson<ThreadListBody>(url, `${THREADS}?owner=ada`, asBob);
    expect(listed.threads).to.deep.equal([]);
    for (const [path, o] of [
      [`${THREADS}/t?owner=ada`, asBob],
      [`${THREADS}/t`, {}],
      [`${THREADS}/none`, {}],
    ] as const) {
      const { error } = await askJson<ErrorBody>(url, path, o);
      expect(error, path).to.equal("THREAD_NOT_FOUND");
    }
    const asAda = { headers: { "x-user": "ada" } };
    expect((await ask(url, `${THREADS}/t`, asAda)).status).to.equal(200);
  });

  it("are refused for other names, and while the store fails", async () => {
    const store = ConversationStore.inMemory();
    const { url } = await opened({}, store);
    const other = await askJson<ErrorBody>(url, "/api/conversations/none/threads");
    expect(other.error).to.equal("CONVERSATION_NOT_FOUND");
    store.list = () => Promise.reject(new Error("the disk is gone"));
    const { status, text } = await ask(url, THREADS);
    expect(status).to.equal(503);
    expect(text).to.include("STORE_UNAVAILABLE").and.include("the disk is gone");
  });

  it("require a conversation, and an unused name", () => {
    const board = boards.board({ port: false });
    const chat = { threads: () => 1, thread: () => 1 } as never;
    board.registerConversation("chat", chat);
    const cases: readonly (readonly [string, object, object, string])[] = [
      ["chat", chat, {}, "registered on the dashboard already"],
      ["a/b", chat, {}, "letters, digits"],
      ["b", {}, {}, "It has no threads()"],
      ["b", chat, { title: " " }, "title"],
      ["b", chat, { label: "x" }, "label"],
    ];
    for (const [name, given, o, words] of cases) {
      let message = "";
      try {
        board.registerConversation(name, given as never, o);
      } catch (error) {
        message = `${String(error)} ${(error as { hint?: string }).hint ?? ""}`;
      }
      expect(message).to.include(words);
    }
  });
});
