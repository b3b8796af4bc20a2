import type { ConversationOptions } from "agentensemble";
import type { ChatHandlerOptions } from "agentensemble/http";
import { ConversationStore, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { StreamStore, toUIMessages } from "agentensemble/ui";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect } from "chai";
import { Gate } from "../../conversation/gate.js";
import { checkUiParts } from "../ui/fixtures.js";
import { chatService, partsIn, type ChatService } from "./chat-service.js";
import { memoryLog } from "./memory-log.js";

type Settings = Partial<ChatHandlerOptions> & Pick<ConversationOptions, "on">;

const HEADERS = { "x-user": "ada" };

/** Each page that resumes must receive the same content in all these cases. */
const SETTINGS: Readonly<Record<string, () => Settings>> = {
  "a store of streams": () => ({ streams: StreamStore.inMemory() }),
  "a log of runs": () => {
    const { log, record: on } = memoryLog();
    return { log, on };
  },
  "neither of them": () => ({}),
};

function lineOf({ role, parts }: UIMessage): string {
  return `${role}: ${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`;
}

/**
 * A tab as in the documentation: it loads its thread, then requests the turn that the thread named.
 */
class Tab {
  readonly #api: ChatService;
  readonly #id: string;
  #messages: readonly UIMessage[] = [];
  #turn: string | undefined;
  #resumed: Promise<readonly string[]> | undefined;

  constructor(api: ChatService, id: string) {
    this.#api = api;
    this.#id = id;
  }

  async get(): Promise<void> {
    const answer = await this.#api.handler(
      new Request(`http://localhost/api/chat/${this.#id}`, { headers: HEADERS }),
    );
    if (answer.status === 404) return; // a new thread
    const body = (await answer.json()) as { messages: UIMessage[]; turn?: string };
    this.#messages = body.messages;
    this.#turn = body.turn;
  }

  /** Sends the request for the stream, which may be answered later. */
  resume(): void {
    this.#resumed = this.#read();
    this.#resumed.catch(() => undefined);
  }

  /** The content of the tab after its stream has ended. */
  async shown(): Promise<readonly string[]> {
    return (await this.#resumed) ?? [];
  }

  async #read(): Promise<readonly string[]> {
    const turn = this.#turn;
    if (turn === undefined) return this.#messages.map(lineOf);
    const transport = new DefaultChatTransport<UIMessage>({
      api: "http://localhost/api/chat",
      headers: HEADERS,
      fetch: (input, init) => this.#api.handler(new Request(input, init)),
      prepareReconnectToStreamRequest: ({ api, id }) => ({
        api: `${api}/${id}/stream?turn=${turn}`,
      }),
    });
    const stream = await transport.reconnectToStream({ chatId: this.#id });
    if (stream === null) return [...this.#messages.map(lineOf), "nothing"];
    const last = this.#messages.at(-1);
    const before = last?.role === "assistant" ? last : undefined; // like useChat
    const errors: string[] = [];
    let message = before;
    for await (const next of readUIMessageStream({
      stream,
      ...(before !== undefined && { message: before }),
      onError: (error) => void errors.push(String(error)),
    }))
      message = next;
    const others = before === undefined ? this.#messages : this.#messages.slice(0, -1);
    return [...others, ...(message === undefined ? [] : [message])].map(lineOf).concat(errors);
  }
}

/** All interleavings of the steps of several parties, each with its own order. */
function interleavings(parties: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const left = parties.filter((steps) => steps.length > 0);
  if (left.length === 0) return [[]];
  return left.flatMap((party) => {
    const others = left.map((steps) => (steps === party ? steps.slice(1) : steps));
    return interleavings(others).map((rest) => [party[0] ?? "", ...rest]);
  });
}

/** One thread whose turns begin and end on request of a test. */
class Turns {
  readonly #api: ChatService;
  readonly #id: string;
  readonly #gates: ReadonlyMap<string, Gate>;
  #sent: Promise<unknown> | undefined;

  constructor(api: ChatService, id: string, gates: ReadonlyMap<string, Gate>) {
    this.#api = api;
    this.#id = id;
    this.#gates = gates;
  }

  async begin(text: string): Promise<void> {
    this.#sent = this.#api
      .post({
        id: this.#id,
        messages: [{ id: `m-${text}`, role: "user", parts: [{ type: "text", text }] }],
      })
      .then(partsIn);
    await this.#gates.get(text)?.arrival();
  }

  async end(text: string): Promise<void> {
    this.#gates.get(text)?.open();
    await this.#sent;
  }
}

describe("a page that resumes the turn that its thread named", () => {
  const made: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });
  const open = async (
    { on, ...o }: Settings,
    conversation: Partial<ConversationOptions> = {},
  ): Promise<ChatService> => {
    const api = await chatService({ ...conversation, ...(on !== undefined && { on }) }, o);
    made.push(api);
    return api;
  };

  interface Parties {
    readonly settings: Settings;
    readonly turns: readonly string[];
    readonly tabs: readonly string[];
    readonly fails?: boolean;
  }
  /**
   * Executes the steps of all parties in every order. `expected` returns the content of a tab that
   * loads after these steps.
   */
  async function inEveryOrder(
    { settings, turns, tabs: names, fails = false }: Parties,
    expected: (before: readonly string[]) => readonly string[],
  ): Promise<number> {
    const gates = new Map<string, Gate>();
    const model = new ScriptedModel(async ({ messages }) => {
      const last = messages.findLast(({ role }) => role === "user");
      const question = typeof last?.content === "string" ? last.content : "";
      await gates.get(question)?.pass();
      if (fails) throw new Error("SECRET");
      return `re: ${question}`;
    });
    const api = await open(settings, { model });
    const orders = interleavings([
      turns.flatMap((name) => [`begin ${name}`, `end ${name}`]),
      ...names.map((name) => [`get ${name}`, `resume ${name}`]),
    ]).filter(
      (steps) => steps.lastIndexOf("get A") <= steps.lastIndexOf("get B") || names.length < 2,
    );
    for (const [n, steps] of orders.entries()) {
      const thread = new Turns(api, `t${n}`, gates);
      const tabs = new Map(names.map((name) => [name, new Tab(api, `t${n}`)]));
      for (const name of turns) gates.set(name, new Gate());
      for (const step of steps) {
        const [verb = "", name = ""] = step.split(" ");
        if (verb === "begin") await thread.begin(name);
        else if (verb === "end") await thread.end(name);
        else if (verb === "get") await tabs.get(name)?.get();
        else tabs.get(name)?.resume();
      }
      for (const [name, tab] of tabs)
        expect(await tab.shown(), `${name} of ${steps.join(", ")}`).to.deep.equal(
          expected(steps.slice(0, steps.indexOf(`get ${name}`))),
        );
    }
    return orders.length;
  }
  const answered = (before: readonly string[]): readonly string[] =>
    ["Where?", "When?"]
      .filter((text) => before.includes(`begin ${text}`))
      .flatMap((text) => [`user: ${text}`, `assistant: re: ${text}`]);

  for (const [name, settings] of Object.entries(SETTINGS)) {
    it(`has each answer once with ${name}, in every order of two tabs and a turn`, async () => {
      const parties = { settings: settings(), turns: ["Where?"], tabs: ["A", "B"] };
      expect(await inEveryOrder(parties, answered)).to.equal(45);
    });

    it(`has each answer once with ${name}, in every order of a tab and two turns`, async () => {
      const parties = { settings: settings(), turns: ["Where?", "When?"], tabs: ["A"] };
      expect(await inEveryOrder(parties, answered)).to.equal(15);
    });

    it(`has the error of a turn that failed with ${name}, in every order`, async () => {
      const parties = { settings: settings(), turns: ["Where?"], tabs: ["A"], fails: true };
      await inEveryOrder(parties, (before) =>
        before.includes("begin Where?") && !before.includes("end Where?")
          ? ["user: Where?", "assistant: ", "Error: An error occurred. (AE_TASK_EXECUTION)"]
          : [],
      );
    });
  }

  const streamOf = async (
    { handler }: ChatService,
    turn: string,
    { user = "ada", thread = "t" } = {},
  ): Promise<Response> =>
    handler(
      new Request(`http://localhost/api/chat/${thread}/stream?turn=${encodeURIComponent(turn)}`, {
        headers: { "x-user": user },
      }),
    );

  it("receives the stored answer from a process that did not run the turn", async () => {
    const store = ConversationStore.inMemory();
    const [begins, resumes] = [await open({}, { store }), await open({}, { store })];
    const answer = await begins.send("t", "Where?");
    await partsIn(answer);
    const turn = answer.headers.get("x-agentensemble-run-id") ?? "";
    const parts = await partsIn(await streamOf(resumes, turn));
    expect(parts.find(({ type }) => type === "text-delta")?.["delta"]).to.equal("re: Where?");
    expect((await streamOf(resumes, "r-unknown")).status).to.equal(204);
    expect((await streamOf(resumes, "")).status).to.equal(204);
    expect((await streamOf(resumes, "__proto__")).status).to.equal(204);
  });

  it("receives the parts of a stored answer like a page that loads the thread later", async () => {
    const look = tool({
      name: "look",
      title: "Look",
      description: "l",
      execute: () => "PUBLIC",
    });
    const hide = tool({ name: "hide", description: "h", private: true, execute: () => "PRIVATE" });
    const fail = tool({
      name: "fail",
      description: "f",
      execute: () => {
        throw new Error("SECRET");
      },
    });
    const model = new ScriptedModel([
      {
        text: "Let me see.",
        reasoning: ["Hm."],
        toolCalls: ["look", "hide", "fail"].map((name) => ({ name, arguments: {} })),
      },
      "There.",
    ]);
    const api = await open({}, { model, tools: [look, hide, fail] });
    const answer = await api.send("t", "Where?");
    await partsIn(answer);
    const turn = answer.headers.get("x-agentensemble-run-id") ?? "";
    const parts = await partsIn(await streamOf(api, turn));
    await checkUiParts(parts);
    expect(JSON.stringify(parts))
      .to.contain("PUBLIC")
      .and.not.match(/PRIVATE|SECRET/);
    const stream = ReadableStream.from(parts) as unknown as Parameters<
      typeof readUIMessageStream
    >[0]["stream"];
    let read: UIMessage | undefined;
    for await (const next of readUIMessageStream({ stream })) read = next;
    const stored = toUIMessages(await api.chat.thread("t", { owner: "ada" }).messages()).at(-1);
    const hidden = ["metadata", "id"]; // the reader has numbers of reasoning, the thread has none
    const simple = (message: unknown): unknown =>
      JSON.parse(
        JSON.stringify(message, (key, v: unknown) => (hidden.includes(key) ? undefined : v)),
      );
    expect(read?.id).to.equal(stored?.id);
    expect(simple(read)).to.deep.equal(simple(stored));
  });

  it("receives the text of an untrusted tool as in the stream, without the markers for the model", async () => {
    for (const execute of [() => "FROM OUTSIDE", () => ({ from: "OUTSIDE" })]) {
      const look = tool({ name: "look", description: "l", untrusted: true, execute });
      const model = new ScriptedModel([{ toolCalls: [{ name: "look", arguments: {} }] }, "There."]);
      const api = await open({}, { model, tools: [look] });
      const streamed = await partsIn(await api.send("t", "Where?"));
      const stored = await api.chat.thread("t", { owner: "ada" }).messages();
      expect(stored.find(({ role }) => role === "tool")?.content).to.match(/marker/);
      const parts = toUIMessages(stored).at(-1)?.parts;
      expect(parts?.find(({ type }) => type === "dynamic-tool")?.["output"]).to.deep.equal(
        streamed.find(({ type }) => type === "tool-output-available")?.["output"],
      );
    }
  });

  it("receives no turn of another owner or thread, and none of a deleted thread", async () => {
    const gate = new Gate();
    const model = new ScriptedModel(async () => {
      await gate.pass();
      return "SECRET";
    });
    const api = await open({ streams: StreamStore.inMemory() }, { model });
    const answer = await api.send("t", "Where?");
    await gate.arrival();
    const turn = answer.headers.get("x-agentensemble-run-id") ?? "";
    const others = [{ user: "bob" }, { user: "guest" }, { thread: "u" }];
    const noneOf = async (): Promise<void> => {
      for (const other of others) {
        const refused = await streamOf(api, turn, other);
        expect([204, 404]).to.include(refused.status);
        expect(await refused.text()).not.to.contain("SECRET");
      }
    };
    await noneOf();
    gate.open();
    expect(await answer.text()).to.contain("SECRET");
    await noneOf();
    expect(await (await streamOf(api, turn)).text()).to.contain("SECRET");
    const path = "/api/chat/t";
    expect((await api.service.fetch(path, { method: "DELETE" })).status).to.equal(200);
    expect((await streamOf(api, turn)).status).to.equal(204);
    expect((await api.service.fetch(`${path}/stream`)).status).to.equal(204);
  });
});
