import type { ChatModel, EnsembleEvent, EnsembleOptions } from "agentensemble";
import { Agent, GuardrailResult, ModelCallError, Task, Tokens, definePlugin } from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { join } from "node:path";
import { EventQueue } from "../../src/ensemble/event-queue.js";
import { collect } from "../support/collect.js";
import { runToEnd } from "../support/kernel-fixtures.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const STEP = { reasoning: ["Two and ", "two."], chunks: ["Fo", "ur"] };

/** The pieces of a run with their block, in order. */
function piecesOf(events: readonly EnsembleEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === "reasoning_token") return [`thought ${event.index}: ${event.token}`];
    if (event.type === "reasoning_received") return [`whole: ${event.reasoning}`];
    return event.type === "token" ? [`text: ${event.token}`] : [];
  });
}

const options = (o: Partial<EnsembleOptions> = {}): EnsembleOptions => ({
  model: new ScriptedModel([STEP]),
  tasks: [new Task({ description: "Add", agent: new Agent({ role: "r", goal: "g" }) })],
  streaming: true,
  ...o,
});

describe("pieces of reasoning", () => {
  it("are emitted while the response is streamed, before the complete reasoning", async () => {
    const { events } = await runToEnd(options());
    expect(piecesOf(events)).to.deep.equal([
      "thought 0: Two and ",
      "thought 0: two.",
      "text: Fo",
      "text: ur",
      "whole: Two and two.",
    ]);
    const { taskId, agentRole } = events.find((event) => event.type === "reasoning_token") ?? {};
    expect([taskId, agentRole]).to.deep.equal([
      events.find((event) => event.type === "task_started")?.taskId,
      "r",
    ]);
  });

  it("are not emitted when the model is not streamed, and the complete reasoning comes before the text", async () => {
    const scripted = new ScriptedModel([STEP]);
    const model: ChatModel = { provider: "p", modelId: "m", chat: (r) => scripted.chat(r) };
    const { events } = await runToEnd(options({ model }));
    expect(piecesOf(events)).to.deep.equal(["whole: Two and two.", "text: Four"]);
  });

  it("are recorded and replayed", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const recorded = await runToEnd(options({ plugins: [recordTo(file)] }));
    const model = new ScriptedModel([]);
    const replayed = await runToEnd(options({ model, plugins: [replayFrom(file)] }));
    expect(piecesOf(recorded.events)).to.have.length(5);
    expect(piecesOf(replayed.events)).to.deep.equal(piecesOf(recorded.events));
    expect(model.requests).to.have.length(0);
  });

  it("are held back if an output guardrail may refuse the answer", async () => {
    const refused = { ...STEP, reasoning: ["the password is 1234"] };
    const guarded = (text: string) =>
      text === "Four" ? GuardrailResult.success() : GuardrailResult.failure("no");
    const { output, events } = await runToEnd(
      options({
        model: new ScriptedModel([{ ...refused, chunks: ["Five"] }, STEP]),
        streaming: "guarded",
        tasks: [
          new Task({
            description: "Add",
            agent: new Agent({ role: "r", goal: "g" }),
            outputGuardrails: [({ raw }) => guarded(raw)],
            guardrailRetries: 1,
          }),
        ],
      }),
    );
    expect(output.raw).to.equal("Four");
    expect(piecesOf(events).filter((piece) => piece.startsWith("thought"))).to.deep.equal([]);
  });

  it("are emitted again by the next attempt of an interrupted call", async () => {
    let calls = 0;
    const model = {
      ...{ provider: "p", modelId: "m" },
      chat: () => Promise.reject(new Error("not called")),
      async *stream() {
        yield { type: "reasoning" as const, index: 0, text: `attempt ${++calls}` };
        await Promise.resolve();
        if (calls === 1)
          throw new ModelCallError("cut", { provider: "p", modelId: "m", retryable: true });
        yield {
          type: "finish" as const,
          response: {
            message: { role: "assistant" as const, content: "Four" },
            finishReason: "stop" as const,
            reasoning: "attempt 2",
          },
        };
      },
    };
    const retrying = definePlugin({
      name: "retrying",
      bind: (bind) =>
        void bind.single(Tokens.RetryPolicy).toConstantValue({ next: () => ({ delayMs: 0 }) }),
    });
    const { events } = await runToEnd(options({ model, plugins: [retrying] }));
    expect(piecesOf(events)).to.deep.equal([
      "thought 0: attempt 1",
      "thought 0: attempt 2",
      "whole: attempt 2",
    ]);
  });

  it("are joined for a slow reader, block by block", async () => {
    const queue = new EventQueue();
    const piece = (index: number, token: string, taskId = "task-1"): EnsembleEvent => ({
      ...{ v: 1, seq: 0, runId: "run-1", at: "2026-01-01T00:00:00.000Z" },
      ...{ type: "reasoning_token", taskId, agentRole: "r", index, token },
    });
    for (let n = 0; n < 1_024; n++) queue.push(piece(0, "a"));
    for (const event of [piece(0, "b"), piece(1, "c"), piece(1, "d"), piece(1, "e", "task-2")])
      queue.push(event);
    queue.end();
    const events = (await collect(queue)) as readonly { readonly token: string }[];
    expect(events.slice(1_023).map(({ token }) => token)).to.deep.equal(["ab", "cd", "e"]);
  });
});
