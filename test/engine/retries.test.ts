import type { ChatModel, ChatResponse, LlmCall, Plugin, RetryPolicy } from "agentensemble";
import {
  Agent,
  GuardrailResult,
  ModelCallError,
  Task,
  Tokens,
  definePlugin,
  reject,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, tapping } from "../support/kernel-fixtures.js";

const speaker = new Agent({ role: "Speaker", goal: "Speak" });
const say = (more: Partial<ConstructorParameters<typeof Task>[0]> = {}): Task =>
  new Task({ description: "Say", agent: speaker, ...more } as ConstructorParameters<
    typeof Task
  >[0]) as Task;
const usage = { inputTokens: 10, outputTokens: 1 };
const policy = (next: RetryPolicy["next"]): Plugin =>
  definePlugin({
    name: "retrying",
    bind: (bind) => void bind.single(Tokens.RetryPolicy).toConstantValue({ next }),
  });
const busy = (): ModelCallError =>
  new ModelCallError("busy", { provider: "p", modelId: "m", retryable: true });

describe("guardrailRetries", () => {
  const notYet =
    (text: string) =>
    ({ raw }: { readonly raw: string }): GuardrailResult =>
      raw === text
        ? GuardrailResult.success()
        : GuardrailResult.failure(`'${raw}' is not '${text}'`);

  it("repeats the task with the message of the guardrail, and counts the usage of all attempts", async () => {
    const model = new ScriptedModel([
      { text: "one", usage },
      { text: "two", usage },
      { text: "three", usage },
    ]);
    const attempts: unknown[] = [];
    const plugin = tapping("watch", ({ hooks }) =>
      hooks.beforeTask.tap(
        (call) =>
          void attempts.push([
            call.attempt,
            call.revision?.feedback,
            call.revision?.previousOutput,
          ]),
      ),
    );
    const task = say({ guardrailRetries: 2, outputGuardrails: [notYet("three")] });
    const { output, events } = await runToEnd({ model, tasks: [task], plugins: [plugin] });
    expect(output.raw).to.equal("three");
    expect(attempts).to.deep.equal([
      [1, undefined, undefined],
      [2, "'one' is not 'three'", "one"],
      [3, "'two' is not 'three'", "two"],
    ]);
    expect(model.requests[1]?.messages.at(-1)?.content)
      .to.include("'one' is not 'three'")
      .and.include("Revision");
    expect(output.getOutput(task)?.metrics).to.include({
      inputTokens: 30,
      outputTokens: 3,
      llmCallCount: 3,
    });
    expect(output.metrics).to.include({ totalTokens: 33, llmCallCount: 3, unknownUsageCalls: 0 });
    expect(output.trace.taskTraces.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal(
      [
        [1, "rejected"],
        [2, "rejected"],
        [3, "ok"],
      ],
    );
    expect(events.filter(({ type }) => type === "task_started")).to.have.length(1);
    expect(events.find((event) => event.type === "task_completed")).to.include({ tokenCount: 33 });
  });

  it("fails with the last violation when no retry is left", async () => {
    const model = new ScriptedModel(["one", "two"]);
    const { error } = await runToEnd({
      model,
      tasks: [say({ guardrailRetries: 1, outputGuardrails: [notYet("three")] })],
    });
    expect(error?.cause).to.include({
      code: "AE_GUARDRAIL_VIOLATION",
      type: "OUTPUT",
      violationMessage: "'two' is not 'three'",
    });
    model.assertExhausted();
  });

  it("applies to after policies of plugins, not to input guardrails", async () => {
    const model = new ScriptedModel(["one", "two"]);
    const plugin = tapping("judge", ({ hooks }) =>
      hooks.afterTask.tap({ name: "judge", lane: "policy" }, (call) =>
        call.output?.raw === "one" ? reject("not one") : undefined,
      ),
    );
    expect(
      (await runToEnd({ model, tasks: [say({ guardrailRetries: 1 })], plugins: [plugin] })).output
        .raw,
    ).to.equal("two");
    let asked = 0;
    const refusing = say({
      guardrailRetries: 3,
      inputGuardrails: [() => (asked++, GuardrailResult.failure("no"))],
    });
    expect((await runToEnd({ model, tasks: [refusing] })).error?.cause).to.include({
      code: "AE_GUARDRAIL_VIOLATION",
      type: "INPUT",
    });
    expect(asked).to.equal(1);
  });

  it("counts the tool calls of all attempts, also for a handler's attempts", async () => {
    const count = tool({ name: "count", description: "Counts", execute: () => "1" });
    const agent = new Agent({ role: "Counter", goal: "Count", tools: [count] });
    const asking = { toolCalls: [{ name: "count", arguments: { input: "x" } }] };
    const model = new ScriptedModel([asking, "one", asking, "two"]);
    const { output } = await runToEnd({
      model,
      tasks: [
        new Task({
          description: "Count",
          agent,
          guardrailRetries: 1,
          outputGuardrails: [notYet("two")],
        }),
      ],
    });
    expect([output.totalToolCalls, output.taskOutputs[0]?.toolCallCount]).to.deep.equal([2, 2]);
    let calls = 0;
    const handled = new Task({
      description: "x",
      handler: () => String(++calls),
      guardrailRetries: 5,
      outputGuardrails: [
        ({ raw }) => (raw === "3" ? GuardrailResult.success() : GuardrailResult.failure("more")),
      ],
    });
    expect((await runToEnd({ tasks: [handled] })).output.raw).to.equal("3");
  });
});

describe("a retry policy", () => {
  it("decides after each failure; every attempt fires the hooks and is in the ledger", async () => {
    const asked: unknown[] = [];
    const outcomes: string[] = [];
    const model = new ScriptedModel([busy(), busy(), { text: "there", usage }]);
    const watch = tapping("watch", ({ hooks }) => {
      hooks.beforeLlmCall.tap(() => void outcomes.push("before"));
      hooks.afterLlmCall.tap((call) => void outcomes.push(call.outcome));
    });
    const next = (failure: unknown, attempt: number, call: LlmCall): { delayMs: number } => (
      asked.push([attempt, (failure as Error).message, call.taskId]),
      { delayMs: 0 }
    );
    const { output, events } = await runToEnd({
      model,
      tasks: [say()],
      plugins: [policy(next), watch],
    });
    expect(output.raw).to.equal("there");
    expect(asked).to.deep.equal([
      [1, "busy", "task-1"],
      [2, "busy", "task-1"],
    ]);
    expect(outcomes).to.deep.equal(["before", "failed", "before", "failed", "before", "ok"]);
    expect(output.metrics.ledger.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal([
      [1, "failed"],
      [2, "failed"],
      [3, "ok"],
    ]);
    expect(
      events
        .filter((event) => event.type === "retry_scheduled")
        .map(({ attempt, reason }) => [attempt, reason]),
    ).to.deep.equal([
      [1, "busy"],
      [2, "busy"],
    ]);
    expect(events.filter(({ type }) => type === "llm_iteration_started")).to.have.length(1);
  });

  it("may switch to another model", async () => {
    const other = new ScriptedModel(["from the other"], { modelId: "other" });
    const { output } = await runToEnd({
      model: new ScriptedModel([busy()]),
      tasks: [say()],
      plugins: [policy(() => ({ delayMs: 0, model: other }))],
    });
    expect(output.raw).to.equal("from the other");
    expect(output.metrics.ledger.map(({ modelId }) => modelId)).to.deep.equal([
      "scripted",
      "other",
    ]);
  });

  it("keeps the model of an earlier retry if a later retry names none", async () => {
    const other = new ScriptedModel([busy(), "from the other"], { modelId: "other" });
    const { output } = await runToEnd({
      model: new ScriptedModel([busy()]),
      tasks: [say()],
      plugins: [
        policy((_failure, attempt) =>
          attempt > 2 ? undefined : { delayMs: 0, ...(attempt === 1 && { model: other }) },
        ),
      ],
    });
    expect(output.raw).to.equal("from the other");
    expect(output.metrics.ledger.map(({ modelId }) => modelId)).to.deep.equal([
      "scripted",
      "other",
      "other",
    ]);
  });

  it("may end the retries; the error contains the number of attempts", async () => {
    const model = new ScriptedModel([busy()], { onExhausted: "repeat-last" });
    const { error, output } = await runToEnd({
      model,
      tasks: [say()],
      plugins: [policy((_failure, attempt) => (attempt < 3 ? { delayMs: 0 } : undefined))],
    });
    expect(ModelCallError.find(error)).to.include({ message: "busy", attempts: 3 });
    expect(output.metrics.llmCallCount).to.equal(3);
  });

  it("is not called for the refusal of a hook, or after the end of the run", async () => {
    let asked = 0;
    const no = tapping("no", ({ hooks }) => hooks.beforeLlmCall.tap(() => reject("no")));
    await runToEnd({
      model: new ScriptedModel(["x"]),
      tasks: [say()],
      plugins: [policy(() => (asked++, { delayMs: 0 })), no],
    });
    const later = tapping("later", ({ hooks }) =>
      hooks.afterLlmCall.tap({ name: "l", lane: "policy" }, () => reject("no")),
    );
    await runToEnd({
      model: new ScriptedModel(["x"]),
      tasks: [say()],
      plugins: [policy(() => (asked++, { delayMs: 0 })), later],
    });
    await runToEnd(
      {
        model: new ScriptedModel([{ text: "x", delayMs: 1_000 }]),
        tasks: [say()],
        plugins: [policy(() => (asked++, { delayMs: 0 }))],
      },
      { timeoutMs: 5, cancelGraceMs: 5 },
    );
    expect(asked).to.equal(0);
  });

  it("stops waiting at the end of the run", async () => {
    const { error } = await runToEnd(
      {
        model: new ScriptedModel([busy()]),
        tasks: [say()],
        plugins: [policy(() => ({ delayMs: 60_000 }))],
      },
      { timeoutMs: 5 },
    );
    expect(error).to.have.property("code", "AE_RUN_TIMEOUT");
  });
});

describe("a model that returns invalid answers", () => {
  const garbage: readonly unknown[] = [
    undefined,
    null,
    5,
    "text",
    {},
    { message: null },
    { message: "text" },
    { message: {} },
    { message: { content: null } },
    { message: { content: 5 } },
  ];
  const more: readonly unknown[] = [
    { message: { content: "", toolCalls: "x" } },
    { message: { content: "", toolCalls: [null] } },
    { message: { content: "", toolCalls: [{ name: 5, arguments: "{}" }] } },
    { message: { content: "", toolCalls: [{ id: "1", name: "x", arguments: {} }] } },
  ];
  for (const answer of [...garbage, ...more]) {
    it(`is a retryable bad response: ${JSON.stringify(answer) ?? "undefined"}`, async () => {
      const model: ChatModel = {
        provider: "house",
        modelId: "broken",
        chat: async () => answer as ChatResponse,
      };
      let asked = 0;
      const { error } = await runToEnd({
        model,
        tasks: [say()],
        plugins: [policy(() => void asked++)],
      });
      const rule = more.includes(answer)
        ? "name and arguments of each"
        : "content must be a string";
      expect(ModelCallError.find(error)?.message).to.include(`returned no usable message: ${rule}`);
      expect(ModelCallError.find(error)).to.include({
        code: "AE_MODEL_BAD_RESPONSE",
        provider: "house",
        modelId: "broken",
        retryable: true,
      });
      expect(asked).to.equal(1);
    });
  }

  it("may omit the text next to tool calls, and the usage", async () => {
    const nothing = tool({ name: "nothing", description: "Does nothing", execute: () => "" });
    const answers = [
      {
        message: {
          role: "assistant",
          content: null,
          toolCalls: [{ id: "1", name: "nothing", arguments: "" }],
        },
        usage: null,
      },
      {
        message: { role: "assistant", content: "done" },
        usage: { inputTokens: Number.NaN, outputTokens: -5 },
      },
    ];
    const model: ChatModel = {
      provider: "p",
      modelId: "m",
      chat: async () => answers.shift() as unknown as ChatResponse,
    };
    const { output } = await runToEnd({
      model,
      tasks: [new Task({ description: "x", agent: speaker.with({ tools: [nothing] }) })],
    });
    expect(output.raw).to.equal("done");
    expect(output.metrics).to.include({ inputTokens: 0, outputTokens: 0, unknownUsageCalls: 2 });
    expect(output.taskOutputs[0]?.metrics.inputTokens).to.equal(-1);
  });

  it("may throw or reject with a value that is not an error", async () => {
    const model: ChatModel = {
      provider: "p",
      modelId: "m",
      chat: () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error
        throw "a text";
      },
    };
    const { error } = await runToEnd({ model, tasks: [say()] });
    expect(error).to.have.property("code", "AE_TASK_EXECUTION");
    expect(error?.cause).to.have.property("code", "AE_AGENT_EXECUTION");
    expect((error?.cause as Error).message).to.include("a text");
  });
});

describe("streaming", () => {
  const streamed = (
    script: ConstructorParameters<typeof ScriptedModel>[0],
    streaming?: boolean,
  ): ReturnType<typeof runToEnd> =>
    runToEnd({ model: new ScriptedModel(script), tasks: [say()], streaming });
  const tokensOf = ({ events }: Awaited<ReturnType<typeof runToEnd>>): readonly string[] =>
    events.flatMap((event) => (event.type === "token" ? [event.token] : []));

  it("is requested by an option or by onToken, not by a listener to all events", async () => {
    expect(tokensOf(await streamed([{ chunks: ["a", "b"] }]))).to.deep.equal([]);
    expect(tokensOf(await streamed([{ chunks: ["a", "b"] }], true))).to.deep.equal(["a", "b"]);
    const heard: string[] = [];
    await runToEnd({
      model: new ScriptedModel([{ chunks: ["a", "b"] }]),
      tasks: [say()],
      onToken: ({ token }) => void heard.push(token),
    });
    expect(heard).to.deep.equal(["a", "b"]);
    await runToEnd({
      model: new ScriptedModel([{ chunks: ["c"] }]),
      tasks: [say()],
      streaming: false,
      onToken: ({ token }) => void heard.push(token),
    });
    expect(heard).to.deep.equal(["a", "b"]);
  });

  it("delivers the text in one piece if the model can't stream", async () => {
    const model: ChatModel = {
      provider: "p",
      modelId: "m",
      chat: async () => ({
        message: { role: "assistant", content: "whole" },
        finishReason: "stop",
      }),
    };
    expect(tokensOf(await runToEnd({ model, tasks: [say()], streaming: true }))).to.deep.equal([
      "whole",
    ]);
  });

  it("fails with the text so far if the last event is missing", async () => {
    const model = new ScriptedModel([]);
    model.stream = async function* () {
      yield { type: "text", text: "Once upon" };
    };
    const { error } = await runToEnd({ model, tasks: [say()], streaming: true });
    expect(ModelCallError.find(error)).to.include({
      code: "AE_MODEL_BAD_RESPONSE",
      partialText: "Once upon",
      retryable: true,
    });
  });

  it("allows the stream to release its resources after its last event", async () => {
    let closed = 0;
    const model = new ScriptedModel([]);
    model.stream = async function* () {
      try {
        yield {
          type: "finish",
          response: { message: { role: "assistant", content: "done" }, finishReason: "stop" },
        };
      } finally {
        closed++;
      }
    };
    expect((await runToEnd({ model, tasks: [say()], streaming: true })).output.raw).to.equal(
      "done",
    );
    expect(closed).to.equal(1);
  });
});
