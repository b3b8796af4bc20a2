import type { ChatModel, ChatRequest } from "agentensemble";
import { Agent, Conversation, handoff, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";

const THREADS = ["a", "b"] as const;
const ROLES = ["Front", "Billing", "Quiet"] as const;

const echo = tool({ name: "echo", description: "Repeats", execute: (input) => `echo ${input}` });
const billing: Agent = new Agent({
  role: "Billing",
  goal: "g",
  tools: [echo],
  handoffs: () => [front, quiet],
});
const quiet: Agent = new Agent({ role: "Quiet", goal: "g", handoffs: () => [front] });
const front: Agent = new Agent({
  role: "Front",
  goal: "g",
  tools: [echo],
  handoffs: () => [billing, handoff(quiet, { history: "text" })],
});

/**
 * The behaviour of the model for one message. It transfers to these agents in turn, with another
 * call in the same answer. Then it answers or fails.
 */
const STEP = fc.record({
  thread: fc.constantFrom(...THREADS),
  way: fc.array(fc.constantFrom("front", "billing", "quiet"), { maxLength: 4 }),
  twice: fc.boolean(),
  calls: fc.boolean(),
  end: fc.constantFrom("answer", "answer", "fail", "edit", "keep"),
});

const systemOf = ({ messages }: ChatRequest): string => messages[0]?.content as string;
const roleOf = (request: ChatRequest): string =>
  /You are (\w+)\./.exec(systemOf(request))?.[1] ?? "";

/** Follows the plan in the last message of the user. Each answer has a thought of its agent. */
function travelling(model: ScriptedModel): ChatModel {
  return {
    provider: "scripted",
    modelId: "travelling",
    chat: async (request, options) => {
      const response = await model.chat(request, options);
      const text = `thought of ${roleOf(request)}`;
      const { provider, modelId } = { provider: "scripted", modelId: "travelling" };
      const thought = { type: "reasoning", text, provider, modelId, index: 0 } as const;
      return { ...response, message: { ...response.message, reasoning: [thought] } };
    },
  };
}

describe("a prompt after transfers", () => {
  it("contains only texts of its thread, one result per call, and no reasoning of another agent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 3, maxLength: 8 }), async (steps) => {
        const made = new Map<string, number>();
        const model = new ScriptedModel(({ messages, tools = [] }) => {
          const question = messages.findLast(
            ({ role, content }) =>
              role === "user" && typeof content === "string" && content.startsWith("{"),
          );
          const { id, way, twice, calls, end } = JSON.parse(question?.content as string) as {
            readonly id: string;
            readonly way: readonly string[];
            readonly twice: boolean;
            readonly calls: boolean;
            readonly end: string;
          };
          const done = made.get(id) ?? 0;
          made.set(id, done + 1);
          const next = way[done];
          const known = (name: string): boolean => tools.some((one) => one.name === name);
          const other = `transfer_to_${way[0] ?? ""}`;
          if (next !== undefined)
            return {
              text: `on <${id[0] ?? ""}>`,
              toolCalls: [
                { name: `transfer_to_${next}`, arguments: {} },
                ...(twice && known(other) ? [{ name: other, arguments: {} }] : []),
                ...(calls && known("echo")
                  ? [{ name: "echo", arguments: { input: `<${id[0] ?? ""}>` } }]
                  : []),
              ],
            };
          if (end === "fail" || end === "keep") throw new Error("out of order");
          return `answer <${id[0] ?? ""}>`;
        });
        const requests: ChatRequest[] = [];
        const inner = travelling(model);
        const watched: ChatModel = {
          ...inner,
          chat: (request, options) => {
            requests.push({ ...request, messages: [...request.messages] });
            return inner.chat(request, options);
          },
        };
        const desk = new Conversation({ agent: front, model: watched, on: () => undefined });
        await Promise.all(
          THREADS.map(async (id) => {
            const thread = desk.thread(id);
            for (const [i, { thread: place, end, ...step }] of steps.entries()) {
              if (place !== id) continue;
              const input = JSON.stringify({ id: `${id}${i}`, mark: `<${id}>`, end, ...step });
              const options = {
                throwOnError: false,
                onFailure: end === "keep" ? "keep" : "discard",
              } as const;
              const [first] = await thread.messages({ limit: 1 });
              if (end === "edit" && first !== undefined)
                await thread.edit(first.turnId, input, options).result;
              else await thread.send(input, options);
            }
          }),
        );
        await desk.dispose();
        for (const request of requests) {
          const { messages } = request;
          const text = JSON.stringify(messages);
          const marks = new Set([...text.matchAll(/<([ab])>/g)].map(([, mark]) => mark));
          expect(marks.size, text).to.be.at.most(1);
          const results = messages.flatMap((m) => (m.role === "tool" ? [m.toolCallId] : []));
          const calls = messages.flatMap((m) =>
            m.role === "assistant" ? (m.toolCalls ?? []).map((call) => call.id) : [],
          );
          expect([...results].sort(), text).to.deep.equal([...calls].sort());
          expect(messages.at(-1)?.role, text).not.to.equal("assistant");
          for (const role of ROLES)
            if (role !== roleOf(request)) expect(text).not.to.include(`thought of ${role}`);
        }
      }),
      { numRuns: 15 },
    );
  });
});
