import type { AnyTool, ChatRequest } from "agentensemble";
import type { UIChunk } from "agentensemble/ui";
import {
  Agent,
  agentTool,
  Ensemble,
  GuardrailResult,
  Phase,
  ReviewDecision,
  RunCancelledError,
  Task,
  tool,
  ToolResult,
  Workflow,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel, type Step } from "agentensemble/testing";
import { toUIMessageStream } from "agentensemble/ui";
import { expect } from "chai";
import { z } from "zod";
import {
  checkUiParts,
  ofType,
  partsOf,
  started,
  textsOf,
  typesOf,
  uiParts,
  withoutData,
} from "./fixtures.js";

const weather = tool({
  name: "weather",
  description: "Says the weather",
  title: "The weather",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 21 }),
});

const agentWith = (
  model: ScriptedModel,
  tools: readonly AnyTool[] = [weather],
  role = "Clerk",
): Agent => new Agent({ role, goal: "Helps", model, tools });

const chunked = (...chunks: readonly string[]): { text: string; chunks: readonly string[] } => ({
  text: chunks.join(""),
  chunks,
});

const dataOf = (parts: readonly UIChunk[], type: string): readonly unknown[] =>
  ofType(parts, type).map(({ data }) => data);

/** A turn that delegates a task to the agent `Worker`. */
const delegating = (name: string, taskDescription: string): Step => ({
  toolCalls: [{ id: "d", name, arguments: { agentRole: "Worker", taskDescription } }],
});

describe("toUIMessageStream()", () => {
  it("streams the answer of a task, from start to finish", async () => {
    const model = new ScriptedModel([
      { ...chunked("Par", "is"), usage: { inputTokens: 7, outputTokens: 2 } },
    ]);
    const handle = started({ model, tasks: [Task.of("Name a city")] }, { runId: "run-7" });
    const parts = await partsOf(toUIMessageStream(handle));
    expect(withoutData(parts).filter(({ type }) => type !== "text-delta")).to.deep.equal([
      { type: "start", messageId: "run-7-a" },
      { type: "start-step" },
      { type: "text-start", id: "t0" },
      { type: "text-end", id: "t0" },
      { type: "finish-step" },
      {
        type: "finish",
        finishReason: "stop",
        messageMetadata: {
          turnId: "run-7",
          usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 },
        },
      },
    ]);
    expect(textsOf(parts)).to.deep.equal(["Paris"]);
    const message = await checkUiParts(parts);
    expect(message).to.deep.include({ id: "run-7-a", role: "assistant" });
    expect(message.parts.find(({ type }) => type === "text")).to.deep.include({
      text: "Paris",
      state: "done",
    });
  });

  it("shows each source of results once, and none of a private tool", async () => {
    const sources = [
      { url: "https://example.org/rome", title: "Rome" },
      { url: "https://example.org/bare" },
      { title: "The atlas", mediaType: "application/pdf" },
      { title: "A note" },
    ];
    const atlas = (name: string, isPrivate = false) =>
      tool({
        name,
        description: "Finds pages",
        private: isPrivate,
        execute: () => ToolResult.success("found", undefined, { sources }),
      });
    const model = new ScriptedModel([
      { toolCalls: [{ id: "c0", name: "secret", arguments: {} }] },
      { toolCalls: [{ id: "c1", name: "atlas", arguments: {} }] },
      { toolCalls: [{ id: "c2", name: "atlas", arguments: {} }] },
      "Rome.",
    ]);
    const agent = agentWith(model, [atlas("secret", true), atlas("atlas")]);
    const parts = await uiParts({ tasks: [new Task({ description: "Where?", agent })] });
    expect(parts.filter(({ type }) => type.startsWith("source-"))).to.deep.equal([
      {
        type: "source-url",
        sourceId: "source-1",
        url: "https://example.org/rome",
        title: "Rome",
      },
      { type: "source-url", sourceId: "source-2", url: "https://example.org/bare" },
      {
        type: "source-document",
        sourceId: "source-3",
        mediaType: "application/pdf",
        title: "The atlas",
      },
      {
        type: "source-document",
        sourceId: "source-4",
        mediaType: "text/plain",
        title: "A note",
      },
    ]);
    expect(typesOf(parts).indexOf("source-url")).to.be.above(
      parts.findIndex((part) => part["toolCallId"] === "c1" && part.type.includes("output")),
    );
    await checkUiParts(parts);
  });

  it("omits the sources of results if they are disabled", async () => {
    const atlas = tool({
      name: "atlas",
      description: "Finds pages",
      execute: () => ToolResult.success("found", undefined, { sources: [{ title: "A note" }] }),
    });
    const model = new ScriptedModel([{ toolCalls: [{ name: "atlas", arguments: {} }] }, "Rome."]);
    const task = new Task({ description: "Where?", agent: agentWith(model, [atlas]) });
    const parts = await uiParts({ tasks: [task] }, { sources: false });
    expect(ofType(parts, "tool-output-available")).to.have.length(1);
    expect(ofType(parts, "source-document")).to.deep.equal([]);
  });

  it("shows a tool call with its input, its output and its title", async () => {
    const model = new ScriptedModel([
      {
        text: "Let me see.",
        toolCalls: [{ id: "c1", name: "weather", arguments: { city: "Rome" } }],
      },
      "Warm.",
    ]);
    const parts = await uiParts({
      tasks: [new Task({ description: "How is it?", agent: agentWith(model) })],
    });
    expect(ofType(parts, "tool-input-available")).to.deep.equal([
      {
        type: "tool-input-available",
        toolCallId: "c1",
        toolName: "weather",
        input: { city: "Rome" },
        dynamic: true,
        title: "The weather",
      },
    ]);
    expect(ofType(parts, "tool-output-available")).to.deep.equal([
      { type: "tool-output-available", toolCallId: "c1", output: { city: "Rome", degrees: 21 } },
    ]);
    expect(typesOf(withoutData(parts)).filter((type) => type !== "text-delta")).to.deep.equal([
      "start",
      "start-step",
      "text-start",
      "text-end",
      "tool-input-available",
      "tool-output-available",
      "finish-step",
      "start-step",
      "text-start",
      "text-end",
      "finish-step",
      "finish",
    ]);
    expect(textsOf(parts)).to.deep.equal(["Let me see.", "Warm."]);
    expect(ofType(parts, "data-answer")).to.deep.equal([]);
  });

  it("assigns different ids to calls with the same id", async () => {
    const call = { toolCalls: [{ id: "c", name: "weather", arguments: { city: "Rome" } }] };
    const model = new ScriptedModel([call, call, "done"]);
    const parts = await uiParts({
      tasks: [new Task({ description: "Twice", agent: agentWith(model) })],
    });
    const ids = (type: string): unknown => ofType(parts, type).map((part) => part["toolCallId"]);
    expect(ids("tool-input-available")).to.deep.equal(["c", "c~2"]);
    expect(ids("tool-output-available")).to.deep.equal(["c", "c~2"]);
  });

  it("hides input and output of a private tool, and of tools that `tools` excludes", async () => {
    const secret = tool({
      name: "vault",
      description: "Opens",
      private: true,
      input: z.object({ pin: z.string() }),
      execute: () => "gold",
    });
    const script = [{ toolCalls: [{ id: "v", name: "vault", arguments: { pin: "1234" } }] }, "ok"];
    const options = (tools = [secret] as const) => ({
      tasks: [
        new Task({
          description: "Open it",
          agent: new Agent({ role: "A", goal: "g", model: new ScriptedModel(script), tools }),
        }),
      ],
    });
    const parts = await uiParts(options());
    expect(ofType(parts, "tool-input-available")[0]).to.deep.include({ input: {} });
    expect(ofType(parts, "tool-output-available")[0]).to.deep.include({ output: null });
    expect(JSON.stringify(parts)).to.not.match(/1234|gold/);

    const visible = (tools: "names" | "none") => {
      const model = new ScriptedModel([
        { toolCalls: [{ id: "w", name: "weather", arguments: { city: "Oslo" } }] },
        "ok",
      ]);
      const tasks = [new Task({ description: "Look", agent: agentWith(model) })];
      return uiParts({ tasks }, { tools });
    };
    const names = await visible("names");
    expect(ofType(names, "tool-input-available")[0]).to.deep.include({
      toolName: "weather",
      input: {},
    });
    expect(JSON.stringify(names)).to.not.contain("Oslo");
    expect(typesOf(await visible("none")).filter((type) => type.startsWith("tool-"))).to.deep.equal(
      [],
    );
  });

  it("reports that a tool failed or was denied, without details", async () => {
    const broken = tool({
      name: "broken",
      description: "Breaks",
      execute: () => {
        throw new Error("disk /dev/sda1");
      },
    });
    const guarded = tool({
      name: "guarded",
      description: "Asks",
      requireApproval: true,
      execute: () => "never",
    });
    const model = new ScriptedModel([
      { toolCalls: [{ id: "b", name: "broken", arguments: {} }] },
      { toolCalls: [{ id: "g", name: "guarded", arguments: {} }] },
      "done",
    ]);
    const agent = new Agent({ role: "A", goal: "g", model, tools: [broken, guarded] });
    const parts = await uiParts({
      tasks: [new Task({ description: "Try", agent })],
      reviewHandler: () => ReviewDecision.exitEarly(),
    });
    expect(ofType(parts, "tool-output-error")).to.deep.equal([
      { type: "tool-output-error", toolCallId: "b", errorText: "The tool failed." },
    ]);
    expect(ofType(parts, "tool-output-denied")).to.deep.equal([
      { type: "tool-output-denied", toolCallId: "g" },
    ]);
    expect(JSON.stringify(parts)).to.not.contain("sda1");
  });

  it("shows only the last of several tasks, and the others as data", async () => {
    const model = new ScriptedModel(["Draft about bees", "Final text"]);
    const writer = new Agent({ role: "Writer", goal: "w" });
    const editor = new Agent({ role: "Editor", goal: "e" });
    const parts = await uiParts({
      model,
      tasks: [
        new Task({ name: "draft", description: "Write about bees", agent: writer }),
        new Task({ name: "edit", description: "Edit the bees", agent: editor }),
      ],
    });
    expect(textsOf(parts)).to.deep.equal(["Final text"]);
    expect(JSON.stringify(parts)).to.not.contain("bees");
    expect(dataOf(parts, "data-task")).to.deep.include.members([
      { taskId: "draft", agent: "Writer", state: "running" },
      { taskId: "edit", agent: "Editor", state: "running" },
    ]);
    expect(
      dataOf(parts, "data-task").map((data) => (data as { state: string }).state),
    ).to.deep.equal(["running", "done", "running", "done"]);
  });

  it("shows all texts with `text: all`, also of tasks that run concurrently", async () => {
    const tasks = ["a", "b", "c"].map(
      (name) =>
        new Task({
          name,
          description: name,
          model: new ScriptedModel([chunked(`${name}1`, `${name}2`, `${name}3`)]),
          agent: new Agent({ role: name, goal: "g" }),
        }),
    );
    const parts = await uiParts({ tasks, workflow: Workflow.PARALLEL }, { text: "all" });
    expect([...textsOf(parts)].sort()).to.deep.equal(["a1a2a3", "b1b2b3", "c1c2c3"]);
    expect(ofType(parts, "data-answer")).to.deep.equal([]);
  });

  it("shows the tasks that a function chooses", async () => {
    const tasks = ["one", "two", "three"].map(
      (name) => new Task({ name, description: name, model: new ScriptedModel([`by ${name}`]) }),
    );
    const parts = await uiParts({ tasks }, { text: ({ taskId }) => taskId === "two" });
    expect(textsOf(parts)).to.deep.equal(["by two"]);
  });

  it("adds partial outputs with `text: all`", async () => {
    const options = () => ({
      tasks: [
        new Task({
          name: "data",
          description: "d",
          outputType: z.object({ city: z.string(), note: z.string() }),
          model: new ScriptedModel([chunked('{"city": "Paris", "note": "large', ' and old"}')]),
        }),
      ],
    });
    const all = ofType(await uiParts(options(), { text: "all" }), "data-partial");
    expect(all.at(-1)).to.deep.include({ id: "data" });
    expect(all.map(({ data }) => data)).to.deep.include({ city: "Paris", note: "large" });
    expect(ofType(await uiParts(options()), "data-partial")).to.deep.equal([]);
  });

  it("sends the answer in one piece if its task is not known in advance", async () => {
    const model = new ScriptedModel(["gathered", "the sum"]);
    const gather = new Phase({ name: "gather", tasks: [Task.of("Gather")] });
    const parts = await uiParts({
      model,
      phases: [gather, new Phase({ name: "add", tasks: [Task.of("Add")], after: [gather] })],
    });
    expect(textsOf(parts)).to.deep.equal(["the sum"]);
  });

  it("sends the output of a handler's task in one piece", async () => {
    const parts = await uiParts({
      tasks: [new Task({ description: "d", handler: () => "made by hand" })],
    });
    expect(textsOf(parts)).to.deep.equal(["made by hand"]);
  });

  it("corrects a streamed text that was not accepted with data-answer", async () => {
    const model = new ScriptedModel(["bad words", "good words"]);
    const parts = await uiParts({
      model,
      tasks: [
        new Task({
          name: "t",
          description: "d",
          guardrailRetries: 1,
          outputGuardrails: [
            ({ raw }) =>
              raw.includes("bad") ? GuardrailResult.failure("no") : GuardrailResult.success(),
          ],
        }),
      ],
    });
    expect(textsOf(parts)).to.deep.equal(["bad words", "good words"]);
    expect(ofType(parts, "data-answer")).to.deep.equal([
      { type: "data-answer", id: "t", data: { text: "good words" } },
    ]);
  });

  it("corrects a text that a review changed", async () => {
    const parts = await uiParts({
      model: new ScriptedModel(["streamed"]),
      reviewPolicy: "AFTER_EVERY_TASK",
      reviewHandler: () => ReviewDecision.edit("edited"),
      tasks: [new Task({ name: "t", description: "d" })],
    });
    expect(dataOf(parts, "data-answer")).to.deep.equal([{ text: "edited" }]);
    expect(
      dataOf(parts, "data-review").map((data) => (data as { state: string }).state),
    ).to.deep.equal(["waiting", "edit"]);
  });

  it("hides the final text of a run that a reviewer ended early", async () => {
    const parts = await uiParts({
      model: new ScriptedModel(["first secret draft"]),
      tasks: [
        new Task({ description: "one", beforeReview: undefined }),
        new Task({ description: "two" }),
      ],
      reviewPolicy: "AFTER_EVERY_TASK",
      reviewHandler: () => ReviewDecision.exitEarly(),
    });
    expect(textsOf(parts)).to.deep.equal([]);
    expect(parts.at(-1)).to.deep.include({ type: "finish", finishReason: "other" });
  });

  it("masks errors, unless `onError` returns more", async () => {
    const failing = () => ({
      tasks: [
        new Task({
          description: "d",
          handler: (): string => {
            throw new Error("password hunter2");
          },
        }),
      ],
    });
    const parts = await uiParts(failing());
    expect(parts.at(-1)).to.deep.equal({
      type: "error",
      errorText: "An error occurred. (AE_TASK_EXECUTION)",
    });
    expect(JSON.stringify(parts)).to.not.contain("hunter2");
    expect(dataOf(parts, "data-task").at(-1)).to.deep.include({ state: "failed" });
    const told = await uiParts(failing(), { onError: (error) => error.name });
    expect(told.at(-1)).to.deep.equal({ type: "error", errorText: "TaskExecutionError" });
    const broken = await uiParts(failing(), {
      onError: () => {
        throw new Error("worse");
      },
    });
    expect(broken.at(-1)).to.deep.equal(parts.at(-1));
  });

  it("ends with an error if the run was refused before it began", async () => {
    const parts = await uiParts({ tasks: [Task.of("no model anywhere")] });
    expect(typesOf(parts)).to.deep.equal(["start", "error"]);
    expect(parts.at(-1)?.["errorText"]).to.equal("An error occurred. (AE_VALIDATION)");
  });

  it("ends with an error if the run fails and does not throw", async () => {
    const handle = started(
      { tasks: [new Task({ description: "d", handler: (): string => JSON.parse("{") as string })] },
      { throwOnError: false },
    );
    const parts = await partsOf(toUIMessageStream(handle));
    expect(parts.at(-1)?.type).to.equal("error");
  });

  it("ends a cancelled run with abort, its open parts closed", async () => {
    let begin: () => void = () => undefined;
    const called = new Promise<void>((resolve) => (begin = resolve));
    const slow = tool({
      name: "slow",
      description: "Waits",
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new RunCancelledError("stopped")));
          begin();
        }),
    });
    const model = new ScriptedModel([{ toolCalls: [{ id: "s", name: "slow", arguments: {} }] }]);
    const agent = new Agent({ role: "A", goal: "g", model, tools: [slow] });
    const handle = started({ tasks: [new Task({ description: "d", agent })] });
    const reading = partsOf(toUIMessageStream(handle));
    await called;
    handle.cancel("enough of this");
    const parts = await reading;
    await checkUiParts(parts);
    expect(parts.at(-1)).to.deep.equal({ type: "abort" });
    expect(ofType(parts, "tool-output-error")).to.have.length(1);
    expect(dataOf(parts, "data-task").at(-1)).to.deep.include({ state: "stopped" });
  });

  it("shows a handoff and the call of an agent as delegations of their modes", async () => {
    const isAnswered = ({ messages }: ChatRequest): boolean => messages.at(-1)?.role === "tool";
    const helper = new Agent({ role: "Helper", goal: "h", model: new ScriptedModel(["helped"]) });
    const next = new Agent({ role: "Next", goal: "n", model: new ScriptedModel(["the end"]) });
    const model = new ScriptedModel((request) => ({
      toolCalls: [
        isAnswered(request)
          ? { name: "transfer_to_next", arguments: {} }
          : { name: "helper", arguments: { task: "help" } },
      ],
    }));
    const first = new Agent({
      role: "First",
      goal: "f",
      model,
      tools: [agentTool(helper)],
      handoffs: [next],
    });
    const parts = await uiParts({ tasks: [new Task({ description: "d", agent: first })] });
    await checkUiParts(parts);
    const modes = dataOf(parts, "data-delegation").map((data) => {
      const { to, mode } = data as { readonly to: string; readonly mode: string };
      return `${to}: ${mode}`;
    });
    expect(new Set(modes)).to.deep.equal(new Set(["Helper: tool", "Next: handoff"]));
  });

  it("shows delegation as data, without the other agent's task, text and call", async () => {
    const model = new ScriptedModel([
      delegating("delegate", "find the hidden treasure"),
      "all done",
    ]);
    const worker = new ScriptedModel(["warm-up", "under the oak"]);
    const boss = new Agent({ role: "Boss", goal: "g", model, allowDelegation: true });
    const other = new Agent({ role: "Worker", goal: "w", model: worker });
    const parts = await uiParts({
      tasks: [
        new Task({ description: "w", agent: other, model: new ScriptedModel(["warm-up"]) }),
        new Task({ description: "b", agent: boss }),
      ],
    });
    expect(dataOf(parts, "data-delegation").at(-1)).to.deep.equal({
      from: "Boss",
      to: "Worker",
      mode: "task",
      state: "done",
    });
    expect(ofType(parts, "tool-input-available")[0]).to.deep.include({ input: {} });
    expect(ofType(parts, "tool-output-available")[0]).to.deep.include({ output: null });
    expect(textsOf(parts)).to.deep.equal(["all done"]);
    expect(JSON.stringify(parts)).to.not.match(/treasure|oak|warm-up/);
  });

  it("shows the manager's answer of a hierarchical team", async () => {
    const manager = new ScriptedModel([delegating("delegateTask", "dig"), "The team is done."]);
    const agent = new Agent({ role: "Worker", goal: "w", model: new ScriptedModel(["dug deep"]) });
    const parts = await uiParts({
      workflow: Workflow.HIERARCHICAL,
      managerModel: manager,
      tasks: [new Task({ description: "Dig a hole", agent })],
    });
    expect(textsOf(parts)).to.deep.equal(["The team is done."]);
    expect(JSON.stringify(parts)).to.not.match(/dug deep|Dig a hole/);
    expect(ofType(parts, "data-delegation").length).to.be.greaterThan(0);
  });

  it("shows budgets", async () => {
    const parts = await uiParts({
      model: new ScriptedModel([{ text: "x", usage: { inputTokens: 30, outputTokens: 20 } }]),
      plugins: [budget({ maxTokens: 1_000 })],
      tasks: [Task.of("t")],
    });
    const [first] = dataOf(parts, "data-budget");
    expect(first).to.deep.include({ limit: "maxTokens", used: 0, allowed: 1_000 });
    expect(dataOf(parts, "data-budget").at(-1)).to.deep.include({ used: 50 });
  });

  it("shows reasoning of the answer's model calls, unless it is off", async () => {
    const options = () => ({
      model: {
        provider: "scripted",
        modelId: "thinker",
        chat: () =>
          Promise.resolve({
            message: { role: "assistant" as const, content: "42" },
            finishReason: "stop" as const,
            reasoning: "I counted.",
            usage: { inputTokens: 1, outputTokens: 1 },
          }),
      },
      tasks: [Task.of("t")],
    });
    const parts = await uiParts(options());
    expect(ofType(parts, "reasoning-delta")).to.deep.equal([
      { type: "reasoning-delta", id: "r0", delta: "I counted." },
    ]);
    expect(JSON.stringify(await uiParts(options(), { reasoning: false }))).to.not.contain(
      "counted",
    );
  });

  it("omits data parts with `data: false`, uses the message's id and adds metadata", async () => {
    const parts = await uiParts(
      { model: new ScriptedModel(["x"]), tasks: [Task.of("t")] },
      {
        data: false,
        messageId: "m-1",
        metadata: (event) => (event.type === "ensemble_started" ? { at: 1n } : undefined),
      },
    );
    expect(parts[0]).to.deep.equal({ type: "start", messageId: "m-1" });
    expect(typesOf(parts).some((type) => type.startsWith("data-"))).to.equal(false);
    expect(ofType(parts, "message-metadata")).to.have.length(1);
  });

  it("removes known secrets", async () => {
    const key = `sk-${"a1B2".repeat(12)}`;
    const leak = tool({ name: "leak", description: "l", execute: () => `the key is ${key}` });
    const model = new ScriptedModel([
      { toolCalls: [{ id: "l", name: "leak", arguments: { apiKey: "abc", note: key } }] },
      `It is ${key}.`,
    ]);
    const agent = new Agent({ role: "A", goal: "g", model, tools: [leak] });
    const parts = await uiParts({ tasks: [new Task({ description: "d", agent })] });
    expect(JSON.stringify(parts)).to.not.contain(key);
    expect(textsOf(parts)).to.deep.equal(["It is [redacted]."]);
  });

  it("refuses values that are not handles of a run, and names them", async () => {
    const ensemble = new Ensemble({ model: new ScriptedModel(["x"]), tasks: [Task.of("t")] });
    const run = ensemble.run();
    for (const wrong of [ensemble, run, undefined, null, "run-1"])
      expect(() => toUIMessageStream(wrong as never))
        .to.throw("A stream for a page needs a run handle")
        .with.property("hint")
        .contains("ensemble.stream(inputs)");
    await run;
    await ensemble.dispose();
  });

  it("refuses unknown and invalid options, and a second stream of a run", async () => {
    const ensemble = new Ensemble({ model: new ScriptedModel(["x"]), tasks: [Task.of("t")] });
    const handle = ensemble.stream();
    const unfit: readonly object[] = [
      { texts: "all" },
      { text: "some" },
      { tools: true },
      { data: 1 },
      { reasoning: "yes" },
      { messageId: " " },
      { onError: "x" },
      { metadata: {} },
      { onDisconnect: "stop" },
      { endAtApproval: 1 },
    ];
    for (const options of unfit)
      expect(() => toUIMessageStream(handle, options), JSON.stringify(options))
        .to.throw()
        .with.property("code", "AE_VALIDATION");
    const first = toUIMessageStream(handle);
    expect(() => toUIMessageStream(handle))
      .to.throw()
      .with.property("code", "AE_VALIDATION");
    await partsOf(first);
    expect(() => toUIMessageStream(handle))
      .to.throw()
      .with.property("code", "AE_VALIDATION");
    await ensemble.dispose();
  });
});
