import type { ConversationOptions, StoredReview } from "agentensemble";
import type { ChatHandlerOptions } from "agentensemble/http";
import { Chat } from "@ai-sdk/react";
import {
  Agent,
  ConversationStore,
  definePlugin,
  Ensemble,
  reject,
  Task,
  tool,
} from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { runHandler } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { clientTool } from "agentensemble/tools";
import {
  DefaultChatTransport,
  isStaticToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  validateUIMessages,
  type UIMessage,
} from "ai";
import { expect } from "chai";
import { z } from "zod";
import { Gate } from "../../conversation/gate.js";
import { until } from "../../support/time.js";
import { checkUiParts, ofType } from "../ui/fixtures.js";
import { authenticate, serve } from "./service.js";
import { chatService, partsIn, userMessage, type ChatService } from "./chat-service.js";

const timeZone = clientTool({
  name: "time_zone",
  description: "Returns the time zone of the user",
  title: "Reads the time zone",
  input: z.object({ format: z.enum(["name", "offset"]) }),
  output: z.object({ zone: z.string().max(40) }),
});

/** A model that requests the time zone, then repeats its input. */
function asking(): ScriptedModel {
  return new ScriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "tool"
      ? `Got: ${last.content}`
      : { text: "One moment.", toolCalls: [{ name: "time_zone", arguments: { format: "name" } }] };
  });
}

interface Executed {
  readonly toolName: string;
  readonly input: unknown;
  readonly dynamic?: boolean | undefined;
}

/** A page with `useChat`, as in the documentation of the AI SDK. */
class ChatPage {
  readonly chat: Chat<UIMessage>;
  readonly executed: Executed[] = [];
  readonly bodies: unknown[] = [];
  readonly errors: string[] = [];

  constructor(
    { service }: ChatService,
    answer: (chat: Chat<UIMessage>, toolCallId: string) => unknown,
    { user = "ada", messages = [] as UIMessage[] } = {},
  ) {
    this.chat = new Chat<UIMessage>({
      id: "t",
      messages,
      transport: new DefaultChatTransport<UIMessage>({
        api: `${service.url}/api/chat`,
        headers: { "x-user": user },
        fetch: (url, init) => {
          if (typeof init?.body === "string") this.bodies.push(JSON.parse(init.body));
          return fetch(url, init);
        },
      }),
      sendAutomaticallyWhen: (now) =>
        lastAssistantMessageIsCompleteWithToolCalls(now) ||
        lastAssistantMessageIsCompleteWithApprovalResponses(now),
      onToolCall: ({ toolCall }) => {
        const { toolName, input, dynamic } = toolCall;
        this.executed.push({ toolName, input, dynamic });
        answer(this.chat, toolCall.toolCallId);
      },
      onError: (error) => void this.errors.push(error.message),
    });
  }

  get parts(): UIMessage["parts"] {
    return this.chat.lastMessage?.parts ?? [];
  }

  get text(): string {
    return this.parts.map((part) => (part.type === "text" ? part.text : "")).join("|");
  }

  get call(): { readonly state: string; readonly output?: unknown; readonly type: string } {
    const part = this.parts.find(({ type }) => type === "tool-time_zone");
    return (part as ChatPage["call"] | undefined) ?? expect.fail("the page shows the call");
  }

  /** Waits until the model has answered. */
  async answered(text = "Got:"): Promise<void> {
    await until(() => this.chat.status === "ready" && this.text.includes(text));
  }
}

const berlin = (chat: Chat<UIMessage>, toolCallId: string): void =>
  void chat.addToolOutput({
    tool: "time_zone",
    toolCallId,
    output: { zone: "Europe/Berlin" },
  });
const silent = (): void => undefined;

describe("tools that a page executes", () => {
  const made: ChatService[] = [];
  let questions = 0;
  afterEach(async () => {
    for (const desk of made.splice(0)) await desk[Symbol.asyncDispose]();
  });

  async function open(
    conversation: Partial<ConversationOptions> = {},
    o: Partial<ChatHandlerOptions> = {},
  ): Promise<ChatService> {
    const { plugins = [], ...rest } = conversation;
    const reviews = o.reviews ?? reviewInbox();
    const isOurs = o.reviews === undefined;
    const desk = await chatService(
      {
        model: asking(),
        tools: [timeZone],
        plugins: [
          ...(isOurs ? [review({ store: reviews as ReturnType<typeof reviewInbox> })] : []),
          ...plugins,
        ],
        ...rest,
      },
      { reviews, ...o },
    );
    made.push(desk);
    return desk;
  }

  /** Starts a turn that waits for the page, and returns the request that the page would send. */
  async function waiting(
    desk: ChatService,
  ): Promise<(end: object, ask?: object, id?: string) => Promise<Response>> {
    const question = userMessage("Where?", `m-${++questions}`);
    const parts = await partsIn(await desk.post({ id: "t", messages: [question] }));
    await checkUiParts(parts);
    const toolCallId = ofType(parts, "tool-input-available")[0]?.["toolCallId"];
    const messageId = parts[0]?.["messageId"];
    const message = (end: object) => ({
      id: messageId,
      role: "assistant",
      parts: [{ type: "tool-time_zone", toolCallId, input: {}, ...end }],
    });
    return (end, ask, id = "t") => {
      const messages = [question, message(end)];
      const body = { id, messages, messageId, trigger: "submit-message" };
      return desk.service.fetch("/api/chat", { body, ...ask });
    };
  }
  const zone = (name: string) => ({ state: "output-available", output: { zone: name } });
  const textIn = async (answer: Response): Promise<string> =>
    (await partsIn(answer)).map(({ delta }) => (typeof delta === "string" ? delta : "")).join("");

  const stop = async ({ service }: ChatService): Promise<void> => {
    const stopped = await service.fetch("/api/chat/t/stream", { method: "DELETE" });
    expect(stopped.status).to.equal(202);
  };

  it("are executed by useChat, whose output the model receives", async () => {
    const desk = await open();
    const page = new ChatPage(desk, berlin);
    await page.chat.sendMessage({ text: "Where am I?" });
    await page.answered();
    expect(page.executed).to.deep.equal([
      { toolName: "time_zone", input: { format: "name" }, dynamic: undefined },
    ]);
    expect(page.text).to.match(/One moment\..*Got: .*Europe\/Berlin/s);
    expect(page.call).to.include({ state: "output-available", title: "Reads the time zone" });
    expect(page.call.output).to.deep.equal({ zone: "Europe/Berlin" });
    expect(page.bodies).to.have.length(2);
    await validateUIMessages({ messages: page.chat.messages });
    const { body } = await desk.service.ask("/api/chat/t");
    const { messages } = body as { readonly messages: UIMessage[] };
    await validateUIMessages({ messages });
    const [stored] = messages.at(-1)?.parts.filter(({ type }) => type === "tool-time_zone") ?? [];
    expect(stored).to.deep.include({
      state: "output-available",
      input: { format: "name" },
      output: { zone: "Europe/Berlin" },
      title: "Reads the time zone",
    });
  });

  it("are not executed again by a page that receives the stored answer from another process", async () => {
    const store = ConversationStore.inMemory();
    const [begins, resumes] = [await open({ store }), await open({ store })];
    const post = await waiting(begins);
    const answer = await post(zone("Europe/Berlin"));
    const turn = answer.headers.get("x-agentensemble-run-id") ?? "";
    await partsIn(answer);
    const back = await resumes.service.fetch(`/api/chat/t/stream?turn=${turn}`);
    const parts = await partsIn(back);
    expect(ofType(parts, "tool-input-available")).to.deep.equal([]);
    const { parts: shown } = await checkUiParts(parts);
    expect(shown.find(({ type }) => type === "tool-time_zone")).to.deep.include({
      state: "output-available",
      input: { format: "name" },
      output: { zone: "Europe/Berlin" },
    });
  });

  it("continue to wait after a reload, and are not executed again after their end", async () => {
    const desk = await open();
    const left = new ChatPage(desk, silent);
    await left.chat.sendMessage({ text: "Where am I?" });
    expect(left.call.state).to.equal("input-available");
    const [page, second] = [new ChatPage(desk, berlin), new ChatPage(desk, silent)];
    await page.chat.resumeStream();
    await page.answered();
    expect(page.executed).to.have.length(1);
    await second.chat.resumeStream();
    expect(second.executed).to.deep.equal([]);
  });

  it("use the first of two answers, and send the remaining turn to both pages", async () => {
    const desk = await open();
    const post = await waiting(desk);
    const [one, other] = await Promise.all([post(zone("Here")), post(zone("There"))]);
    const texts = [await textIn(one), await textIn(other)];
    expect(texts[0]).to.contain("Here").and.equal(texts[1]);
    expect(await textIn(await post(zone("Late")))).to.equal(texts[0]);
    expect(await desk.chat.thread("t", { owner: "ada" }).messages()).to.have.length(4);
  });

  it("refuse the answer of another owner, and in another thread", async () => {
    const desk = await open();
    await waiting(desk).then(async (post) => partsIn(await post(zone("Mine"))));
    const post = await waiting(desk);
    for (const by of ["bob", "guest"])
      expect((await post(zone("Theirs"), { by })).status).to.equal(404);
    expect((await post(zone("Theirs"), {}, "u")).status).to.equal(409);
    expect(await textIn(await post(zone("Again mine")))).to.contain("Again mine");
  });

  it("answer 409 if no call waits, and to another message in the meantime", async () => {
    const desk = await open();
    const post = await waiting(desk);
    const busy = await desk.send("t", "Something else");
    expect([busy.status, await busy.text()]).to.satisfy(
      ([status, text]: [number, string]) => status === 409 && text.includes("AE_THREAD_BUSY"),
    );
    const unknown = await post({ ...zone("Mine"), toolCallId: "call-unknown" });
    expect(unknown.status).to.equal(409);
    expect(await unknown.text()).to.contain("CALL_NOT_WAITING");
    expect(await textIn(await post(zone("Mine")))).to.contain("Mine");
  });

  it("return an error to the model for an invalid output, an error of the page, and a time limit", async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ state: "output-available", output: { zone: 7 } }, "does not match its schema: zone"],
      [{ state: "output-available" }, "does not match its schema"],
      [{ state: "output-available", output: { zone: "x".repeat(70_000) } }, "at most 65536 are"],
      [{ state: "output-error", errorText: "The user said no" }, "The user said no"],
    ];
    for (const [end, text] of cases) {
      const desk = await open();
      const post = await waiting(desk);
      expect(await textIn(await post(end)), text).to.contain(text);
    }
    const quick = clientTool({
      name: "time_zone",
      description: "d",
      input: z.object({ format: z.string() }),
      timeoutMs: 40,
    });
    const desk = await open({ tools: [quick] });
    await waiting(desk);
    const thread = desk.chat.thread("t", { owner: "ada" });
    await until(async () => (await thread.messages()).length === 4);
    expect((await thread.messages()).at(-1)?.content).to.contain(
      "no output of tool 'time_zone' within 40 ms",
    );
  });

  it("are not executed before their approval, and not if a policy refuses them", async () => {
    const approved = clientTool({
      name: "time_zone",
      description: "d",
      input: z.object({ format: z.string() }),
      requireApproval: true,
    });
    const desk = await open({ tools: [approved] });
    const page = new ChatPage(desk, berlin);
    await page.chat.sendMessage({ text: "Where am I?" });
    expect([page.call.state, page.executed.length]).to.deep.equal(["approval-requested", 0]);
    const { approval, input } = page.call as unknown as {
      approval: { id: string };
      input: unknown;
    };
    expect(input).to.deep.equal({ format: "name" });
    await page.chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await page.answered();
    expect(page.executed).to.have.length(1);
    expect(page.parts.filter(({ type }) => type === "tool-time_zone")).to.have.length(1);

    const never = definePlugin({
      name: "never",
      apply: ({ hooks }) =>
        hooks.beforeToolCall.tap({ name: "never", lane: "policy" }, () => reject("Not today")),
    });
    const strict = await open({ plugins: [never] });
    const refused = new ChatPage(strict, berlin);
    await refused.chat.sendMessage({ text: "Where am I?" });
    await refused.answered("Not today");
    expect(refused.executed).to.deep.equal([]);
    expect(refused.call.state).to.equal("output-denied");
  });

  it("continue to wait after a restart of the server with durable()", async () => {
    const journal = Journal.inMemory();
    const store = ConversationStore.inMemory();
    const options = (): Partial<ConversationOptions> => ({
      store,
      plugins: [durable({ journal })],
    });
    const reviews = journal.reviews;
    const before = await open(options(), { reviews });
    const left = new ChatPage(before, silent);
    await left.chat.sendMessage({ text: "Where am I?" });
    await before[Symbol.asyncDispose]();
    made.splice(made.indexOf(before), 1);
    const after = await open(options(), { reviews });
    const reloaded = new ChatPage(after, silent);
    await reloaded.chat.resumeStream();
    expect(reloaded.executed).to.have.length(1);
    const post = async (): Promise<Response> =>
      after.post({
        id: "t",
        messageId: left.chat.lastMessage?.id,
        trigger: "submit-message",
        messages: left.chat.messages.map((message) => ({
          ...message,
          parts: message.parts.map((part) =>
            part.type === "tool-time_zone" ? { ...part, ...zone("Europe/Berlin") } : part,
          ),
        })),
      });
    expect(await textIn(await post())).to.contain("Europe/Berlin");
    const [, result] = (await after.chat.thread("t", { owner: "ada" }).messages()).slice(-3, -1);
    expect(result?.role).to.equal("tool");
  });

  it("send once after all calls of a step, together with a tool of the server", async () => {
    const clock = tool({ name: "clock", description: "c", execute: () => "14:40" });
    const model = new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? messages
            .filter(({ role }) => role === "tool")
            .map(({ content }) => JSON.stringify(content))
            .join()
        : {
            toolCalls: [
              { name: "time_zone", arguments: { format: "name" } },
              { name: "clock", arguments: {} },
              { name: "time_zone", arguments: { format: "offset" } },
            ],
          },
    );
    const page = new ChatPage(await open({ model, tools: [timeZone, clock] }), berlin);
    await page.chat.sendMessage({ text: "Where am I?" });
    await page.answered("14:40");
    expect(page.text.match(/Europe\/Berlin/g)).to.have.length(2);
    expect(page.executed.filter(({ dynamic }) => dynamic !== true)).to.have.length(2);
    expect(page.bodies).to.have.length(2);
    expect(page.errors).to.deep.equal([]);
  });

  it("are executed by a page of runHandler", async () => {
    const reviews = reviewInbox();
    const agent = new Agent({ role: "Clerk", goal: "g", tools: [timeZone], model: asking() });
    await using team = new Ensemble({
      tasks: [new Task({ description: "Answer: {question}", agent })],
      plugins: [review({ store: reviews })],
    });
    await using service = await serve(runHandler(team, { authenticate, reviews }));
    const ask = { headers: { accept: "text/event-stream" } };
    const begun = await service.fetch("/api/run", { ...ask, body: { question: "Where?" } });
    const first = await partsIn(begun);
    await checkUiParts(first);
    const toolCallId = ofType(first, "tool-input-available")[0]?.["toolCallId"];
    const part = { type: "tool-time_zone", toolCallId, ...zone("Europe/Berlin") };
    const messages = [{ id: first[0]?.["messageId"], role: "assistant", parts: [part] }];
    const theirs = await service.fetch("/api/run", { ...ask, by: "bob", body: { messages } });
    expect(theirs.status).to.equal(400); // inputs without a question
    const rest = await textIn(await service.fetch("/api/run", { ...ask, body: { messages } }));
    expect(rest).to.contain("Europe/Berlin");
  });

  it("show their review with the input and the schema of the output, and accept an edit of the output", async () => {
    const reviews = reviewInbox();
    const desk = await open({ plugins: [review({ store: reviews })] }, { reviews });
    await waiting(desk);
    const [asked]: readonly StoredReview[] = reviews.pending();
    expect(asked).to.deep.include({
      expects: "output",
      toolName: "time_zone",
      input: { format: "name" },
    });
    expect(asked?.editSchema).to.have.nested.property("properties.zone.type", "string");
    reviews.resolve(asked?.reviewId ?? "", {
      type: "EDIT",
      revisedOutput: '{"zone":"By hand"}',
    });
    const thread = desk.chat.thread("t", { owner: "ada" });
    await until(async () => (await thread.messages()).length === 4);
    expect((await thread.messages()).at(-1)?.content).to.contain("By hand");
  });

  it("end with a stopped turn, and their late output begins no further request", async () => {
    const desk = await open();
    const page = new ChatPage(desk, silent);
    await page.chat.sendMessage({ text: "Where am I?" });
    await stop(desk);
    const [{ toolCallId } = { toolCallId: "" }] = page.parts.filter(isStaticToolUIPart);
    berlin(page.chat, toolCallId);
    await until(() => page.bodies.length === 2 && page.chat.status === "ready");
    expect(page.errors).to.deep.equal([]);
    expect(page.call.state).to.equal("output-error");
    expect(await desk.chat.thread("t", { owner: "ada" }).messages()).to.deep.equal([]);
  });

  it("begin no further request after a later turn is stopped", async () => {
    const gate = new Gate();
    const model = new ScriptedModel(async (_request, index) => {
      if (index === 0) return { toolCalls: [{ name: "time_zone", arguments: { format: "name" } }] };
      await gate.pass();
      return "Too late.";
    });
    const desk = await open({ model });
    const page = new ChatPage(desk, berlin);
    const sent = page.chat.sendMessage({ text: "Where am I?" });
    await gate.arrival();
    await stop(desk);
    gate.open();
    await sent;
    await until(() => page.chat.status === "ready");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([page.bodies.length, page.errors, page.call.state]).to.deep.equal([
      2,
      [],
      "output-available",
    ]);
  });
});
