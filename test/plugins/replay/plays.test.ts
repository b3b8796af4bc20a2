import type {
  ChatModel,
  ChatRequest,
  EnsembleEvent,
  EnsembleOptions,
  ExecutionTrace,
  Plugin,
} from "agentensemble";
import {
  Agent,
  Ensemble,
  FileFormatError,
  ModelCallError,
  RateLimit,
  RateLimitTimeoutError,
  Task,
  Tokens,
  answer,
  definePlugin,
  tool,
} from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
import { budget, cache, fallback, retry } from "agentensemble/resilience";
import { ScriptedModel, type Step } from "agentensemble/testing";
import { expect } from "chai";
import { join } from "node:path";
import { z } from "zod";
import { rejectionOf } from "../../support/rejection.js";
import { deadModel, play, withoutDurations } from "./record-and-replay.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { pause } from "../../support/time.js";

const SCRIPTED = { provider: "scripted", modelId: "scripted" };

describe("the content of a replay", () => {
  let folder: string;
  let file = "";
  beforeEach(() => {
    folder = temporaryFolder();
    file = join(folder, "run.jsonl");
  });

  const streamed = async (
    options: EnsembleOptions,
  ): Promise<{ id: string; events: EnsembleEvent[] }> => {
    await using ensemble = new Ensemble(options);
    const run = ensemble.stream();
    const events: EnsembleEvent[] = [];
    for await (const event of run.events) events.push(event);
    await run.output.catch(() => undefined);
    return { id: run.id, events };
  };
  const tokensOf = (events: readonly EnsembleEvent[]): string[] =>
    events.flatMap((e) => (e.type === "token" ? [e.token] : []));

  it("assigns its ids to runs that begin, and none to runs with refused inputs", async () => {
    const said = (text: string): ScriptedModel => new ScriptedModel([`${text} 1`, `${text} 2`]);
    const inputType = z.object({ city: z.string() });
    const ids = async (model: ChatModel, plugin: Plugin): Promise<readonly string[]> => {
      await using ensemble = new Ensemble({
        model,
        inputType,
        tasks: [Task.of("Tell of {city}")],
        plugins: [plugin],
      });
      const found: string[] = [];
      for (const city of [7, "Husum", 8, "List"]) {
        const run = ensemble.stream({ city: city as string }); // as a client may send it
        const raw = await run.output.then(
          (output) => output.raw,
          () => "refused",
        );
        found.push(raw === "refused" ? raw : `${run.id}: ${raw}`);
      }
      return found;
    };
    const model = said("News");
    const recorded = await ids(model, recordTo(file));
    expect(recorded.map((line) => line.slice(-6))).to.deep.equal([
      "efused",
      "News 1",
      "efused",
      "News 2",
    ]);
    expect(await ids(deadModel(model), replayFrom(file))).to.deep.equal(recorded);
  });

  it("is streamed in the same chunks, with the same run id", async () => {
    const model = new ScriptedModel([{ chunks: ["A sw", "ift", " flies"] }]);
    const tasks = [Task.of("Stream")];
    const recorded = await streamed({ model, tasks, plugins: [recordTo(file)] });
    const replayed = await streamed({
      model: deadModel(model),
      tasks,
      plugins: [replayFrom(file)],
    });
    expect(tokensOf(replayed.events)).to.deep.equal(["A sw", "ift", " flies"]);
    expect(replayed.id).to.equal(recorded.id);
    const [was, is] = [recorded, replayed].map(({ events }) =>
      events.map(({ type, seq, runId }) => ({ type, seq, runId })),
    );
    expect(is).to.deep.equal(was);
  });

  it("may be streamed if it was recorded in one piece, and the reverse", async () => {
    const tasks = [Task.of("Say it")];
    await play({ model: new ScriptedModel(["whole"]), tasks }, [recordTo(file)]);
    const replayed = await streamed({
      model: deadModel(new ScriptedModel([])),
      tasks,
      plugins: [replayFrom(file)],
    });
    expect(tokensOf(replayed.events)).to.deep.equal(["whole"]);
    await streamed({
      model: new ScriptedModel([{ chunks: ["in ", "pieces"] }]),
      tasks,
      plugins: [recordTo(file)],
    });
    expect(
      (await play({ model: deadModel(new ScriptedModel([])), tasks }, [replayFrom(file)])).output
        .raw,
    ).to.equal("in pieces");
  });

  it("includes several sequential and concurrent runs of one kernel, each with its id, start and answers", async () => {
    const script = async ({ messages }: ChatRequest, index: number): Promise<string> => {
      await pause(JSON.stringify(messages).includes("Same") ? 30 - 10 * (index % 3) : 1);
      return `answer ${index}`;
    };
    const run = async (options: EnsembleOptions): Promise<readonly unknown[]> => {
      await using ensemble = new Ensemble(options);
      const first = await ensemble.run({ word: "Other" });
      await pause(5);
      const sides = await Promise.all([
        ensemble.run({ word: "Same" }),
        ensemble.run({ word: "Same" }, { runId: "mine" }),
        ensemble.run({ word: "Same" }),
      ]);
      return [first, ...sides].map(({ trace, raw }) => ({
        raw,
        start: trace.startedAt,
        trace: withoutDurations(trace.toJson()),
      }));
    };
    const tasks = [new Task({ description: "{word}", agent: new Agent({ role: "R", goal: "g" }) })];
    const recorded = await run({
      model: new ScriptedModel(script),
      tasks,
      plugins: [recordTo(file)],
    });
    const replayed = await run({
      model: deadModel(new ScriptedModel([])),
      tasks,
      plugins: [replayFrom(file, { onUnused: "fail" })],
    });
    expect(replayed).to.deep.equal(recorded);
  });

  it("includes a model given by its name only, without a key", async () => {
    const tasks = [Task.of("Say hello")];
    const named = definePlugin({
      name: "named-model",
      bind: (bind) => void bind.single(Tokens.ModelCheck).toConstantValue(() => undefined),
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "answer", lane: "answer" }, () =>
          answer({
            message: { role: "assistant" as const, content: "hello" },
            finishReason: "stop" as const,
          }),
        ),
    });
    await play({ model: "openai:gpt-4o-mini", tasks, plugins: [named] }, [recordTo(file)]);
    const { output } = await play({ model: "openai:gpt-4o-mini", tasks }, [replayFrom(file)]); // answers of plugins are recorded too
    expect(output.raw).to.equal("hello");
  });

  it("waits for nothing: neither retries, nor rate limits, nor a slow model", async () => {
    const failure = new ModelCallError("busy", {
      ...SCRIPTED,
      code: "AE_MODEL_RATE_LIMITED",
      status: 429,
      retryable: true,
      retryAfterMs: 400,
    });
    const make = (model: EnsembleOptions["model"]): EnsembleOptions => ({
      model,
      tasks: ["a", "b", "c"].map((name) => new Task({ name, description: name })),
      workflow: "PARALLEL",
      rateLimit: RateLimit.of(1, 400),
      plugins: [retry({ maxAttempts: 2 })],
    });
    const live = new ScriptedModel([failure, { text: "x", delayMs: 300 }, "y", "z"]);
    const began = performance.now();
    const recorded = await play(make(live), [recordTo(file)]);
    const recordedMs = performance.now() - began;
    const replayed = await play(make(deadModel(live)), [replayFrom(file, { onUnused: "fail" })]);
    expect(performance.now() - began - recordedMs).to.be.below(recordedMs / 2);
    expect(withoutDurations(replayed.output.trace.toJson())).to.deep.equal(
      withoutDurations(recorded.output.trace.toJson()),
    );
    expect(replayed.output.trace.totalDurationMs).to.be.greaterThan(
      recorded.output.trace.totalDurationMs / 4,
    ); // in virtual time
  });

  it("includes a wait for a rate limit that was too long", async () => {
    const make = (model: EnsembleOptions["model"]): EnsembleOptions => ({
      model,
      tasks: [Task.of("One"), Task.of("Two")],
      rateLimit: RateLimit.perMinute(1).with({ waitTimeoutMs: 20 }),
    });
    const recorded = await play(make(new ScriptedModel(["one"])), [recordTo(file)]);
    const replayed = await play(make(deadModel(new ScriptedModel([]))), [replayFrom(file)]);
    expect(RateLimitTimeoutError.find(replayed.error)?.waitTimeoutMs).to.equal(20);
    expect(withoutDurations(replayed.output.trace.toJson())).to.deep.equal(
      withoutDurations(recorded.output.trace.toJson()),
    );
  });

  it("includes the answers of a cache within a budget, with the same usage", async () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const live = new ScriptedModel([{ text: "one", usage }]);
    const options = (model: ChatModel): EnsembleOptions => ({
      model,
      tasks: [Task.of("A"), Task.of("A")],
      plugins: [cache(), budget({ maxTokens: 5_000, maxOutputTokensPerCall: 500 })],
    });
    const recorded = await play(options(live), [recordTo(file)]);
    expect(live.requests.length).to.equal(1);
    const replayed = await play(options(deadModel(live)), [replayFrom(file)]);
    for (const { output } of [recorded, replayed]) {
      expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["one", "one"]);
      expect(output.metrics).to.include({ inputTokens: 10, outputTokens: 5, unknownUsageCalls: 0 });
    }
  });

  it("includes a cancelled call, if it is cancelled again", async () => {
    const make = (model: EnsembleOptions["model"]): EnsembleOptions => ({
      model,
      tasks: [new Task({ description: "Slow", timeoutMs: 60 })],
    });
    const recorded = await play(make(new ScriptedModel([{ text: "late", delayMs: 5_000 }])), [
      recordTo(file),
    ]);
    const replayed = await play(make(deadModel(new ScriptedModel([]))), [replayFrom(file)]);
    expect(replayed.error?.message).to.equal(recorded.error?.message);
    expect(withoutDurations(replayed.output.trace.toJson())).to.deep.equal(
      withoutDurations(recorded.output.trace.toJson()),
    );
    const patient = await play(
      { model: deadModel(new ScriptedModel([])), tasks: [new Task({ description: "Slow" })] },
      [replayFrom(file)],
    );
    expect(patient.error?.code).to.equal("AE_RECORDING_MISMATCH"); // it does not wait indefinitely
  });

  it("ends immediately when it is cancelled", async () => {
    await play(
      {
        model: new ScriptedModel([{ text: "x", delayMs: 30 }, "y"]),
        tasks: [Task.of("A"), Task.of("B")],
      },
      [recordTo(file)],
    );
    const controller = new AbortController();
    const options = {
      model: deadModel(new ScriptedModel([])),
      tasks: [Task.of("A"), Task.of("B")],
    };
    const cancelling = definePlugin({
      name: "cancelling",
      apply: ({ events }) =>
        void events.on((e) => e.type === "llm_iteration_started" && controller.abort()),
    });
    const { output } = await play(
      options,
      [replayFrom(file), cancelling],
      {},
      { signal: controller.signal },
    );
    expect(output.exitReason).to.equal("CANCELLED");
  });

  it("is the same for hooks of other plugins, which receive the names of the model", async () => {
    const seen: string[] = [];
    const watching = definePlugin({
      name: "watching",
      apply: ({ hooks }) =>
        hooks.afterLlmCall.tap(
          ({ outcome, model, response }) =>
            void seen.push(
              `${outcome} ${model.provider}:${model.modelId} ${response?.message.content ?? ""}`,
            ),
        ),
    });
    const model = new ScriptedModel(["yes"]);
    await play({ model, tasks: [Task.of("A")], plugins: [watching] }, [recordTo(file)]);
    await play({ model: deadModel(model), tasks: [Task.of("A")], plugins: [watching] }, [
      replayFrom(file),
    ]);
    expect(seen).to.deep.equal(["ok scripted:scripted yes", "ok scripted:scripted yes"]);
  });

  describe("from a trace", () => {
    const look = tool({ name: "look", description: "d", execute: (text) => `saw ${text}` });
    const make = (model: EnsembleOptions["model"], lead = "Lead"): EnsembleOptions => ({
      model,
      captureMode: "FULL",
      traceExporter: () => undefined, // else it goes to a folder of its own
      agents: [new Agent({ role: "Helper", goal: "help", tools: [look] })],
      tasks: [
        new Task({
          name: "lead",
          description: lead,
          agent: new Agent({ role: "Leader", goal: "lead", allowDelegation: true }),
        }),
      ],
    });
    const script = ({
      messages,
    }: ChatRequest): string | { toolCalls: { name: string; arguments: unknown }[] } => {
      const turn = messages.filter((m) => m.role === "assistant").length;
      const isHelper = JSON.stringify(messages[0]).includes("Helper");
      if (turn > 0) return isHelper ? "helped" : "thanks";
      return {
        toolCalls: [
          isHelper
            ? { name: "look", arguments: { input: "x" } }
            : { name: "delegate", arguments: { agentRole: "Helper", taskDescription: "Help" } },
        ],
      };
    };
    const inFile = (trace: ExecutionTrace): Record<string, unknown> =>
      JSON.parse(trace.toJson()) as Record<string, unknown>; // an object

    it("repeats a team with workers and tools, from the file and from the object", async () => {
      const { output } = await play(make(new ScriptedModel(script)), []);
      await output.trace.save(file);
      const dead = deadModel(new ScriptedModel([]));
      const replayed = await play(make(dead), [replayFrom(file, { onUnused: "fail" })]);
      expect(replayed.output.raw).to.equal("thanks");
      expect(replayed.output.trace.ensembleId).to.equal(output.trace.ensembleId);
      expect(withoutDurations(replayed.output.trace.toJson())).to.deep.equal(
        withoutDurations(output.trace.toJson()),
      );
      expect((await play(make(dead), [replayFrom(output.trace)])).output.raw).to.equal("thanks");
      expect(dead.calls).to.equal(0);
    });

    it("ends the run if the conversation differs from the trace", async () => {
      const { output } = await play(make(new ScriptedModel(script)), []);
      const trace = inFile(output.trace) as {
        taskTraces: { llmInteractions: { messages: object[] }[] }[];
      };
      const interaction = trace.taskTraces[0]?.llmInteractions[0];
      Object.assign(interaction?.messages[0] ?? {}, { content: "You are someone else" });
      const { error } = await play(make(deadModel(new ScriptedModel([]))), [
        replayFrom(trace as unknown as ExecutionTrace),
      ]);
      expect(error?.code).to.equal("AE_RECORDING_MISMATCH");
      expect(error?.message).to.include("someone else");
    });

    it("ends the run if a task differs, with the most similar task", async () => {
      const { output } = await play(make(new ScriptedModel(script)), []);
      const missed = async (name: string, description: string): Promise<string | undefined> => {
        const options = make(deadModel(new ScriptedModel([])));
        const tasks = [
          new Task({
            name,
            description,
            agent: new Agent({ role: "Leader", goal: "lead", allowDelegation: true }),
          }),
        ];
        return (await play({ ...options, tasks }, [replayFrom(output.trace)])).error?.message;
      };
      const place =
        "Call 1 of task 'chief' to scripted:scripted is not in the trace. The nearest one";
      expect(await missed("chief", "Rule")).to.include(
        `${place}, call 1 of task 'lead', differs in message 2: recorded "user: ## Task\\nLead`,
      );
      expect(await missed("chief", "Lead")).to.equal(
        `${place} is call 1 of task 'lead', and a trace finds calls by their task.`,
      );
    });

    it("ends the run if a model of another vendor is called", async () => {
      const { output } = await play(make(new ScriptedModel(script)), []);
      const { error } = await play(make(new ScriptedModel([], { provider: "other" })), [
        replayFrom(output.trace),
      ]);
      expect(error?.message).to.include(
        'differs in the provider of the model: recorded "scripted", now "other"',
      );
    });

    it("uses the fallback model like the traced run", async () => {
      const failing: ChatModel = {
        provider: "first",
        modelId: "m",
        chat: () =>
          Promise.reject(
            new ModelCallError("no credit", {
              provider: "first",
              modelId: "m",
              code: "AE_MODEL_QUOTA",
              retryable: false,
            }),
          ),
      };
      const teamOf = (spare: ChatModel): EnsembleOptions => ({
        ...make(failing),
        plugins: [fallback([spare])],
      });
      const { output } = await play(teamOf(new ScriptedModel(script)), []);
      const replayed = await play(teamOf(deadModel(new ScriptedModel([]))), [
        replayFrom(output.trace, { onUnused: "fail" }),
      ]);
      expect(replayed.error).to.equal(undefined);
      expect(withoutDurations(replayed.output.trace.toJson())).to.deep.equal(
        withoutDurations(output.trace.toJson()),
      );
    });

    it("fails like the traced run: with an error of another kind without retry, and with a time limit", async () => {
      const spare = new ScriptedModel(() => "spared");
      const slow: Step = { text: "late", delayMs: 5000 };
      for (const last of [new TypeError("odd"), slow]) {
        const teamOf = (model: ChatModel): EnsembleOptions => {
          const tasks = [Task.of("Begin"), new Task({ description: "End", timeoutMs: 50 })];
          return {
            model,
            captureMode: "FULL",
            traceExporter: () => undefined,
            tasks,
            plugins: [fallback([spare])],
          };
        };
        const traced = await play(teamOf(new ScriptedModel(["begun", last])), []);
        const replayed = await play(teamOf(deadModel(new ScriptedModel([]))), [
          replayFrom(traced.output.trace, { onUnused: "fail" }),
        ]);
        expect(replayed.error?.message).to.equal(traced.error?.message);
        expect(withoutDurations(replayed.output.trace.toJson())).to.deep.equal(
          withoutDurations(traced.output.trace.toJson()),
        );
      }
    });

    it("refuses a trace with too little content, and names the required mode", async () => {
      const { output } = await play(
        { ...make(new ScriptedModel(script)), captureMode: "STANDARD" },
        [],
      );
      await using ensemble = new Ensemble({
        ...make(new ScriptedModel([])),
        plugins: [replayFrom(output.trace)],
      });
      const error = await rejectionOf(FileFormatError, ensemble.run());
      expect(error.hint).to.include('captureMode: "FULL"');
    });
  });
});
