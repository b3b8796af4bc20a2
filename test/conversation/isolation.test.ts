import type { ChatRequest } from "agentensemble";
import {
  Agent,
  Conversation,
  ConversationStore,
  createToken,
  MemoryStore,
  runValue,
  tool,
  WindowPolicy,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";

const User = createToken<string>("User");
const agent = new Agent({ role: "Assistant", goal: "Answers" });
const THREADS = ["a", "b", "c"] as const;

/** One step of a user on one thread. */
const STEP = fc.record({
  thread: fc.constantFrom(...THREADS),
  act: fc.constantFrom("send", "send", "tool", "fail", "edit", "keep"),
});
const WINDOWS = [
  () => WindowPolicy.all(),
  () => WindowPolicy.lastTurns(2),
  () => WindowPolicy.summary({ turns: 2, keepTurns: 1 }),
];

/** Every text of a thread has its mark: `<a>`. A model repeats all marks of its prompt. */
const marksIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/(?:<|&lt;)([abc])>/g)].map(([, mark = ""]) => mark));

const systemIn = ([first]: ChatRequest["messages"]): string =>
  first?.role === "system" ? first.content : "";

const echo = tool({
  name: "echo",
  description: "Repeats",
  execute: (input) => `echo ${input}`,
});

describe("a prompt of a thread", () => {
  it("never has a text of another thread, and a result for each call", async () => {
    let withMemory = false;
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { minLength: 4, maxLength: 16 }),
        fc.constantFrom(...WINDOWS),
        async (steps, windowOf) => {
          const model = new ScriptedModel(({ messages }) => {
            const last = messages.at(-1);
            const question = typeof last?.content === "string" ? last.content : "";
            if (question.includes("fail")) throw new Error("out of order");
            const marks = [...marksIn(JSON.stringify(messages))]
              .map((mark) => `<${mark}>`)
              .join(" ");
            return question.startsWith("tool")
              ? { text: marks, toolCalls: [{ name: "echo", arguments: { input: marks } }] }
              : `answer ${marks}`;
          });
          const store = ConversationStore.inMemory();
          const chat = new Conversation({
            agent,
            model,
            memoryStore: MemoryStore.inMemory(),
            memoryScopes: [(run) => `notes of ${run.get(User)}`],
            tools: [echo],
            store,
            window: windowOf(),
            on: () => undefined,
          });
          try {
            await Promise.all(
              THREADS.map(async (id) => {
                const thread = chat.thread(id, { values: [runValue(User, id)] });
                for (const { act, thread: place } of steps) {
                  if (place !== id) continue;
                  const input = `${act} <${id}>`;
                  const options = {
                    throwOnError: false,
                    onFailure: act === "keep" ? "keep" : "discard",
                  } as const;
                  const [first] = await thread.messages({ limit: 1 });
                  if (act === "edit" && first !== undefined)
                    await thread.edit(first.turnId, input, options).result;
                  else await thread.send(act === "keep" ? `fail ${input}` : input, options);
                }
              }),
            );
          } finally {
            await chat.dispose();
          }
          withMemory ||= model.requests.some(({ messages }) => /answer/.test(systemIn(messages)));
          for (const { messages } of model.requests) {
            const own = marksIn(JSON.stringify(messages.at(-1)));
            const seen = marksIn(JSON.stringify(messages));
            expect(seen.size, JSON.stringify(messages)).to.be.at.most(1);
            for (const mark of own) expect([...seen]).to.deep.equal([mark]);
            const results = messages.flatMap((m) => (m.role === "tool" ? [m.toolCallId] : []));
            const calls = messages.flatMap((m) =>
              m.role === "assistant" ? (m.toolCalls ?? []).map(({ id }) => id) : [],
            );
            expect(results).to.deep.equal(calls);
          }
        },
      ),
      { numRuns: 12 },
    );
    expect(withMemory, "a prompt with an answer from memory").to.equal(true);
  });
});
