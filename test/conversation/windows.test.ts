import type {
  ChatMessage,
  ChatRequest,
  EnsembleEvent,
  WindowPolicy as Policy,
} from "agentensemble";
import {
  Agent,
  Conversation,
  ConversationStore,
  definePlugin,
  Tokens,
  ValidationError,
  WindowPolicy,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";

const agent = new Agent({ role: "Assistant", goal: "Answers" });

const isSummary = ({ messages }: ChatRequest): boolean =>
  messages.length === 1 && messages[0]?.role === "user";

const textOf = ({ content }: ChatMessage): string =>
  typeof content === "string" ? content : JSON.stringify(content);

/** Answers each question with `ok`, and requests for a summary with their number. */
function answering(): ScriptedModel {
  let summaries = 0;
  return new ScriptedModel((request) => (isSummary(request) ? `summary ${++summaries} <b>` : "ok"));
}

/** The questions in the prompt of each turn, without the new one. */
function seenBy(model: ScriptedModel): readonly string[] {
  return model.requests
    .filter((request) => !isSummary(request))
    .map(({ messages }) =>
      messages
        .filter(({ role }) => role === "user")
        .slice(0, -1)
        .map((message) => textOf(message).replace(/^The earlier[\s\S]*$/, "S"))
        .join(""),
    );
}

async function chatted(
  window: Policy | undefined,
  count: number,
  tokens = 1,
): Promise<ScriptedModel> {
  const model = answering();
  const counter = definePlugin({
    name: "test-counter",
    bind: (bind) =>
      void bind.single(Tokens.TokenCounter, { override: true }).toConstantValue({
        count: (text) => text.split("\n").length * tokens,
      }),
  });
  await using chat = new Conversation({ agent, model, window, plugins: [counter] });
  for (let i = 0; i < count; i++) await chat.thread("t").send(String(i));
  return model;
}

describe("WindowPolicy", () => {
  it("lastTurns shows the last turns", async () => {
    const model = await chatted(WindowPolicy.lastTurns(2), 5);
    expect(seenBy(model)).to.deep.equal(["", "0", "01", "12", "23"]);
  });

  it("lastTurns with a step keeps the first shown turn for several turns", async () => {
    const model = await chatted(WindowPolicy.lastTurns(2, { step: 3 }), 8);
    expect(seenBy(model)).to.deep.equal(["", "0", "01", "012", "0123", "34", "345", "3456"]);
  });

  it("shows the last 50 turns by default", async () => {
    const model = await chatted(undefined, 52);
    const all = Array.from({ length: 51 }, (_, i) => String(i));
    expect(seenBy(model).slice(50)).to.deep.equal([
      all.slice(0, 50).join(""),
      all.slice(1).join(""),
    ]);
  });

  it("all shows all turns", async () => {
    expect(seenBy(await chatted(WindowPolicy.all(), 4)).at(-1)).to.equal("012");
  });

  it("tokens selects the turns that fit, and at least the last turn", async () => {
    // a turn has two lines and the end of the last one: 3 tokens
    expect(seenBy(await chatted(WindowPolicy.tokens(7), 5)).at(-1)).to.equal("23");
    expect(seenBy(await chatted(WindowPolicy.tokens(1), 3)).at(-1)).to.equal("1");
    expect(seenBy(await chatted(WindowPolicy.tokens(1_000), 40)).at(-1)?.length).to.equal(68);
  });

  it("summary summarizes turns that no longer fit, and extends the summary", async () => {
    const model = await chatted(WindowPolicy.summary({ turns: 4, keepTurns: 2 }), 9);
    expect(seenBy(model)).to.deep.equal([
      "",
      "0",
      "01",
      "012",
      "0123",
      "S34",
      "S345",
      "S3456",
      "S67",
    ]);
    const [first, second, ...others] = model.requests.filter(isSummary);
    expect(others).to.deep.equal([]);
    const text = textOf(first?.messages[0] ?? { role: "user", content: "" });
    expect(text).to.include("User: 0\nAssistant: ok\nUser: 1\nAssistant: ok\nUser: 2");
    expect(text).not.to.include("User: 3").and.not.to.include("Extend");
    const next = textOf(second?.messages[0] ?? { role: "user", content: "" });
    expect(next).to.include("Extend").and.to.include("summary 1 &lt;b>").and.to.include("User: 5");
    const shown = model.requests.at(-1)?.messages[1];
    expect(shown).to.include({ role: "user" });
    expect(textOf(shown ?? { role: "user", content: "" })).to.include("summary 2 &lt;b>");
  });

  it("summary counts its call with its purpose, keeps the turns, and shows no token of it", async () => {
    const model = answering();
    const store = ConversationStore.inMemory();
    const window = WindowPolicy.summary({ tokens: 1, keepTurns: 1, maxWords: 9, model });
    await using chat = new Conversation({ agent, model, window, store });
    const thread = chat.thread("t");
    for (const input of ["0", "1"]) await thread.send(input);
    const turn = thread.stream("2");
    const tokens: string[] = [];
    for await (const token of turn.text) tokens.push(token);
    const { output } = await turn.result;
    expect(tokens.join("")).to.equal("ok");
    expect(output.metrics.ledger.map(({ purpose }) => purpose)).to.deep.equal(["summary", "task"]);
    expect((await thread.head())?.summary).to.include({ upTo: 0, text: "summary 1 <b>" });
    expect(await thread.messages()).to.have.length(6);
    const fork = await thread.fork((await thread.messages())[0]?.turnId);
    expect((await fork.head())?.summary).to.include({ upTo: 0 });
    await thread.edit((await thread.messages())[0]?.turnId ?? "").result;
    expect((await thread.head())?.summary).to.equal(undefined);
  });

  it("continues with a warning if the summary fails", async () => {
    const model = new ScriptedModel((request) => (isSummary(request) ? " " : "ok"));
    const window = WindowPolicy.summary({ turns: 2 });
    const warnings: string[] = [];
    const on = (event: EnsembleEvent): void =>
      void (event.type === "run_warning" && warnings.push(event.message));
    await using chat = new Conversation({ agent, model, window, on });
    for (const input of ["0", "1", "2", "3"]) await chat.thread("t").send(input);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include("could not be summarized");
    expect(seenBy(model)).to.deep.equal(["", "0", "01", "2"]);
    expect((await chat.thread("t").head())?.summary).to.equal(undefined);
  });

  it("is taken from the container, like the store", async () => {
    const store = ConversationStore.inMemory();
    const plugin = definePlugin({
      name: "test-bindings",
      bind(bind) {
        bind.single(Tokens.WindowPolicy).toConstantValue(WindowPolicy.lastTurns(1));
        bind.single(Tokens.ConversationStore).toConstantValue(store);
      },
    });
    const model = answering();
    await using chat = new Conversation({ agent, model, plugins: [plugin] });
    for (const input of ["0", "1", "2"]) await chat.thread("t").send(input);
    expect(seenBy(model)).to.deep.equal(["", "0", "1"]);
    expect((await store.open("t"))?.turns).to.equal(3);
  });

  it("refuses invalid options", () => {
    const bad = (value: unknown): never => value as never;
    for (const make of [
      () => WindowPolicy.lastTurns(0),
      () => WindowPolicy.lastTurns(bad(undefined)),
      () => WindowPolicy.lastTurns(2, { step: 0 }),
      () => WindowPolicy.lastTurns(2, bad({ steps: 1 })),
      () => WindowPolicy.tokens(0.5),
      () => WindowPolicy.summary({}),
      () => WindowPolicy.summary({ turns: 2, keepTurns: 3 }),
      () => WindowPolicy.summary({ tokens: -1 }),
      () => WindowPolicy.summary({ tokens: 5, model: bad(7) }),
    ])
      expect(make, String(make)).to.throw(ValidationError);
  });
});
