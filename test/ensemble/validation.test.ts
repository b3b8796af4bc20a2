import type { EnsembleOptions } from "agentensemble";
import { Agent, Ensemble, Kernel, MemoryStore, Task, ValidationError, openai } from "agentensemble";
import { reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { inspect } from "node:util";
import { rejection } from "../support/rejection.js";
import { echo, failure } from "../support/kernel-fixtures.js";

const construct =
  (options: object): (() => Ensemble) =>
  () =>
    new Ensemble({ tasks: [echo("x")], ...options });

describe("new Ensemble", () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ taks: [] }, "Did you mean 'tasks'?"],
    [{ workflow: " " }, "Ensemble workflow must not be blank when set"],
    [{ maxDelegationDepth: 0 }, "Ensemble maxDelegationDepth must be > 0, got: 0"],
    [{ maxConcurrency: 0 }, "Ensemble maxConcurrency must be > 0, got: 0"],
    [
      { parallelErrorStrategy: null },
      "Ensemble parallelErrorStrategy must not be null for PARALLEL workflow",
    ],
    [{ model: " " }, 'got: " "'],
    [{ parallelErrorStrategy: "STOP" }, "Ensemble parallelErrorStrategy must be"],
    [{ tasks: "x" }, "Ensemble tasks must be an array"],
    [{ tasks: Promise.resolve([]) }, "Ensemble tasks must be an array, got: a Promise"],
    [{ tasks: new Set() }, "Ensemble tasks must be an array, got: a Set"],
    [{ tasks: [{ description: "x" }] }, "Ensemble tasks[0] must be a Task"],
    [{ tasks: [echo("x"), undefined] }, "Ensemble tasks[1] must be a Task"],
    [{ agents: [echo("x")] }, "Ensemble agents[0] must be an Agent"],
    [{ inputs: [] }, "Ensemble inputs must be an object"],
    [{ listeners: {} }, "Ensemble listeners must be an array"],
    [{ listeners: [{ onTaskStart: "x" }] }, "onTaskStart"],
    [{ onToken: 5 }, "onToken"],
    [{ on: "x" }, "on"],
    [{ plugins: {} }, "Ensemble plugins must be an array"],
    [{ kernel: {} }, "kernel must be a Kernel"],
    [{ maxToolOutputLength: -2 }, "Ensemble maxToolOutputLength"],
    [{ streaming: "yes" }, 'Ensemble streaming must be true, false or "guarded"'],
    [{ traceExporter: "x" }, "Ensemble traceExporter"],
    [{ agentSynthesizer: {} }, "Ensemble agentSynthesizer.synthesize"],
    [{ model: 5 }, "Ensemble model must be a ChatModel"],
  ];
  for (const [options, message] of cases) {
    it(`refuses ${inspect(options, { depth: 1, breakLength: Infinity }).slice(0, 60)}`, () => {
      expect(construct(options)).to.throw(ValidationError, message);
    });
  }

  it("treats undefined options as absent", () => {
    const options: EnsembleOptions = {
      workflow: undefined,
      model: undefined,
      listeners: undefined,
      plugins: undefined,
      kernel: undefined,
      inputs: undefined,
      on: undefined,
    };
    expect(construct(options)).to.not.throw();
  });

  it("accepts mistakes that only a run can detect", () => {
    expect(() => new Ensemble({})).to.not.throw();
    expect(
      construct({ tasks: [Task.of("{missing}")], workflow: "UNKNOWN", model: "unknown:x" }),
    ).to.not.throw();
  });

  it("keeps its options as they were", async () => {
    const tasks = [echo("a")];
    const ensemble = new Ensemble({ tasks });
    tasks.push(echo("b"));
    expect((await ensemble.run()).taskOutputs).to.have.length(1);
    await ensemble.dispose();
  });

  it("shows no secret when it is inspected", () => {
    const model = openai("gpt-5-mini", { apiKey: "sk-very-secret" });
    const ensemble = new Ensemble({
      model,
      tasks: [new Task({ description: "x", agent: new Agent({ role: "r", goal: "g", model }) })],
    });
    for (const value of [ensemble, model, new Kernel()])
      expect(inspect(value, { depth: 10, showHidden: true })).to.not.include("sk-very-secret");
  });
});

describe("ensemble.run", () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ timeout: 5 }, "Did you mean 'timeoutMs'?"],
    [{ signal: {} }, "signal must be an AbortSignal"],
    [{ timeoutMs: 0 }, "timeoutMs must be a positive number of milliseconds"],
    [{ timeoutMs: Number.NaN }, "timeoutMs"],
    [{ cancelGraceMs: -1 }, "cancelGraceMs must be a number of milliseconds from 0"],
    [
      { cancelGraceMs: 2 ** 31 },
      "cancelGraceMs must be a number of milliseconds from 0 to 2147483647",
    ], // a timer would not wait at all
    [{ tags: "x" }, "tags must be an object"],
    [{ runId: "" }, "runId must not be blank when set"],
    [{ bindings: {} }, "bindings must be a function"],
    [{ throwOnError: "no" }, "throwOnError must be true or false"],
    [{ maxToolOutputLength: 1.5 }, "maxToolOutputLength"],
  ];
  for (const [options, message] of cases) {
    it(`refuses the options ${inspect(options)}, and so does stream()`, async () => {
      const ensemble = new Ensemble({ tasks: [echo("x")] });
      const error = await failure(ensemble.run({}, options));
      expect(error).to.have.property("code", "AE_VALIDATION");
      expect(error.message).to.include(message);
      expect(() => ensemble.stream({}, options)).to.throw(ValidationError, message);
      await ensemble.dispose();
    });
  }

  it("refuses inputs that are not an object", async () => {
    const ensemble = new Ensemble({ tasks: [echo("x")] });
    for (const inputs of [null, [], "x", 5])
      expect(await failure(ensemble.run(inputs as never))).to.have.property(
        "code",
        "AE_VALIDATION",
      );
    await ensemble.dispose();
  });
});

describe("Ensemble.run", () => {
  const run = Ensemble.run as (...args: readonly unknown[]) => Promise<{ readonly raw: string }>;

  it("accepts a model and tasks, or tasks with handlers", async () => {
    expect((await run(new ScriptedModel(["one", "two"]), Task.of("a"), Task.of("b"))).raw).to.equal(
      "two",
    );
    expect((await run(echo("a"), echo("b"))).raw).to.equal("b");
  });

  it("refuses with the messages of the specification", async () => {
    const messageOf = async (...args: readonly unknown[]): Promise<string> =>
      ((await rejection(run(...args))) as Error).message;
    expect(await messageOf()).to.equal("tasks must not be null or empty");
    expect(await messageOf(new ScriptedModel([]))).to.equal("tasks must not be null or empty");
    expect(await messageOf(new ScriptedModel([]), Task.of("a"), null)).to.equal(
      "tasks[1] must not be null",
    );
    expect(await messageOf(null, Task.of("a"))).to.equal("model must not be null");
    expect(await messageOf(echo("a"), Task.of("Write"))).to.equal(
      "Task 'Write' has no handler. Without a model Ensemble.run() takes tasks with handlers only. Give the task a `handler`, or pass a model first.",
    );
  });
});

describe("the output of a run", () => {
  it("has everything under its documented name", async () => {
    const [a, b] = [echo("a"), echo("b")];
    const output = await Ensemble.run(a, b);
    expect(output).to.include({
      raw: "b",
      exitReason: "COMPLETED",
      isComplete: true,
      totalToolCalls: 0,
    });
    expect(output.completedTasks).to.deep.equal(output.taskOutputs);
    expect(output.lastCompletedOutput).to.equal(output.taskOutputs[1]);
    expect(output.getOutput(a)).to.equal(output.taskOutputs[0]);
    expect(output.taskOutputs).to.be.frozen;
    expect(output.error).to.equal(undefined);
  });

  it("contains the value of a handler in addition to its text, and reports a missing value", async () => {
    const valued = new Task({ description: "v", handler: () => ({ total: 7 }) });
    const silent = new Task({ description: "s" });
    const model = new ScriptedModel(["text"]);
    const output = await new Ensemble({ model, tasks: [valued, silent] }).run();
    expect(output.getOutput(valued)).to.deep.include({ raw: '{"total":7}', parsed: { total: 7 } });
    expect(output.getOutput(valued)?.getParsedOutput()).to.deep.equal({ total: 7 });
    expect(output.getOutput(silent)?.parsed).to.equal("text");
    expect(() => output.getOutput(silent)?.getParsedOutput()).to.throw(
      ValidationError,
      "No parsed output available. Ensure the task was built with outputType(...) and that parsing succeeded.",
    );
  });
});

describe("new Ensemble with an object of another kind", () => {
  const cases: readonly (readonly [object, string, string])[] = [
    [
      { memoryStore: "./memory.jsonl" },
      "Ensemble memoryStore must have a method store, got: ./memory.jsonl",
      "MemoryStore.file(path)",
    ],
    [
      { memoryStore: null },
      "Ensemble memoryStore must have a method store, got: null",
      "MemoryStore.inMemory()",
    ],
    [
      { memory: { longTerm: { store: () => undefined } } },
      "Ensemble memory.longTerm must have a method retrieve",
      "LongTermMemory.of(store)",
    ],
    [
      { memory: { entity: new Map() } },
      "Ensemble memory.entity must have a method put",
      "EntityMemory.inMemory()",
    ],
    [
      { memory: MemoryStore.inMemory() },
      "EnsembleMemory must have at least one memory type enabled",
      "the option memoryStore",
    ],
    [
      { reflectionStore: [] },
      "Ensemble reflectionStore must have a method store",
      "ReflectionStore.file(path)",
    ],
    [
      { reviewHandler: reviewInbox() },
      "Ensemble reviewHandler must be a function",
      "review({ store: reviewInbox() })",
    ],
  ];
  for (const [options, message, hint] of cases) {
    it(`names the value to pass: ${message}`, () => {
      expect(construct(options))
        .to.throw(ValidationError, message)
        .with.property("hint")
        .that.includes(hint);
    });
  }
});
