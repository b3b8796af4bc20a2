import type { EnsembleOutput, Plugin, RunOptions } from "agentensemble";
import {
  Agent,
  Ensemble,
  ExitEarlySignal,
  RunCancelledError,
  RunTimeoutError,
  Task,
  TaskTimeoutError,
  Tokens,
  definePlugin,
  replace,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import {
  echo,
  failing,
  failure,
  runToEnd,
  scoped,
  tapping,
  typesOf,
  untilAborted,
  waiting,
} from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

const NEVER = new Promise<never>(() => undefined);

/** Records the end of the run in afterRun. */
function noting(seen: string[]): Plugin {
  return tapping("noting", ({ hooks }) =>
    hooks.afterRun.tap((call) => void seen.push(call.outcome)),
  );
}

const raws = (output: EnsembleOutput | undefined): readonly string[] =>
  output?.taskOutputs.map(({ raw }) => raw) ?? [];

describe("a cancelled run", () => {
  it("starts no task if it was cancelled before its start", async () => {
    const seen: string[] = [];
    const { error, output, events } = await runToEnd(
      { tasks: [echo("a")], plugins: [noting(seen)] },
      { signal: AbortSignal.abort() },
    );
    expect(error).to.be.instanceOf(RunCancelledError);
    expect(output).to.include({ exitReason: "CANCELLED", isComplete: false });
    expect(raws(output)).to.deep.equal([]);
    expect(typesOf(events)).to.deep.equal([
      "ensemble_started",
      "run_planned",
      "ensemble_completed",
    ]);
    expect(seen).to.deep.equal(["aborted"]);
  });

  it("keeps the finished work and starts no further task", async () => {
    const seen: string[] = [];
    const controller = new AbortController();
    const tasks = [echo("a"), waiting("b", () => controller.abort()), echo("c")];
    const { error, output, events } = await runToEnd(
      { tasks, plugins: [noting(seen)] },
      { signal: controller.signal },
    );
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(error?.output).to.equal(output);
    expect(output.exitReason).to.equal("CANCELLED");
    expect(raws(output)).to.deep.equal(["a"]);
    expect(output.trace.exitReason).to.equal("CANCELLED");
    expect(
      events.filter((event) => event.type === "task_started").map(({ taskId }) => taskId),
    ).to.deep.equal(["task-1", "task-2"]);
    expect(events.at(-1)).to.include({ exitReason: "CANCELLED" });
    expect(seen).to.deep.equal(["aborted"]);
  });

  it("reports the reason of the signal", async () => {
    const reason = new Error("the user has gone");
    const { error } = await runToEnd({ tasks: [echo("a")] }, { signal: AbortSignal.abort(reason) });
    expect(error?.message).to.include("the user has gone");
    expect(error?.cause).to.equal(reason);
    const own = new RunCancelledError("mine");
    expect(
      (await runToEnd({ tasks: [echo("a")] }, { signal: AbortSignal.abort(own) })).error,
    ).to.equal(own);
  });

  it("is not affected by a cancellation after its end", async () => {
    const controller = new AbortController();
    const ensemble = new Ensemble({ tasks: [echo("a")] });
    const handle = ensemble.stream({}, { signal: controller.signal });
    const output = await handle.output;
    controller.abort();
    handle.cancel();
    await pause();
    expect(output).to.include({ exitReason: "COMPLETED", raw: "a" });
    await ensemble.dispose();
  });

  it("may be cancelled by its handle", async () => {
    const ensemble = new Ensemble({ tasks: [waiting("a", () => handle.cancel("lunch"))] });
    const handle = ensemble.stream();
    const error = await failure(handle.output);
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(error.message).to.include("lunch");
    const early = ensemble.stream();
    early.cancel();
    expect(await failure(early.output)).to.have.property("code", "AE_RUN_CANCELLED");
    await ensemble.dispose();
  });

  it("is cancelled even if its workflow ignores the rejection and returns a result", async () => {
    const controller = new AbortController();
    const forgiving = definePlugin({
      name: "forgiving",
      bind: (bind) =>
        void bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "FORGIVING",
          async execute(plan, run) {
            const settled = await Promise.allSettled(plan.tasks.map(({ id }) => run.runTask(id)));
            return {
              raw: "all is well",
              taskOutputs: settled.flatMap((one) =>
                one.status === "fulfilled" ? [one.value] : [],
              ),
            };
          },
        }),
    });
    const { error, output } = await runToEnd(
      {
        tasks: [echo("a"), waiting("b", () => controller.abort())],
        workflow: "FORGIVING",
        plugins: [forgiving],
      },
      { signal: controller.signal },
    );
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(output.exitReason).to.equal("CANCELLED");
    expect(raws(output)).to.deep.equal(["a"]);
  });

  it("starts no step after a hook that was waiting when the run was cancelled", async () => {
    const done: string[] = [];
    const controller = new AbortController();
    const slowly = async (): Promise<void> => {
      controller.abort();
      await pause(5);
    };
    const work = tool({
      name: "work",
      description: "Works",
      execute: () => void done.push("tool"),
    });
    for (const step of ["beforeTask", "beforeToolCall"] as const) {
      const plugin = tapping("slow", ({ hooks }) =>
        step === "beforeTask" ? hooks.beforeTask.tap(slowly) : hooks.beforeToolCall.tap(slowly),
      );
      const { error } = await runToEnd(
        { tasks: [new Task({ description: "x", handler: work })], plugins: [plugin] },
        { signal: controller.signal },
      );
      expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    }
    const model = new ScriptedModel(["never"]);
    const plugin = tapping("slow", ({ hooks }) => hooks.beforeLlmCall.tap(slowly));
    await runToEnd(
      {
        model,
        tasks: [new Task({ description: "x", agent: new Agent({ role: "r", goal: "g" }) })],
        plugins: [plugin],
      },
      { signal: controller.signal },
    );
    expect([...done, ...model.requests]).to.deep.equal([]);
  });
});

describe("a run out of time", () => {
  it("rejects with RunTimeoutError and keeps the finished work", async () => {
    const seen: string[] = [];
    const { error, output } = await runToEnd(
      { tasks: [echo("a"), waiting("b")], plugins: [noting(seen)] },
      { timeoutMs: 20 },
    );
    expect(error)
      .to.be.instanceOf(RunTimeoutError)
      .and.include({ code: "AE_RUN_TIMEOUT", timeoutMs: 20 });
    expect(output.exitReason).to.equal("TIMEOUT");
    expect(raws(output)).to.deep.equal(["a"]);
    expect(seen).to.deep.equal(["aborted"]);
  });

  it("abandons a model that ignores its signal after cancelGraceMs", async () => {
    const model = new ScriptedModel([]);
    model.chat = () => NEVER;
    const { error, output } = await runToEnd(
      {
        model,
        tasks: [new Task({ description: "x", agent: new Agent({ role: "r", goal: "g" }) })],
      },
      { timeoutMs: 5, cancelGraceMs: 5 },
    );
    expect(error).to.have.property("code", "AE_RUN_TIMEOUT");
    expect(output.metrics.ledger).to.have.length(1);
    expect(output.metrics.ledger[0]).to.include({ outcome: "aborted", inputTokens: -1 });
    expect(output.metrics.unknownUsageCalls).to.equal(1);
  });

  it("waits cancelGraceMs for work that ends late, and keeps its result", async () => {
    const late = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => setTimeout(() => resolve("late"), 20), {
          once: true,
        }),
      );
    for (const [cancelGraceMs, kept] of [
      [0, []],
      [5_000, ["late"]],
    ] as const) {
      const { output } = await runToEnd(
        { tasks: [new Task({ description: "x", handler: ({ signal }) => late(signal) })] },
        { timeoutMs: 5, cancelGraceMs },
      );
      expect([output.exitReason, raws(output)]).to.deep.equal(["TIMEOUT", kept]);
    }
  });

  it("abandons a handler, a stream, a tap and a workflow that ignore their signals", async () => {
    const stuckStream = new ScriptedModel([]);
    stuckStream.stream = async function* () {
      yield { type: "text" as const, text: "Once" };
      await NEVER;
    };
    const speaker = new Task({ description: "x", agent: new Agent({ role: "r", goal: "g" }) });
    const stuckWorkflow = definePlugin({
      name: "stuck",
      bind: (bind) =>
        void bind
          .many(Tokens.WorkflowExecutor)
          .toConstantValue({ name: "STUCK", execute: () => NEVER }),
    });
    const ways = [
      { tasks: [new Task({ description: "x", handler: (): Promise<string> => NEVER })] },
      { tasks: [speaker], model: stuckStream, streaming: true },
      {
        tasks: [echo("x")],
        plugins: [tapping("stuck", ({ hooks }) => hooks.beforeTask.tap(() => NEVER))],
      },
      {
        tasks: [echo("x")],
        plugins: [tapping("stuck", ({ hooks }) => hooks.beforeRun.tap(() => NEVER))],
      },
      { tasks: [echo("x")], plugins: [stuckWorkflow], workflow: "STUCK" },
    ];
    for (const options of ways) {
      const { error, output } = await runToEnd(options, { timeoutMs: 5, cancelGraceMs: 5 });
      expect(error).to.have.property("code", "AE_RUN_TIMEOUT");
      expect(output.exitReason).to.equal("TIMEOUT");
    }
  });
});

describe("a task out of time", () => {
  const slow = (handler: (signal: AbortSignal) => Promise<string>): Task =>
    new Task({ description: "slow", timeoutMs: 5, handler: (ctx) => handler(ctx.signal) });

  it("fails with TaskTimeoutError, also if it ignores its signal", async () => {
    for (const task of [slow(untilAborted), slow(() => NEVER)]) {
      const { error, output } = await runToEnd(
        { tasks: [echo("a"), task, echo("c")] },
        { cancelGraceMs: 5 },
      );
      expect(error).to.have.property("code", "AE_TASK_EXECUTION");
      expect(error?.cause).to.be.instanceOf(TaskTimeoutError).and.include({ timeoutMs: 5 });
      expect(output.exitReason).to.equal("ERROR");
      expect(raws(output)).to.deep.equal(["a"]);
    }
  });

  it("ends the tasks that it started", async () => {
    let child: AbortSignal | undefined;
    const parent = scoped("parent", async (scope) => {
      const id = scope.define(waiting("child", ({ signal }) => void (child = signal)));
      await scope.runTask(id);
    });
    const { events } = await runToEnd({ tasks: [parent.with({ timeoutMs: 5 })] });
    expect(child?.aborted).to.equal(true);
    expect(
      events.flatMap((event) => (event.type === "task_failed" ? [event.taskDescription] : [])),
    ).to.deep.equal(["child", "parent"]);
  });

  it("does not affect the other tasks", async () => {
    const { output, error } = await runToEnd({
      tasks: [slow(untilAborted), echo("b")],
      workflow: "PARALLEL",
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
    });
    expect(error).to.have.property("code", "AE_PARALLEL_EXECUTION");
    expect(raws(output)).to.deep.equal(["b"]);
  });

  it("covers its retries and its hooks", async () => {
    const task = new Task({
      description: "x",
      timeoutMs: 20,
      handler: () => "x",
      guardrailRetries: 1_000_000,
      outputGuardrails: [async () => (await pause(1), { ok: false, reason: "again" })],
    });
    const { error } = await runToEnd({ tasks: [task] });
    expect(error?.cause).to.be.instanceOf(TaskTimeoutError);
  });
});

describe("a tool out of time", () => {
  const outcomes = async (
    execute: (signal: AbortSignal) => Promise<string>,
  ): Promise<readonly unknown[]> => {
    const slow = tool({
      name: "slow",
      description: "Is slow",
      timeoutMs: 5,
      execute: (_input, { signal }) => execute(signal),
    });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "slow", arguments: { input: "x" } }] },
      "done",
    ]);
    const { output } = await runToEnd({
      model,
      tasks: [
        new Task({ description: "x", agent: new Agent({ role: "r", goal: "g", tools: [slow] }) }),
      ],
    });
    return [
      output.raw,
      output.trace.taskTraces[0]?.llmInteractions[0]?.toolCalls[0]?.outcome,
      model.requests[1]?.messages.at(-1)?.content,
    ];
  };

  it("is reported to the model, and the task continues", async () => {
    for (const execute of [
      untilAborted,
      (): Promise<string> => NEVER,
      async (signal: AbortSignal): Promise<string> =>
        untilAborted(signal).catch(() => {
          throw new Error("my own words");
        }),
    ]) {
      const [raw, outcome, told] = await outcomes(execute);
      expect([raw, outcome]).to.deep.equal(["done", "TIMED_OUT"]);
      expect(told).to.include("Tool error: ").and.include("5 ms");
    }
  });
});

describe("the end of a run", () => {
  it("follows the end of its trace exporters", async () => {
    const order: string[] = [];
    await runToEnd({
      tasks: [echo("a")],
      traceExporter: async () => {
        await pause(5);
        order.push("exported");
      },
      onEnsembleCompleted: () => void order.push("completed"),
    });
    order.push("resolved");
    expect(order).to.deep.equal(["exported", "completed", "resolved"]);
  });
});

describe("throwOnError: false", () => {
  it("resolves with the output and the error of a run that failed, was cancelled or ran out of time", async () => {
    const controller = new AbortController();
    const ways: readonly (readonly [Task, RunOptions, string, string])[] = [
      [failing("x"), {}, "ERROR", "AE_TASK_EXECUTION"],
      [
        waiting("x", () => controller.abort()),
        { signal: controller.signal },
        "CANCELLED",
        "AE_RUN_CANCELLED",
      ],
      [waiting("x"), { timeoutMs: 5 }, "TIMEOUT", "AE_RUN_TIMEOUT"],
    ];
    for (const [task, options, exitReason, code] of ways) {
      const ensemble = new Ensemble({ tasks: [echo("a"), task] });
      const output = await ensemble.run({}, { ...options, throwOnError: false });
      expect(output).to.include({ exitReason, isComplete: false, raw: "a" });
      expect(output.error).to.have.property("code", code);
      expect(output.lastCompletedOutput?.raw).to.equal("a");
      await ensemble.dispose();
    }
  });

  it("still rejects if the plan is invalid", async () => {
    expect(
      await failure(new Ensemble({ tasks: [] }).run({}, { throwOnError: false })),
    ).to.have.property("code", "AE_VALIDATION");
  });
});

describe("an early exit", () => {
  const exit = (timedOut = false): ExitEarlySignal =>
    new ExitEarlySignal("That will do", { timedOut });
  const expectExit = async (
    run: ReturnType<typeof runToEnd>,
    finished: readonly string[],
    exitReason = "USER_EXIT_EARLY",
  ): Promise<void> => {
    const { error, output, events } = await run;
    expect(error).to.equal(undefined);
    expect(output).to.include({ exitReason, isComplete: false });
    expect(raws(output)).to.deep.equal(finished);
    expect(events.at(-1)).to.include({ type: "ensemble_completed", exitReason });
    expect(typesOf(events)).to.not.include("run_failed");
  };
  const onSecond = (lane: "before" | "review", timedOut = false): Plugin =>
    tapping("review", ({ hooks }) => {
      const look = ({ taskId }: { readonly taskId: string }): void => {
        if (taskId === "task-2") throw exit(timedOut);
      };
      if (lane === "before") hooks.beforeTask.tap(look);
      else hooks.afterTask.tap({ name: "review", lane: "review" }, look);
    });
  const three = (): Task[] => [echo("a"), echo("b"), echo("c")];

  for (const workflow of ["SEQUENTIAL", "PARALLEL"]) {
    const chain = (): Task[] => {
      const [a, b] = [echo("a"), echo("b")];
      return workflow === "SEQUENTIAL"
        ? three()
        : [
            a,
            new Task({ description: "b", context: [a], handler: () => "b" }),
            echo("c", [a, b]),
          ].slice(0, 2);
    };

    it(`by a tap before a task resolves with the finished work (${workflow})`, () =>
      expectExit(runToEnd({ tasks: chain(), workflow, plugins: [onSecond("before")] }), ["a"]));

    it(`by a review after a task also keeps that task (${workflow})`, () =>
      expectExit(runToEnd({ tasks: chain(), workflow, plugins: [onSecond("review")] }), [
        "a",
        "b",
      ]));
  }

  it("by a review that timed out has the reason TIMEOUT", () =>
    expectExit(
      runToEnd({ tasks: three(), plugins: [onSecond("review", true)] }),
      ["a", "b"],
      "TIMEOUT",
    ));

  it("by a handler, a tool or a tool of a handler resolves with the finished work", async () => {
    const asking = tool({
      name: "ask",
      description: "Asks a person",
      execute: () => {
        throw exit();
      },
    });
    const model = new ScriptedModel([{ toolCalls: [{ name: "ask", arguments: { input: "?" } }] }]);
    await expectExit(
      runToEnd({
        tasks: [
          echo("a"),
          new Task({
            description: "b",
            handler: (): string => {
              throw exit();
            },
          }),
          echo("c"),
        ],
      }),
      ["a"],
    );
    await expectExit(
      runToEnd({ tasks: [echo("a"), new Task({ description: "b", handler: asking }), echo("c")] }),
      ["a"],
    );
    await expectExit(
      runToEnd({
        tasks: [
          echo("a"),
          new Task({
            description: "b",
            agent: new Agent({ role: "r", goal: "g", tools: [asking] }),
          }),
          echo("c"),
        ],
        model,
      }),
      ["a"],
    );
  });

  it("passes through a delegation", async () => {
    const worker = new Agent({ role: "Worker", goal: "Work" });
    const plugin = tapping("review", ({ hooks }) =>
      hooks.beforeTask.tap((call) => {
        if (call.agent === worker) throw exit();
      }),
    );
    const request = {
      taskId: "d",
      agentRole: "worker",
      taskDescription: "Help",
      scope: {},
      priority: "NORMAL" as const,
      maxOutputRetries: 0,
      metadata: {},
    };
    const boss = scoped("boss", async (scope) => (await scope.delegate(request)).status);
    await expectExit(
      runToEnd({
        tasks: [echo("a"), boss, echo("c")],
        agents: [worker],
        model: new ScriptedModel(["never"]),
        plugins: [plugin],
      }),
      ["a"],
    );
  });

  it("by beforeRun starts no task", () =>
    expectExit(
      runToEnd({
        tasks: three(),
        plugins: [
          tapping("no", ({ hooks }) =>
            hooks.beforeRun.tap((): void => {
              throw exit();
            }),
          ),
        ],
      }),
      [],
    ));

  it("is not skipped by a tap that skips its errors", () =>
    expectExit(
      runToEnd({
        tasks: three(),
        plugins: [
          tapping("skip", ({ hooks }) =>
            hooks.beforeTask.tap({ name: "s", onError: "skip" }, (): void => {
              throw exit();
            }),
          ),
        ],
      }),
      [],
    ));

  it("keeps the reviewed output as changed by the taps, judged and committed", async () => {
    const judged: string[] = [];
    const committed: string[] = [];
    const plugin = tapping("review", ({ hooks }) => {
      hooks.afterTask.tap((call) =>
        call.outcome === "ok" ? replace({ raw: `${call.output.raw}!` }) : undefined,
      );
      hooks.afterTask.tap(
        { name: "judge", lane: "policy" },
        (call) => void judged.push(call.output?.raw ?? ""),
      );
      hooks.afterTask.tap({ name: "edit", lane: "review", order: "pre" }, () =>
        replace({ raw: "edited" }),
      );
      hooks.afterTask.tap({ name: "end", lane: "review" }, () => {
        throw exit();
      });
      hooks.afterTask.tap(
        { name: "store", lane: "commit" },
        (call) => void committed.push(call.output?.raw ?? ""),
      );
    });
    await expectExit(runToEnd({ tasks: three(), plugins: [plugin] }), ["edited"]);
    expect(judged).to.deep.equal(["a!", "edited"]);
    expect(committed).to.deep.equal(["edited"]);
  });

  it("by a policy after a task discards unjudged outputs", async () => {
    const plugin = tapping("judge", ({ hooks }) =>
      hooks.afterTask.tap({ name: "judge", lane: "policy" }, (): void => {
        throw exit();
      }),
    );
    await expectExit(runToEnd({ tasks: three(), plugins: [plugin] }), []);
  });

  it("waits for tasks in progress, in PARALLEL", async () => {
    const slow = new Task({ description: "slow", handler: async () => (await pause(10), "slow") });
    const ending = new Task({
      description: "end",
      handler: (): string => {
        throw exit();
      },
    });
    await expectExit(
      runToEnd({ tasks: [slow, ending, echo("after", [slow])], workflow: "PARALLEL" }),
      ["slow"],
    );
  });
});

describe("a failed task", () => {
  it("explains the cause and a remedy in its hint, at any depth of causes", async () => {
    const inner = new TaskTimeoutError("The inner step", 5);
    const outer = new Error("outer", {
      cause: Object.assign(inner, { hint: "Give it more time." }),
    });
    const task = new Task({
      description: "Fail",
      handler: (): string => {
        throw outer;
      },
    });
    const { error } = await runToEnd({ tasks: [task] });
    expect(error).to.include({
      message: "Task failed: Fail: Deterministic task handler threw an exception: outer",
      hint: "Deterministic task handler threw an exception: outer. Give it more time.",
    });
  });
});
