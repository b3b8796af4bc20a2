import type { EnsembleEvent, EnsembleListener, TaskOutput } from "agentensemble";
import {
  Agent,
  Ensemble,
  ExitEarlySignal,
  Kernel,
  Task,
  Tokens,
  definePlugin,
  reject,
} from "agentensemble";
import { ScriptedModel, recordingListener } from "agentensemble/testing";
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
import { endLimitsAtOnce, pause } from "../support/time.js";
import { warningsOf } from "../support/warnings.js";

const ENDS: readonly string[] = ["task_completed", "task_failed"];

/** The rules for the events of any run. */
function expectOrderly(events: readonly EnsembleEvent[]): void {
  expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index));
  expect(new Set(events.map(({ runId }) => runId)).size).to.equal(1);
  for (const event of events) expect(event).to.include({ v: 1 });
  expect(events[0]?.type).to.equal("ensemble_started");
  expect(events.at(-1)?.type).to.equal("ensemble_completed");
  expect(typesOf(events).filter((type) => type === "ensemble_completed")).to.have.length(1);
  const open = new Map<string, string | undefined>();
  for (const event of events) {
    if (event.type === "task_started") {
      expect(open.has(event.taskId), `${event.taskId} was started twice`).to.equal(false);
      open.set(event.taskId, event.parentTaskId);
      if (event.parentTaskId !== undefined) expect([...open.keys()]).to.include(event.parentTaskId);
    } else if (event.type === "task_completed" || event.type === "task_failed") {
      expect(open.has(event.taskId), `${event.taskId} ended without a start`).to.equal(true);
      expect([...open.values()], "a child ended after its parent").to.not.include(event.taskId);
      open.delete(event.taskId);
    }
  }
  expect([...open.keys()], "tasks without an end").to.deep.equal([]);
}

describe("the events of a run", () => {
  it("are numbered without gaps, from ensemble_started to ensemble_completed", async () => {
    const a = echo("a");
    const { events } = await runToEnd({ tasks: [a, echo("b"), echo("c", [a])] });
    expectOrderly(events);
    expect(typesOf(events).filter((type) => ENDS.includes(type))).to.have.length(3);
  });

  it("contain exactly one end for each task, with any outcome", async () => {
    const controller = new AbortController();
    const ways = [
      [failing("fails")],
      [
        new Task({
          description: "refused",
          handler: () => "x",
          inputGuardrails: [() => ({ ok: false, reason: "no" })],
        }),
      ],
      [
        new Task({
          description: "refused later",
          handler: () => "x",
          outputGuardrails: [() => ({ ok: false, reason: "no" })],
          guardrailRetries: 2,
        }),
      ],
      [
        new Task({
          description: "too late",
          timeoutMs: 5,
          handler: (ctx): Promise<string> => untilAborted(ctx.signal),
        }),
      ],
      [
        new Task({
          description: "enough",
          handler: (): string => {
            throw new ExitEarlySignal("enough");
          },
        }),
        echo("never"),
      ],
      [waiting("cancelled", () => controller.abort())],
    ];
    for (const tasks of ways) {
      const { events } = await runToEnd({ tasks }, { signal: controller.signal });
      expectOrderly(events);
      expect(typesOf(events).filter((type) => type === "task_started")).to.have.length(1);
      expect(typesOf(events).filter((type) => ENDS.includes(type))).to.deep.equal(["task_failed"]);
    }
  });

  it("place task_started before beforeTask, and the task's end after the last tap of afterTask", async () => {
    const order: string[] = [];
    const plugin = tapping("order", ({ hooks, events }) => {
      events.on(({ type }) => void order.push(type));
      hooks.beforeTask.tap(() => void order.push("beforeTask"));
      hooks.afterTask.tap(
        { name: "late", lane: "commit", order: "post" },
        async () => (await pause(1), void order.push("afterTask")),
      );
    });
    await runToEnd({ tasks: [echo("a")], plugins: [plugin] });
    expect(order).to.deep.equal([
      "ensemble_started",
      "run_planned",
      "task_started",
      "beforeTask",
      "afterTask",
      "task_completed",
      "ensemble_completed",
    ]);
  });

  it("place the end of children before their parent's", async () => {
    const child = echo("child");
    const parent = scoped(
      "parent",
      async (scope) => (await scope.runTask(scope.define(child))).raw,
    );
    const { events, output } = await runToEnd({ tasks: [parent] });
    expectOrderly(events);
    expect(
      events
        .filter(({ type }) => ENDS.includes(type))
        .map((event) => (event as { taskId: string }).taskId),
    ).to.deep.equal(["task-1.1", "task-1"]);
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal(["task-1"]);
    expect(output.getOutput(child)?.raw).to.equal("child");
  });

  it("end with run_failed and ensemble_completed of reason ERROR when the run fails", async () => {
    const { events, error } = await runToEnd({ tasks: [failing("x")] });
    expectOrderly(events);
    expect(typesOf(events).slice(-2)).to.deep.equal(["run_failed", "ensemble_completed"]);
    expect(events.at(-2)).to.include({ code: "AE_TASK_EXECUTION" });
    expect(events.at(-1)).to.include({ exitReason: "ERROR" });
    const failed = events.find((event) => event.type === "task_failed");
    expect(failed?.cause).to.equal(error);
  });

  it("end with ensemble_completed, also if abandoned work continues", async () => {
    const seen: string[] = [];
    let goOn: () => void = () => undefined;
    const stubborn = scoped("stubborn", async (scope) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      scope.emit({ type: "memory_written", taskId: scope.taskId, agentRole: "x", scope: "late" });
    });
    const ensemble = new Ensemble({ tasks: [stubborn], on: ({ type }) => void seen.push(type) });
    await failure(ensemble.run({}, { timeoutMs: 10, cancelGraceMs: 5 }));
    goOn();
    await pause(5);
    expect(seen.at(-1)).to.equal("ensemble_completed");
    expect(seen).to.not.include("memory_written");
    await ensemble.dispose();
  });

  it("contain the texts and times of their task", async () => {
    const { events } = await runToEnd({ tasks: [echo("a"), echo("b")] });
    const second = events.filter((event) => event.type === "task_completed")[1];
    expect(second).to.include({
      taskId: "task-2",
      taskIndex: 2,
      totalTasks: 2,
      taskDescription: "b",
      agentRole: "(deterministic)",
    });
    for (const instant of [second?.at, second?.startedAt, second?.completedAt])
      expect(new Date(instant ?? "").toISOString()).to.equal(instant);
    expect((second?.taskOutput as TaskOutput).raw).to.equal("b");
  });
});

describe("an observer", () => {
  const throwing = (): never => {
    throw new Error("the listener is broken");
  };

  it("that throws is reported once, and the others receive all events in order", async () => {
    const before = recordingListener();
    const { events, output } = await runToEnd({
      tasks: [echo("a"), echo("b")],
      listeners: [before, { onTaskStart: throwing, onTaskComplete: throwing }],
    });
    expect(output.exitReason).to.equal("COMPLETED");
    expectOrderly(events);
    const warnings = events.filter((event) => event.type === "run_warning");
    expect(warnings.map(({ message }) => message)).to.have.length(1);
    expect(warnings[0]?.message).to.include("the listener is broken");
    expect(before.of("task_completed")).to.have.length(2);
  });

  it("that rejects is also reported", async () => {
    const { events } = await runToEnd({
      tasks: [new Task({ description: "a", handler: async () => (await pause(1), "a") })],
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the very mistake
      onTaskStart: async () => Promise.reject(new Error("later")),
    });
    expect(
      events
        .filter((event) => event.type === "run_warning")
        .map(({ message }) => message)
        .join(),
    ).to.include("later");
  });

  for (const [name, on] of Object.entries({ throws: throwing, rejects: async () => throwing() }))
    it(`that ${name} as the only one is reported in the trace and as a process warning`, async () => {
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the very mistake
      const ensemble = new Ensemble({ tasks: [echo("a")], on });
      let warnings: unknown;
      const emitted = await warningsOf(async () => {
        warnings = (await ensemble.run()).trace.metadata.warnings;
      });
      const reported = ["An event listener threw and is ignored: the listener is broken"];
      expect(warnings).to.deep.equal(reported);
      expect(emitted).to.deep.equal(reported);
      await ensemble.dispose();
    });

  it("that throws is reported after later listeners have received the event", async () => {
    const seen: number[] = [];
    const plugin = tapping("observers", ({ events }) => {
      events.on(throwing);
      events.on(({ seq }) => void seen.push(seq));
    });
    await runToEnd({ tasks: [echo("a")], plugins: [plugin] });
    expect(seen).to.deep.equal(seen.map((_, index) => index));
  });

  it("keeps its `this`", async () => {
    class Counter implements EnsembleListener {
      count = 0;
      onTaskComplete(): void {
        this.count++;
      }
    }
    const counter = new Counter();
    await runToEnd({ tasks: [echo("a"), echo("b")], listeners: [counter] });
    expect(counter.count).to.equal(2);
  });

  it("of a plugin receives the events of all runs of its kernel until it is removed", async () => {
    const runs = new Set<string>();
    let off: () => void = () => undefined;
    const kernel = new Kernel({
      plugins: [
        tapping(
          "watch",
          ({ events }) => void (off = events.on(({ runId }) => void runs.add(runId))),
        ),
      ],
    });
    const ensemble = new Ensemble({ tasks: [echo("a")], kernel });
    const ids = [await ensemble.run(), await ensemble.run()].map(({ runId }) => runId);
    off();
    await ensemble.run();
    expect([...runs]).to.deep.equal(ids);
    await kernel.dispose();
  });

  it("of a plugin receives an event first, then each `on` and each callback in their order", async () => {
    const seen: string[] = [];
    const to = (name: string) => (): void => void seen.push(name);
    const kernel = new Kernel({
      plugins: [
        tapping("watch", ({ events }) => {
          for (const name of ["plugin 1", "plugin 2"])
            events.on(({ type }) => (type === "task_started" ? to(name)() : undefined));
        }),
      ],
    });
    const listener = (name: string): EnsembleListener => ({
      on: ({ type }) => (type === "task_started" ? to(`${name} on`)() : undefined),
      onTaskStart: to(`${name} callback`),
    });
    await new Ensemble({
      tasks: [echo("a")],
      kernel,
      listeners: [listener("first"), listener("second")],
      ...listener("options"),
    }).run();
    expect(seen).to.deep.equal([
      ...["plugin 1", "plugin 2", "first on", "second on", "options on"],
      ...["first callback", "second callback", "options callback"],
    ]);
    await kernel.dispose();
  });

  it("that emits several events receives them in the order of emission", async () => {
    const plugin = tapping("nested", ({ hooks, events }) => {
      let warn: ((message: string) => void) | undefined;
      hooks.beforeRun.tap(({ run }) => {
        warn = (message) => run.warn(message);
      });
      events.on((event) => {
        if (event.type === "task_started") for (const text of ["1", "2", "3"]) warn?.(text);
        if (event.type === "run_warning" && event.message === "1") warn?.("4");
      });
    });
    const { events } = await runToEnd({ tasks: [echo("a")], plugins: [plugin] });
    expectOrderly(events);
    expect(
      events.flatMap((event) => (event.type === "run_warning" ? [event.message] : [])),
    ).to.deep.equal(["1", "2", "3", "4"]);
  });

  it("can be removed without the other observers of its plugin", async () => {
    const seen: string[] = [];
    const kernel = new Kernel({
      plugins: [
        tapping("watch", ({ events }) => {
          const off = events.on(({ type }) => {
            seen.push(`first ${type}`);
            off();
          });
          events.on(({ type }) => void seen.push(type));
        }),
      ],
    });
    await new Ensemble({ tasks: [echo("a")], kernel }).run();
    expect(seen).to.deep.equal([
      "first ensemble_started",
      "ensemble_started",
      "run_planned",
      "task_started",
      "task_completed",
      "ensemble_completed",
    ]);
    await kernel.dispose();
  });

  it("may cancel the run while it receives an event", async () => {
    const controller = new AbortController();
    const ensemble = new Ensemble({
      tasks: [echo("a"), echo("b")],
      onTaskComplete: () => controller.abort(),
    });
    const error = await failure(ensemble.run({}, { signal: controller.signal }));
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(error.output?.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a"]);
    await ensemble.dispose();
  });
});

describe("a trace exporter", () => {
  it("receives the trace of every run, including failed runs, before the end of the run", async () => {
    const traces: string[] = [];
    const traceExporter = {
      export: async (trace: { exitReason: string }) => (
        await pause(1),
        void traces.push(trace.exitReason)
      ),
    };
    await runToEnd({ tasks: [echo("a")], traceExporter });
    await runToEnd({ tasks: [failing("a")], traceExporter });
    expect(traces).to.deep.equal(["COMPLETED", "ERROR"]);
  });

  it("that throws or rejects causes a warning, and the others are called", async () => {
    const got: string[] = [];
    const rejecting = definePlugin({
      name: "rejecting",
      bind: (bind) =>
        void bind
          .many(Tokens.TraceExporter)
          .toConstantValue({ export: async () => Promise.reject(new Error("disk full")) }),
    });
    const { output, events } = await runToEnd({
      tasks: [echo("a")],
      plugins: [rejecting],
      traceExporter: [
        () => {
          throw new Error("no trace for you");
        },
        (trace) => void got.push(trace.workflow),
      ],
    });
    expect(output.exitReason).to.equal("COMPLETED");
    expect(got).to.deep.equal(["SEQUENTIAL"]);
    const warnings = events
      .filter((event) => event.type === "run_warning")
      .map(({ message }) => message);
    expect(warnings).to.have.length(2);
    expect(warnings.join()).to.include("disk full").and.include("no trace for you");
  });

  it("that never ends causes a warning after thirty seconds", async () => {
    let limits: ReturnType<typeof endLimitsAtOnce> | undefined;
    const hanging = (): Promise<void> => {
      limits = endLimitsAtOnce();
      return new Promise(() => undefined);
    };
    try {
      const { output, events } = await runToEnd({ tasks: [echo("a")], traceExporter: hanging });
      expect(output).to.include({ exitReason: "COMPLETED", raw: "a" });
      const warnings = events.flatMap((event) =>
        event.type === "run_warning" ? [event.message] : [],
      );
      expect(warnings).to.deep.equal([
        "A trace exporter failed: it did not finish within 30000 ms",
      ]);
      expect(limits?.limitsMs).to.include(30_000);
    } finally {
      limits?.restore();
    }
  });

  it("is refused if it is not an exporter", () => {
    expect(() => new Ensemble({ tasks: [echo("a")], traceExporter: {} as never })).to.throw(
      "traceExporter",
    );
  });
});

describe("handle.events", () => {
  it("contain all events, including tokens, and end with the run", async () => {
    const model = new ScriptedModel([{ chunks: ["Hel", "lo"] }]);
    const ensemble = new Ensemble({
      model,
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
    });
    const handle = ensemble.stream();
    const events: EnsembleEvent[] = [];
    for await (const event of handle.events) events.push(event);
    expectOrderly(events);
    expect(events.flatMap((event) => (event.type === "token" ? [event.token] : []))).to.deep.equal([
      "Hel",
      "lo",
    ]);
    expect(events.every(({ runId }) => runId === handle.id)).to.equal(true);
    expect((await handle.output).raw).to.equal("Hello");
    await ensemble.dispose();
  });

  it("need not be read, also if the output is not awaited", async () => {
    const ensemble = new Ensemble({ tasks: [failing("x")] });
    ensemble.stream();
    const handle = ensemble.stream();
    const types: string[] = [];
    for await (const { type } of handle.events) types.push(type);
    expect(types.at(-1)).to.equal("ensemble_completed");
    await pause(5);
    await ensemble.dispose();
  });

  it("end immediately if the run is refused; the output rejects with the reason", async () => {
    const ensemble = new Ensemble({ tasks: [] });
    const handle = ensemble.stream();
    const types: string[] = [];
    for await (const { type } of handle.events) types.push(type);
    expect(types).to.deep.equal([]);
    expect(await failure(handle.output)).to.have.property("code", "AE_VALIDATION");
    await ensemble.dispose();
  });

  it("may be left early without ending the run", async () => {
    const ensemble = new Ensemble({ tasks: [echo("a"), echo("b")] });
    const handle = ensemble.stream();
    for await (const { type } of handle.events) if (type === "task_started") break;
    expect((await handle.output).taskOutputs).to.have.length(2);
    await ensemble.dispose();
  });
});

describe("an early rejection", () => {
  it("of the run is reported by a start and an end", async () => {
    const { events } = await runToEnd({
      tasks: [echo("a")],
      plugins: [tapping("no", ({ hooks }) => hooks.beforeRun.tap(() => reject("closed")))],
    });
    expect(typesOf(events)).to.deep.equal([
      "ensemble_started",
      "run_planned",
      "run_failed",
      "ensemble_completed",
    ]);
    expectOrderly(events);
  });
});
