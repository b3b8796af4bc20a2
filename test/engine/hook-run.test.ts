import type { HookRun, MemoryEntry, Plugin, TaskCall } from "agentensemble";
import {
  Agent,
  BudgetExceededError,
  Ensemble,
  ExitEarlySignal,
  Loop,
  MemoryStore,
  Phase,
  Task,
  Tokens,
  ValidationError,
  createToken,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { pause } from "../support/time.js";
import { echo, failure, runToEnd, tapping, typesOf } from "../support/kernel-fixtures.js";

const usage = { inputTokens: 10, outputTokens: 1 };
const entry = (content: string): MemoryEntry => ({ content, storedAt: new Date(0) });
const stopped = (): BudgetExceededError => new BudgetExceededError("enough", "maxTokens");

/** A plugin that uses the run before each task. */
const beforeTasks = (
  use: (run: HookRun, call: TaskCall) => void | undefined | Promise<unknown>,
): Plugin =>
  tapping("user", ({ hooks }) =>
    hooks.beforeTask.tap({ name: "use" }, async (call) => void (await use(call.run, call))),
  );

/** The run of an ensemble that has ended. */
async function endedRun(): Promise<{ readonly run: HookRun; readonly call: TaskCall }> {
  let seen: TaskCall | undefined;
  await runToEnd({
    tasks: [echo("x")],
    plugins: [beforeTasks((_run, call) => void (seen = call))],
    memoryStore: MemoryStore.inMemory(),
  });
  if (seen === undefined) throw new Error("no task began");
  return { run: seen.run, call: seen };
}

describe("the run of a hook call", () => {
  it("is the same object in all hooks of a run, the scope and the context", async () => {
    const seen = new Set<unknown>();
    const tool = {
      name: "look",
      description: "d",
      execute: (_input: string, { scope }: { readonly scope: { readonly run: HookRun } }) =>
        void seen.add(scope.run),
    };
    await runToEnd({
      tasks: [
        new Task({ description: "t", handler: tool }),
        new Task({ description: "h", handler: ({ run }) => (seen.add(run), "x") }),
      ],
      plugins: [
        tapping("all", ({ hooks }) => {
          const look = ({ run }: { readonly run: HookRun }): void => void seen.add(run);
          hooks.beforeRun.tap(look);
          hooks.afterRun.tap(look);
          hooks.beforeTask.tap(look);
          hooks.afterTask.tap(look);
        }),
      ],
    });
    expect(seen.size).to.equal(1);
  });

  it("looks up values in the bindings of the run, the options of the ensemble and the container", async () => {
    const token = createToken<string>("test/looked-up");
    const many = createToken<string>("test/looked-up-all", "many");
    const nowhere = createToken<string>("test/nowhere");
    const store = MemoryStore.inMemory();
    const seen: unknown[] = [];
    const plugin = tapping("looker", ({ hooks }) =>
      hooks.beforeRun.tap(({ run }) => {
        seen.push(run.get(token), run.find(nowhere), run.find(Tokens.MemoryStore) === store);
        seen.push(
          run.all(many),
          run.options.memoryStore === store,
          run.resolveModel("house:x").modelId,
        );
        expect(() => run.get(nowhere)).to.throw(ValidationError, "test/nowhere");
      }),
    );
    await runToEnd(
      {
        tasks: [echo("x")],
        memoryStore: store,
        plugins: [
          {
            ...plugin,
            bind: (bind) => {
              bind.single(token).toConstantValue("container");
              bind.many(many).toConstantValue("container");
              bind.many(Tokens.ChatModelProvider).toConstantValue({
                name: "house",
                create: (modelId) => Object.assign(new ScriptedModel([]), { modelId }),
              });
            },
          },
        ],
      },
      {
        bindings: (bind) => {
          bind.single(token).toConstantValue("run");
          bind.many(many).toConstantValue("run");
        },
      },
    );
    expect(seen).to.deep.equal(["run", undefined, true, ["container", "run"], true, "x"]);
  });

  it("finds the model of a task", async () => {
    const [ofEnsemble, ofAgent] = [new ScriptedModel(["a"]), new ScriptedModel([])];
    const seen: unknown[] = [];
    await runToEnd({
      model: ofEnsemble,
      tasks: [Task.of("Say")],
      plugins: [
        beforeTasks((run, { task, agent }) => {
          seen.push(run.modelFor(task, agent) === ofEnsemble);
          const own = new Agent({ role: "r", goal: "g", model: ofAgent });
          seen.push(run.modelFor(task, own) === ofAgent);
        }),
      ],
    });
    expect(seen).to.deep.equal([true, true]);
  });

  it("emits events, and keeps warnings for the trace however they are emitted", async () => {
    const { events, output } = await runToEnd({
      tasks: [echo("x")],
      plugins: [
        beforeTasks((run) => {
          run.warn("first");
          run.emit({ type: "run_warning", message: "second" });
          expect(run.listens("token")).to.equal(true); // `on` of the ensemble receives all types
        }),
      ],
    });
    const warnings = events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []));
    expect(warnings).to.deep.equal(["first", "second"]);
    expect(output.trace.metadata).to.deep.include({ warnings: ["first", "second"] });
  });

  it("reports that no event is observed if there is no listener", async () => {
    const seen: unknown[] = [];
    const ensemble = new Ensemble({
      tasks: [echo("x")],
      plugins: [
        beforeTasks(
          (run) => void seen.push(run.listens("token"), run.listens("ensemble_completed")),
        ),
      ],
      onEnsembleCompleted: () => undefined,
    });
    await ensemble.run();
    await ensemble.dispose();
    expect(seen).to.deep.equal([false, true]);
  });

  it("stops the run: work in progress may finish, and the first reason is kept", async () => {
    const { output, error, events } = await runToEnd({
      tasks: [echo("first"), echo("second")],
      plugins: [
        beforeTasks((run) => {
          run.stop(stopped());
          run.stop(new ValidationError("later"));
        }),
      ],
    });
    expect(error).to.be.instanceOf(BudgetExceededError);
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["first"]);
    expect(typesOf(events).filter((type) => type === "task_started")).to.have.length(1);
    const early = await runToEnd({
      tasks: [echo("first"), echo("second")],
      plugins: [beforeTasks((run) => run.stop(new ExitEarlySignal("done")))],
    });
    expect(early.error).to.equal(undefined);
    expect(early.output.exitReason).to.equal("USER_EXIT_EARLY");
  });

  it("can be stopped and cancelled only with an AgentEnsembleError", async () => {
    for (const end of ["stop", "cancel"] as const)
      for (const reason of ["enough", undefined, new Error("enough")]) {
        const { error } = await runToEnd({
          tasks: [echo("a")],
          plugins: [beforeTasks((run) => run[end](reason as never))],
        });
        expect(error?.message, end).to.include("A run ends with an AgentEnsembleError only");
      }
  });

  it("returns the outputs so far", async () => {
    const seen: string[][] = [];
    await runToEnd({
      tasks: [echo("a"), echo("b"), echo("c")],
      plugins: [beforeTasks((run) => void seen.push(run.outputs().map(({ raw }) => raw)))],
    });
    expect(seen).to.deep.equal([[], ["a"], ["a", "b"]]);
  });

  it("lists outputs in the order of the plan", async () => {
    const slow = new Task({ description: "slow", handler: async () => (await pause(5), "slow") });
    const quick = echo("quick");
    let seen: readonly string[] = [];
    await runToEnd({
      tasks: [slow, quick, echo("last", [slow, quick])],
      plugins: [beforeTasks((run) => void (seen = run.outputs().map(({ raw }) => raw)))],
    });
    expect(seen).to.deep.equal(["slow", "quick"]);
  });

  it("adds to the metrics of started tasks only", async () => {
    const { output } = await runToEnd({
      tasks: [echo("x")],
      plugins: [
        beforeTasks((run, { taskId }) => {
          run.recordMetrics(taskId, { promptBuildMs: 5, memoryOperations: { scopeReads: 2 } });
          run.recordMetrics("nobody", { promptBuildMs: 100 });
        }),
      ],
    });
    expect(output.metrics).to.deep.include({ promptBuildMs: 5 });
    expect(output.metrics.memoryOperations.scopeReads).to.equal(2);
  });

  it("keeps and builds read texts only if the capture mode requires them", async () => {
    const built: string[] = [];
    const run = (captureMode: string): Promise<unknown> =>
      runToEnd(
        {
          tasks: [echo("x")],
          plugins: [
            beforeTasks((r, { taskId }) =>
              r.recordMetrics(taskId, {
                memory: () => {
                  built.push(captureMode);
                  return { operation: "read", kind: "scope", scope: "s", entries: [] };
                },
              }),
            ),
          ],
        },
        { captureMode },
      );
    await run("OFF");
    await run("FULL");
    expect(built).to.deep.equal(["FULL"]);
  });

  it("redacts texts and values with the secrets of the run", async () => {
    const seen: unknown[] = [];
    const plugin = beforeTasks((run) => {
      seen.push(run.redact("my sesame and sk-proj-0123456789abcdefghij"));
      seen.push(run.redactValue({ note: "sesame", password: "x" }));
    });
    await runToEnd({
      tasks: [echo("x")],
      plugins: [
        {
          ...plugin,
          bind: (bind) =>
            void bind
              .many(Tokens.SecretFilter)
              .toConstantValue((text) => text.replaceAll("sesame", "[mine]")),
        },
      ],
    });
    expect(seen[0]).to.equal("my [mine] and [redacted]");
    expect(seen[1]).to.deep.include({ note: "[mine]" });
    expect(JSON.stringify(seen[1])).to.not.include('"x"');
  });

  it("redacts the secrets of its models, also after its end", async () => {
    const model = new ScriptedModel(["done"]);
    const knowing = Object.assign(model, {
      redact: (text: string) => text.replaceAll("sesame", "[known]"),
    });
    let run: HookRun | undefined;
    await runToEnd({
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
      model: knowing,
      plugins: [beforeTasks((own) => void (run = own))],
    });
    expect(run?.redact("open sesame")).to.equal("open [known]");
    expect(run?.redactValue({ note: "sesame" })).to.deep.equal({ note: "[known]" });
  });

  it("redacts warnings that no listener receives", async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", note);
    const plugins = [beforeTasks((run) => void run.warn("saw sk-proj-0123456789abcdefghij"))];
    await new Ensemble({ tasks: [echo("x")], plugins }).run();
    await pause(5);
    process.off("warning", note);
    expect(warnings).to.deep.equal(["saw [redacted]"]);
  });

  it("formats structured data as the run's prompts do", async () => {
    const rows = Array.from({ length: 9 }, (_, n) => ({ number: n }));
    const text = JSON.stringify(rows);
    const seen: string[] = [];
    const plugins = [beforeTasks((run) => void seen.push(run.format(rows, text)))];
    await runToEnd({ tasks: [echo("x")], plugins });
    await runToEnd({ tasks: [echo("x")], plugins, contextFormat: "TOON" });
    expect(seen[0]).to.equal(text);
    expect(seen[1]).to.match(/^\[9\]\{number\}:/);
  });

  it("names its parent and when it started", async () => {
    const seen: HookRun[] = [];
    const plugins = [
      tapping("seer", ({ hooks }) => hooks.beforeRun.tap(({ run }) => void seen.push(run))),
    ];
    const inner = new Ensemble({ tasks: [echo("inner")], plugins });
    const { output } = await runToEnd({
      plugins,
      tasks: [
        new Task({
          description: "outer",
          handler: async ({ run }) => (await inner.run({}, { parent: run })).raw,
        }),
      ],
    });
    await inner.dispose();
    expect(seen[0]?.parent).to.equal(undefined);
    expect(seen[1]?.parent).to.equal(seen[0]);
    expect(seen[0]?.startedAt).to.deep.equal(output.trace.startedAt);
  });

  it("calls a model on behalf of a task: counted, recorded and hooked as its own calls", async () => {
    const model = new ScriptedModel([
      { text: "helped", usage },
      { text: "done", usage },
    ]);
    const seen: unknown[] = [];
    const calls: string[] = [];
    const { output } = await runToEnd({
      model,
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
      plugins: [
        tapping("helper", ({ hooks }) => {
          hooks.beforeTask.tap({ name: "ask" }, async (call) => {
            const request = { messages: [{ role: "user" as const, content: "Help" }] };
            const { message } = await call.run.chat(call, request, { purpose: "reflection" });
            seen.push(message.content);
          });
          hooks.beforeLlmCall.tap(({ purpose, iteration }) => {
            calls.push(`${purpose} ${iteration}`);
          });
        }),
      ],
    });
    expect(seen).to.deep.equal(["helped"]);
    expect(calls).to.deep.equal(["reflection 0", "task 0"]);
    expect(output.metrics).to.include({ totalTokens: 22, llmCallCount: 2 });
    expect(output.metrics.ledger[0]).to.include({ purpose: "reflection", taskId: "task-1" });
  });

  it("numbers a model call on behalf of a task after the calls of the task", async () => {
    const calls: string[] = [];
    await runToEnd({
      model: new ScriptedModel(["done", "judged"]),
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
      plugins: [
        tapping("judge", ({ hooks }) => {
          hooks.afterTask.tap({ name: "ask" }, async (call) => {
            const request = { messages: [{ role: "user" as const, content: "Judge" }] };
            await call.run.chat(call, request, { purpose: "reflection" });
          });
          hooks.beforeLlmCall.tap(({ purpose, iteration }) => {
            calls.push(`${purpose} ${iteration}`);
          });
        }),
      ],
    });
    expect(calls).to.deep.equal(["task 0", "reflection 1"]);
  });

  it("counts a model call on behalf of a task at the end of the run", async () => {
    let of: TaskCall | undefined;
    const { output } = await runToEnd({
      model: new ScriptedModel([{ text: "summary", usage }]),
      tasks: [echo("x")],
      plugins: [
        beforeTasks((_run, call) => void (of = call)),
        tapping("summary", ({ hooks }) => {
          hooks.afterRun.tap({ name: "ask" }, async ({ run }) => {
            const request = { messages: [{ role: "user" as const, content: "Sum up" }] };
            if (of !== undefined) await run.chat(of, request, { purpose: "reflection" });
          });
        }),
      ],
    });
    expect(output.metrics).to.include({ totalTokens: 11, llmCallCount: 1 });
    expect(output.metrics.ledger).to.have.length(1);
  });

  it("writes to memory on behalf of a task: to the run's store or another, through the hooks", async () => {
    const [own, other] = [MemoryStore.inMemory(), MemoryStore.inMemory()];
    const written: string[] = [];
    const { output, events } = await runToEnd({
      tasks: [echo("x")],
      memoryStore: own,
      plugins: [
        tapping("writer", ({ hooks }) => {
          hooks.beforeTask.tap({ name: "write" }, async (call) => {
            await call.run.writeMemory(call, "notes", entry("own"));
            await call.run.writeMemory(call, "notes", entry("other"), { store: other });
            const learnt = { store: other, kind: "longTerm" } as const;
            await call.run.writeMemory(call, "lessons", entry("lesson"), learnt);
          });
          hooks.beforeMemoryWrite.tap(({ scope, entry: { content, metadata } }) => {
            written.push(`${scope} ${content} ${metadata?.["taskId"]}`);
          });
        }),
      ],
    });
    expect(written).to.deep.equal([
      "notes own task-1",
      "notes other task-1",
      "lessons lesson task-1",
    ]);
    expect((await own.retrieve("notes", "", 5)).map(({ content }) => content)).to.deep.equal([
      "own",
    ]);
    expect(await other.retrieve("lessons", "", 5)).to.have.length(1);
    expect(output.metrics.memoryOperations).to.include({ scopeWrites: 2, longTermStores: 1 });
    expect(typesOf(events).filter((type) => type === "memory_written")).to.have.length(3);
  });

  it("rejects calls on behalf of a task that has not begun", async () => {
    const errors: unknown[] = [];
    await runToEnd({
      model: new ScriptedModel([]),
      tasks: [echo("x")],
      plugins: [
        beforeTasks(async (run, call) => {
          const other = { ...call, taskId: "later" };
          errors.push(await failure(run.chat(other, { messages: [] }, { purpose: "task" })));
          errors.push(await failure(run.writeMemory(other, "s", entry("e"))));
        }),
      ],
    });
    for (const error of errors)
      expect(error)
        .to.be.instanceOf(ValidationError)
        .and.have.property("message", "Task 'later' has not begun");
  });
});

describe("the run of a hook call after its end", () => {
  it("can still be read", async () => {
    const { run } = await endedRun();
    expect(run.get(Tokens.Clock)).to.have.property("now");
    expect(run.find(Tokens.MemoryStore)).to.not.equal(undefined);
    expect(run.all(Tokens.TaskExecutor)).to.not.deep.equal([]);
    expect(run.redact("sk-proj-0123456789abcdefghij")).to.equal("[redacted]");
    expect(run.format({ a: 1 }, "text")).to.equal("text");
    expect(run.outputs()).to.deep.equal([]);
    expect(run.listens("token")).to.equal(false);
  });

  it("does nothing more, and rejects calls that would start work", async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", note);
    const { run, call } = await endedRun();
    run.emit({ type: "run_warning", message: "late" });
    run.warn("late");
    run.stop(stopped());
    run.recordMetrics("task-1", { promptBuildMs: 1 });
    run.setTraceId("late");
    for (const work of [
      run.chat(call, { messages: [] }, { purpose: "task" }),
      run.writeMemory(call, "s", entry("e")),
    ])
      expect(await failure(work)).to.have.property("message", "The run has ended");
    await pause(5);
    process.off("warning", note);
    expect(warnings).to.deep.equal([]);
  });
});

describe("the call of a task", () => {
  it("contains the task as written, and its group", async () => {
    const plain = new Task({ name: "plain", description: "{n}", handler: () => "x" });
    const inLoop = new Task({ name: "looped", description: "b", handler: () => "x" });
    const inPhase = new Task({ name: "phased", description: "c", handler: () => "x" });
    const seen = new Map<string, TaskCall>();
    const plugins = [beforeTasks((_run, call) => void seen.set(call.taskId, call))];
    await runToEnd({ tasks: [plain], plugins }, {}, { n: "one" });
    expect(seen.get("plain")?.source).to.equal(plain);
    expect(seen.get("plain")?.task.description).to.equal("one");
    expect(seen.get("plain")?.group).to.equal(undefined);
    const loop = new Loop({ name: "again", tasks: [inLoop], maxIterations: 1 });
    const phase = Phase.of("part", inPhase);
    await runToEnd({ loops: [loop], plugins });
    await runToEnd({ phases: [phase], plugins });
    expect([...seen.values()].map(({ group }) => group)).to.deep.equal([undefined, loop, phase]);
  });
});
