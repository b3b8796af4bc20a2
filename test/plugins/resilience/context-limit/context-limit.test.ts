import type { ContextLimitOptions } from "agentensemble/resilience";
import type { ChatMessage, EnsembleOptions } from "agentensemble";
import type { Step } from "agentensemble/testing";
import { Agent, ModelCallError, Task, Tokens, ToolResult, definePlugin, tool } from "agentensemble";
import { contextLimit, fallback } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, type Ended } from "../../../support/kernel-fixtures.js";

/** One token per character. */
const counting = definePlugin({
  name: "counting",
  bind: (bind) =>
    void bind.single(Tokens.TokenCounter).toConstantValue({ count: (text) => text.length }),
});
const RESULT = "r".repeat(1_000);
const look = tool({
  name: "look",
  description: "Looks",
  execute: (_input, { toolCallId }) => `${toolCallId} ${RESULT}`,
});
const agent = new Agent({ role: "r", goal: "g", tools: [look] });
const looking = new Task({ name: "t", description: "Look around", agent });

/** Calls the tool `turns` times, then answers. */
const turns = (count: number): ScriptedModel =>
  new ScriptedModel([
    ...Array.from({ length: count }, (_, i): Step => ({
      toolCalls: [{ name: "look", arguments: {}, id: `c${i + 1}` }],
    })),
    "done",
  ]);

const limited = (options: ContextLimitOptions, o: EnsembleOptions): Promise<Ended> =>
  runToEnd({ ...o, plugins: [contextLimit(options), counting, ...(o.plugins ?? [])] });
const contents = (messages: readonly ChatMessage[] | undefined): string[] =>
  (messages ?? []).flatMap((m) => (m.role === "tool" ? [m.content] : []));
const warnings = ({ events }: Ended): string[] =>
  events.filter((e) => e.type === "run_warning").map(({ message }) => message);

describe("contextLimit()", () => {
  it("refuses invalid options", () => {
    const bad: unknown[] = [
      undefined,
      {},
      { maxInputTokens: 0 },
      { maxInputTokens: NaN },
      { maxInputTokens: 5, compact: "yes" },
      { maxInputTokens: 5, compact: null },
      { maxInputTokens: 5, compact: { keep: 1 } },
      { maxInputTokens: 5, compact: { keepTurns: -1 } },
      { maxInputTokens: 5, compact: { keepCharacters: 0.5 } },
    ];
    for (const options of bad)
      expect(() => contextLimit(options as ContextLimitOptions), JSON.stringify(options))
        .to.throw()
        .with.property("code", "AE_VALIDATION");
  });

  it("refuses a request that is too long before it is sent, with the numbers, and calls no other model", async () => {
    const model = turns(5);
    const other = turns(0);
    const { error } = await limited(
      { maxInputTokens: 3_000 },
      { model, tasks: [looking], plugins: [fallback([other])] },
    );
    const failure = ModelCallError.find(error);
    expect(failure).to.include({ code: "AE_MODEL_CONTEXT_LENGTH", retryable: false });
    expect(failure?.message).to.match(/about \d+ input tokens in 8 messages.*3000/);
    expect(failure?.hint).to.include("compact");
    expect(model.requests).to.have.length(3);
    expect(other.requests).to.deep.equal([]);
  });

  it("counts tools and the schema of the answer", async () => {
    const small = new Task({ description: "x", agent: new Agent({ role: "r", goal: "g" }) });
    const big = new Task({
      description: "x",
      agent: agent.with({
        tools: [tool({ name: "big", description: "b".repeat(2_000), execute: () => "x" })],
      }),
    });
    expect(
      (await limited({ maxInputTokens: 1_500 }, { model: turns(0), tasks: [small] })).error,
    ).to.equal(undefined);
    expect(
      ModelCallError.find(
        (await limited({ maxInputTokens: 1_500 }, { model: turns(0), tasks: [big] })).error,
      ),
    ).to.have.property("code", "AE_MODEL_CONTEXT_LENGTH");
  });

  it("with compact shortens as few of the oldest tool results as needed, and keeps pairs, ids and the last turns", async () => {
    const model = turns(6);
    const ended = await limited(
      { maxInputTokens: 4_000, compact: { keepTurns: 2, keepCharacters: 10 } },
      { model, tasks: [looking] },
    );
    expect(ended.output.raw).to.equal("done");
    const last = model.requests.at(-1)?.messages ?? [];
    expect(last.slice(0, 2).map(({ role }) => role)).to.deep.equal(["system", "user"]);
    expect(last.flatMap((m) => (m.role === "tool" ? [m.toolCallId] : []))).to.deep.equal([
      "c1",
      "c2",
      "c3",
      "c4",
      "c5",
      "c6",
    ]);
    expect(contents(last).map((text) => text.length > 500)).to.deep.equal([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(contents(last)[0]).to.equal(
      `c1 ${"r".repeat(7)}\n[The rest of this result was removed to save space: 993 of 1003 characters. Call look again if you need it.]`,
    );
    expect(contents(last).at(-1)).to.have.length(1_003);
    expect(warnings(ended)).to.have.length(1);
  });

  it("leaves the conversation itself unchanged", async () => {
    const lists: (readonly ChatMessage[])[] = [];
    const watching = definePlugin({
      name: "watching",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap(
          { name: "w", lane: "transform", order: "pre" },
          ({ request }) => void lists.push(request.messages),
        ),
    });
    await limited(
      { maxInputTokens: 3_000, compact: true },
      { model: turns(6), tasks: [looking], plugins: [watching] },
    );
    expect(new Set(lists).size).to.equal(1);
    expect(contents(lists[0]).every((text) => text.length === 1_003)).to.equal(true);
  });

  it("refuses a request that compaction can't shorten enough", async () => {
    const long = new Task({ description: "x".repeat(5_000), agent });
    const failure = ModelCallError.find(
      (await limited({ maxInputTokens: 3_000, compact: true }, { model: turns(0), tasks: [long] }))
        .error,
    );
    expect(failure).to.have.property("code", "AE_MODEL_CONTEXT_LENGTH");
    const kept = await limited(
      { maxInputTokens: 4_000, compact: { keepTurns: 50, keepCharacters: 10 } },
      { model: turns(6), tasks: [looking] },
    );
    expect(ModelCallError.find(kept.error)).to.have.property("code", "AE_MODEL_CONTEXT_LENGTH");
  });

  it("shortens no result that the note would lengthen", async () => {
    const brief = tool({ name: "brief", description: "Says little", execute: () => "ok" });
    const model = new ScriptedModel([
      ...Array.from({ length: 8 }, (): Step => ({ toolCalls: [{ name: "brief", arguments: {} }] })),
      "done",
    ]);
    const { error } = await limited(
      { maxInputTokens: 700, compact: { keepTurns: 0, keepCharacters: 0 } },
      { model, tasks: [new Task({ description: "x", agent: agent.with({ tools: [brief] }) })] },
    );
    expect(ModelCallError.find(error)).to.have.property("code", "AE_MODEL_CONTEXT_LENGTH");
    expect(
      model.requests
        .flatMap(({ messages }) => contents(messages))
        .every((text) => text.startsWith("ok")),
    ).to.equal(true);
  });

  it("removes the files of old results, which count as tokens", async () => {
    const photo = tool({
      name: "photo",
      description: "Takes a photo",
      execute: () =>
        ToolResult.success("taken", undefined, {
          parts: [{ type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" }],
        }),
    });
    const model = new ScriptedModel([
      ...Array.from({ length: 4 }, (): Step => ({ toolCalls: [{ name: "photo", arguments: {} }] })),
      "done",
    ]);
    await limited(
      { maxInputTokens: 4_500, compact: true },
      { model, tasks: [new Task({ description: "x", agent: agent.with({ tools: [photo] }) })] },
    );
    const results = (model.requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool");
    expect(results.map((m) => m.role === "tool" && m.parts?.length)).to.deep.equal([
      ...[undefined, undefined, 1, 1],
    ]);
    expect(contents(results)[0]).to.equal(
      "taken\n[The files of this result were removed to save space: 1. Call photo again if you need them.]",
    );
  });

  it("reads the note from the ensemble's prompts", async () => {
    const model = turns(4);
    await limited(
      { maxInputTokens: 3_000, compact: true },
      { model, tasks: [looking], prompts: { "context.shortened": "cut {removed}" } },
    );
    expect(contents(model.requests.at(-1)?.messages)[0]).to.equal("cut 803");
  });
});
