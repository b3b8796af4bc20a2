import {
  Agent,
  agentTool,
  attachment,
  type ContentPart,
  Conversation,
  ConversationStore,
  createToken,
  Ensemble,
  handoff,
  type Principal,
  runValue,
  Task,
  tool,
  WindowPolicy,
} from "agentensemble";
import { chatHandler, reviewsHandler, runHandler, toNodeListener } from "agentensemble/http";
import { review, reviewInbox } from "agentensemble/review";
import { toUIMessageStreamResponse } from "agentensemble/ui";
import { createServer } from "node:http";
import { z } from "zod";

// Programs of users, compiled and never executed. They use a chat, values of a run, handoffs, a
// typed service, files and reasoning, and handlers of pages.

export async function chatWithSummary(): Promise<void> {
  const chat = new Conversation({
    agent: new Agent({ role: "Assistant", goal: "Answer briefly" }),
    model: "openai:gpt-5-mini",
    store: ConversationStore.file("./threads"),
    window: WindowPolicy.summary({ tokens: 8_000, keepTurns: 6 }),
  });
  const thread = chat.thread("user-1");
  await thread.send("I am Ada.");
  const turn = thread.stream("Who am I?");
  for await (const piece of turn.text) process.stdout.write(piece);
  const { messages, output } = await turn.result;
  const [first] = messages;
  if (first === undefined) return;
  console.log(messages.length, output.metrics.totalTokens, first.id);
  await thread.edit(first.id, "Who was I?").result;
  const copy = await thread.fork(first.id);
  const { threads } = await chat.threads();
  console.log(copy.id, threads.length);
  // @ts-expect-error a conversation has no tasks
  new Conversation({ agent: new Agent({ role: "A", goal: "g" }), tasks: [] });
  await chat.dispose();
}

interface Account {
  readonly id: string;
  readonly plan: "free" | "pro";
}
const Account = createToken<Account>("account");

export async function valuesOfRuns(): Promise<void> {
  const orders = tool({
    name: "orders",
    description: "The orders of the customer",
    private: true,
    title: "Your orders",
    input: z.object({ open: z.boolean() }),
    execute: ({ open }, { run }) => [{ owner: run.get(Account).id, open }],
  });
  const chat = new Conversation({
    agent: new Agent({ role: "Clerk", goal: "Help", tools: [orders] }),
    model: "openai:gpt-5-mini",
    memoryScopes: [(run) => `chat-${run.get(Account).id}`],
    guardrails: { input: [({ run }) => run.get(Account).plan === "pro"] },
    prompts: { "handoff.reason": (_values, run) => `Why, ${run.get(Account).id}?` },
  });
  const values = [runValue(Account, { id: "ada", plan: "pro" }, { trace: ({ plan }) => plan })];
  const thread = chat.thread((run) => `chat-${run.get(Account).id}`, { owner: "ada", values });
  await thread.send("Where is it?");
  await chat.thread("t", { owner: "ada" }).send("Where is it?", { values });
  // @ts-expect-error the plan is missing
  runValue(Account, { id: "ada" });
}

export async function supportDesk(): Promise<void> {
  const billing = new Agent({ role: "Billing", goal: "Settle invoices" });
  const technical: Agent = new Agent({
    role: "Technical",
    goal: "Solve faults",
    handoffs: () => [billing, front],
  });
  const front: Agent = new Agent({
    role: "Front desk",
    goal: "Find the right colleague",
    handoffs: [handoff(billing, { description: "Invoices" }), technical],
  });
  const desk = new Conversation({
    agent: front,
    model: "anthropic:claude-sonnet-5",
    maxHandoffs: 4,
    nextAgent: "last",
    delegationPolicies: [
      ({ mode, agentRole }) =>
        mode === "handoff" && agentRole === "Billing"
          ? { type: "REJECT", reason: "closed" }
          : { type: "ALLOW" },
    ],
  });
  const { agentRole, status } = await desk
    .thread("case-1")
    .send("My invoice is wrong", { onFailure: "keep", throwOnError: false });
  console.log(agentRole, status);
  // @ts-expect-error no such view of the exchange
  handoff(billing, { history: "none" });
}

export async function typedService(): Promise<void> {
  const translate = agentTool(new Agent({ role: "Translator", goal: "Translate" }), {
    name: "translate",
    description: "Translates a text",
    inputType: z.object({ text: z.string(), to: z.enum(["de", "fr"]) }),
    outputType: z.object({ text: z.string() }),
    prompt: ({ text, to }) => `Into ${to}: ${text}`,
  });
  const research = agentTool(new Agent({ role: "Researcher", goal: "Find facts" }));
  const service = new Ensemble({
    model: "openai:gpt-5-mini",
    maxHandoffs: 2,
    inputType: z.object({ topic: z.string(), words: z.number().default(100) }),
    tasks: [
      new Task({
        description: "Write {words} words about {topic}",
        agent: new Agent({ role: "Writer", goal: "Write", tools: [translate, research] }),
      }),
    ],
  });
  console.log((await service.run({ topic: "tides" })).raw);
  // @ts-expect-error the topic is missing
  await service.run({ words: 3 });
  // @ts-expect-error the inputs are missing
  await service.run();
  await new Ensemble({ tasks: [Task.of("x")] }).run();
}

export async function filesAndReasoning(): Promise<void> {
  const chat = new Conversation({
    agent: new Agent({
      role: "Analyst",
      goal: "Read papers",
      modelOptions: { reasoning: { effort: "medium", summary: "auto" }, cache: { ttl: "1h" } },
    }),
    model: "anthropic:claude-sonnet-5",
    limits: { maxBytes: 5_000_000, types: ["application/pdf", "image/*"] },
  });
  const parts: ContentPart[] = [
    { type: "text", text: "What does it say?", cache: "off" },
    await attachment.fromFile("paper.pdf", { cache: { ttl: "5m" } }),
    attachment.fromBytes(new Uint8Array([0x89, 0x50]), { mediaType: "image/png" }),
  ];
  const turn = chat.thread("p").stream(parts);
  for await (const event of turn.events) {
    if (event.type === "token") process.stdout.write(event.token);
    if (event.type === "turn_stored") console.log(event.threadId, event.version, event.status);
  }
  for (const message of (await turn.result).messages)
    if (message.role === "assistant")
      for (const thought of message.reasoning ?? []) console.log(thought.text);
  // @ts-expect-error no such effort
  new Agent({ role: "A", goal: "g", modelOptions: { reasoning: { effort: "huge" } } });
}

const User = createToken<{ readonly id: string }>("user");

export function handlersOfPages(): (request: Request) => Promise<Response> {
  const authenticate = (request: Request): Principal | undefined => {
    const id = request.headers.get("x-user");
    return id === null
      ? undefined
      : { name: id, role: "caller", owner: id, values: [runValue(User, { id })] };
  };
  const reviews = reviewInbox();
  const chat = new Conversation({
    agent: new Agent({ role: "Assistant", goal: "Help" }),
    model: "openai:gpt-5-mini",
    plugins: [review({ store: reviews })],
  });
  const handler = chatHandler(chat, {
    authenticate,
    reviews,
    limits: { maxBytes: 4_000_000 },
    ui: { reasoning: false },
  });
  createServer(toNodeListener(handler)).listen(3000);
  const report = new Ensemble({ tasks: [Task.of("x")] });
  const run = runHandler(report, { authenticate, protocol: "ag-ui" });
  const inbox = reviewsHandler({ authenticate, store: reviews, runs: [handler, run] });
  // @ts-expect-error without authenticate every client could call it
  chatHandler(chat, { reviews });
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/report")
      return toUIMessageStreamResponse(report.stream(), { onDisconnect: "finish" });
    return (pathname.startsWith("/api/chat/reviews") ? inbox : handler)(request);
  };
}
