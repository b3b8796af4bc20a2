import type { ChatModel, ChatRequest, ConversationOptions, JsonValue } from "agentensemble";
import {
  Agent,
  attachment,
  BudgetExceededError,
  Conversation,
  ConversationConflictError,
  ConversationStore,
  definePlugin,
  MemoryStore,
  MemoryStoreError,
  replace,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { MapStore } from "../plugins/memory/map-store.js";
import { rejectionOf } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { Gate } from "./gate.js";

const agent = new Agent({ role: "Clerk", goal: "Answers" });

/** A model whose answers have a signed thought. */
function thinking(requests: ChatRequest[]): ChatModel {
  return {
    provider: "house",
    modelId: "m",
    chat: (request) => {
      requests.push({ ...request, messages: [...request.messages] });
      const data: JsonValue = { signature: "c2ln" };
      const place = { provider: "house", modelId: "m", index: 0 } as const;
      const thought = { type: "reasoning", text: "A thought.", ...place, data } as const;
      return Promise.resolve({
        message: { role: "assistant", content: "An answer.", reasoning: [thought] },
        finishReason: "stop",
      });
    },
  };
}

describe("the services of a run in a turn", () => {
  it("store a text that a hook has changed, without the vendor's block of reasoning", async () => {
    for (const changes of [true, false]) {
      const polite = definePlugin({
        name: "polite",
        apply: ({ hooks }) =>
          hooks.afterTask.tap({ name: "polite", lane: "transform" }, (call) =>
            changes && call.outcome === "ok" ? replace({ raw: "Changed." }) : undefined,
          ),
      });
      const requests: ChatRequest[] = [];
      await using chat = new Conversation({ agent, model: thinking(requests), plugins: [polite] });
      const { text, messages } = await chat.thread("t").send("Hello");
      expect([text, messages[1]?.content]).to.deep.equal(
        changes ? ["Changed.", "Changed."] : ["An answer.", "An answer."],
      );
      await chat.thread("t").send("And?");
      const sent = JSON.stringify(requests[1]?.messages);
      expect(sent.includes("c2ln")).to.equal(!changes);
      expect(sent).to.include(text);
      if (changes) expect(sent).not.to.include("An answer.");
    }
  });

  it("keep question and answer as one memory entry, which the instructions of other threads contain", async () => {
    const memoryStore = MemoryStore.inMemory();
    const model = new ScriptedModel(["It is Ada.", "Ada, as I know."]);
    await using chat = new Conversation({ agent, model, memoryStore, memoryScopes: ["notes"] });
    await chat.thread("a").send("My name is Ada.");
    const entries = await memoryStore.retrieve("notes", "name", 9);
    expect(entries).to.have.length(1);
    expect(entries[0]?.content).to.equal("User: My name is Ada.\nAssistant: It is Ada.");
    await chat.thread("b").send("Who am I?");
    const [system, ...others] = model.requests[1]?.messages ?? [];
    expect(system?.content).to.include("My name is Ada.").and.include("It is Ada.");
    expect(others).to.deep.equal([{ role: "user", content: "Who am I?" }]);
  });

  for (const operation of ["store", "retrieve"] as const)
    it(`report a memory whose ${operation} fails as a warning, or fail the turn, according to its option`, async () => {
      for (const memoryErrors of [undefined, "fail"] as const) {
        const memoryStore = new MapStore();
        memoryStore.before = (called) => {
          if (called === operation) throw new Error("disk full");
        };
        const warnings: string[] = [];
        await using chat = new Conversation({
          ...{ agent, model: new ScriptedModel(["Hi."]), memoryErrors, memoryStore },
          memoryScopes: ["notes"],
          on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
        });
        const thread = chat.thread("t");
        const { status, error } = await thread.send("Hello", { throwOnError: false });
        const isLenient = memoryErrors === undefined;
        expect(status).to.equal(isLenient ? "completed" : "failed");
        expect(MemoryStoreError.find(error)?.operation).to.equal(isLenient ? undefined : operation);
        expect(warnings.join()).to.match(isLenient ? /'notes'.*disk full/ : /^$/);
        expect(await thread.messages()).to.have.length(isLenient ? 2 : 0);
      }
    });

  it("report a listener that throws as a warning, and store the turn", async () => {
    const warnings: string[] = [];
    await using chat = new Conversation({
      ...{ agent, model: new ScriptedModel(["Hi."]) },
      on: (event) => {
        if (event.type === "run_warning") warnings.push(event.message);
        else throw new Error("no listener");
      },
    });
    expect((await chat.thread("t").send("Hello")).status).to.equal("completed");
    expect(warnings).to.have.length(1);
    expect(await chat.thread("t").messages()).to.have.length(2);
  });

  it("end a turn that exceeds a budget as failed, and keep it according to the thread's option", async () => {
    const usage = { inputTokens: 60, outputTokens: 40 };
    const model = new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "user"
        ? { text: "I look.", toolCalls: [{ name: "nothing", arguments: {} }], usage }
        : { text: "Done.", usage },
    );
    for (const onFailure of ["discard", "keep"] as const) {
      const options: ConversationOptions = {
        ...{ agent, model, onFailure },
        plugins: [budget({ maxTokens: 100 })],
        on: () => undefined,
      };
      await using chat = new Conversation(options);
      const thread = chat.thread("t");
      const { status, error } = await thread.send("Hello", { throwOnError: false });
      expect(status).to.equal("failed");
      expect(BudgetExceededError.find(error)).to.be.instanceOf(BudgetExceededError);
      const stored = (await thread.messages()).map(({ role, content }) => [role, content]);
      expect(stored.slice(0, 1)).to.deep.equal(onFailure === "keep" ? [["user", "Hello"]] : []);
    }
  });

  it("trace the type, size and hash of a file, but neither its bytes nor reasoning", async () => {
    const bytes = Buffer.concat([
      Buffer.from("%PDF-1.7 "),
      Buffer.from("private words ".repeat(9)),
    ]);
    const file = attachment.fromBytes(bytes, { name: "a.pdf" });
    await using chat = new Conversation({ agent, model: thinking([]) });
    const { output } = await chat.thread("t").send([{ type: "text", text: "Read" }, file]);
    const trace = JSON.stringify(output.trace);
    expect(trace).to.include('"mediaType":"application/pdf"').and.include('"sha256":"');
    expect(trace).to.include(`"bytes":${bytes.length}`).and.include('"name":"a.pdf"');
    for (const absent of [String(file.data).slice(20, 60), "A thought.", "c2ln"])
      expect(trace).not.to.include(absent);
  });

  it("report a conflict with the answer if another process deletes the thread during a turn", async () => {
    const folder = temporaryFolder();
    const gate = new Gate();
    const model = new ScriptedModel(async () => {
      await gate.pass();
      return "Late.";
    });
    await using chat = new Conversation({
      ...{ agent, model },
      store: ConversationStore.file(folder),
    });
    await using other = new Conversation({
      ...{ agent, model: new ScriptedModel(["First."]) },
      store: ConversationStore.file(folder),
    });
    await other.thread("t").send("Hello");
    const turn = chat.thread("t").send("And?");
    await gate.arrival();
    expect(await other.thread("t").delete()).to.equal(true);
    gate.open();
    const { result } = await rejectionOf(ConversationConflictError, turn);
    expect(result?.text).to.equal("Late.");
    expect(await chat.thread("t").head()).to.equal(undefined);
  });
});
