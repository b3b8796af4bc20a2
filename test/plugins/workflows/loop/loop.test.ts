import type { EnsembleOptions, LoopIteration, LoopOptions, TaskContext } from "agentensemble";
import {
  AgentExecutionError,
  ExitEarlySignal,
  Loop,
  MaxLoopIterationsExceededError,
  ParallelExecutionError,
  Task,
  ValidationError,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { echo, failing, failure, runToEnd, waiting } from "../../../support/kernel-fixtures.js";
import { pause } from "../../../support/time.js";

interface Body {
  readonly draft: Task;
  readonly judge: Task<number>;
  /** The prompts of the draft, for each iteration. */
  readonly told: TaskContext["revision"][];
}

/** A draft that counts its iterations, and a judge that scores it by its number. */
function body(): Body {
  const told: TaskContext["revision"][] = [];
  const draft = new Task({
    name: "draft",
    description: "Draft",
    handler: (ctx) => `draft ${told.push(ctx.revision)}`,
  });
  const judge = new Task({
    name: "judge",
    description: "Judge",
    context: [draft],
    handler: (ctx) => Number(ctx.getOutput(draft).raw.slice(6)),
  });
  return { draft, judge, told };
}

const loopOf = ({ draft, judge }: Body, o: Partial<LoopOptions> = {}): Loop =>
  new Loop({ name: "polish", tasks: [draft, judge], ...o });

describe("a loop", () => {
  it("repeats its body until the predicate is true", async () => {
    const parts = body();
    const seen: LoopIteration[] = [];
    const until = (it: LoopIteration): boolean => {
      seen.push(it);
      return (it.getOutput(parts.judge)?.parsed ?? 0) >= 3;
    };
    const { output } = await runToEnd({ loops: [loopOf(parts, { until })] });
    const history = output.loops.get("polish");
    expect(history?.terminationReason).to.equal("predicate");
    expect(history?.stoppedByMaxIterations).to.equal(false);
    expect(history?.iterations.map((outputs) => outputs.map(({ raw }) => raw))).to.deep.equal([
      ["draft 1", "1"],
      ["draft 2", "2"],
      ["draft 3", "3"],
    ]);
    expect(
      seen.map(({ iterationNumber, lastBodyOutput, history: before }) => [
        iterationNumber,
        lastBodyOutput.raw,
        before.length,
      ]),
    ).to.deep.equal([
      [1, "1", 1],
      [2, "2", 2],
      [3, "3", 3],
    ]);
    expect(output.getOutput(parts.draft)?.raw).to.equal("draft 3");
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
      "polish/draft",
      "polish/judge",
    ]);
    expect(output.raw).to.equal("3");
  });

  it("looks up only its own tasks, in the last iteration", async () => {
    const parts = body();
    const found: unknown[] = [];
    const until = (it: LoopIteration): boolean =>
      found.push(it.getOutput(parts.draft)?.raw, it.getOutput(echo("Other"))) > 0;
    await runToEnd({ loops: [loopOf(parts, { until })] });
    expect(found).to.deep.equal(["draft 1", undefined]);
  });

  it("adds the last output to its first task, from the second iteration on", async () => {
    const parts = body();
    const revisions: unknown[] = [];
    const judge = new Task({
      description: "Judge",
      handler: (ctx) => `judged ${revisions.push(ctx.revision)}`,
    });
    await runToEnd({
      loops: [new Loop({ name: "polish", tasks: [parts.draft, judge], maxIterations: 3 })],
    });
    expect(parts.told).to.deep.equal([
      undefined,
      {
        feedback:
          "Loop iteration 2 of 3. Prior iteration's final body output is shown above; revise based on it.",
        previousOutput: "judged 1",
      },
      {
        feedback:
          "Loop iteration 3 of 3. Prior iteration's final body output is shown above; revise based on it.",
        previousOutput: "judged 2",
      },
    ]);
    expect(revisions).to.deep.equal([undefined, undefined, undefined]);
  });

  it("adds the feedback to the prompt, in a replaceable text", async () => {
    const model = new ScriptedModel(["first", "second"]);
    const loops = [new Loop({ name: "polish", tasks: [Task.of("Draft")], maxIterations: 2 })];
    await runToEnd({
      model,
      loops,
      prompts: { "loop.feedback": "Round {iteration}/{maxIterations}!" },
    });
    const [before, after] = model.requests.map(({ messages }) => JSON.stringify(messages));
    expect(before).to.not.include("Round");
    expect(after).to.include("Round 2/2!").and.include("first").and.include("(Attempt 2)");
  });

  it("adds nothing if injectFeedback is false", async () => {
    const parts = body();
    await runToEnd({ loops: [loopOf(parts, { maxIterations: 2, injectFeedback: false })] });
    expect(parts.told).to.deep.equal([undefined, undefined]);
  });

  it("ends at maxIterations, five by default, and reports it", async () => {
    const { output } = await runToEnd({ loops: [loopOf(body())] });
    const history = output.loops.get("polish");
    expect(history?.iterations).to.have.length(5);
    expect(history).to.include({
      terminationReason: "maxIterations",
      stoppedByMaxIterations: true,
    });
    expect(output.raw).to.equal("5");
  });

  it("ends by its predicate if that is true at the last permitted iteration", async () => {
    const { output } = await runToEnd({
      loops: [
        loopOf(body(), {
          maxIterations: 2,
          onMaxIterations: "THROW",
          until: ({ iterationNumber }) => iterationNumber === 2,
        }),
      ],
    });
    expect(output.loops.get("polish")).to.include({
      terminationReason: "predicate",
      stoppedByMaxIterations: false,
    });
  });

  it("fails at maxIterations if set, and keeps its history", async () => {
    const { error, output } = await runToEnd({
      loops: [loopOf(body(), { maxIterations: 2, onMaxIterations: "THROW" })],
    });
    expect(error).to.be.instanceOf(MaxLoopIterationsExceededError);
    expect(error).to.include({
      code: "AE_MAX_LOOP_ITERATIONS",
      loopName: "polish",
      maxIterations: 2,
      message: "Loop 'polish' did not converge after 2 iterations",
    });
    expect(output.loops.get("polish")).to.include({ stoppedByMaxIterations: true });
    expect(output.loops.get("polish")?.iterations).to.have.length(2);
  });

  it("returns only its last output with FINAL_TASK_ONLY", async () => {
    const { output } = await runToEnd({
      loops: [loopOf(body(), { maxIterations: 2, outputMode: "FINAL_TASK_ONLY" })],
    });
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["2"]);
  });

  it("joins the texts of all iterations with ALL_ITERATIONS, and keeps the last value", async () => {
    const parts = body();
    const { output } = await runToEnd({
      loops: [loopOf(parts, { maxIterations: 3, outputMode: "ALL_ITERATIONS" })],
    });
    const [draft, judge] = output.taskOutputs;
    expect(draft?.raw).to.equal(
      "draft 1\n\n--- iteration 2 ---\n\ndraft 2\n\n--- iteration 3 ---\n\ndraft 3",
    );
    expect(judge?.raw).to.equal("1\n\n--- iteration 2 ---\n\n2\n\n--- iteration 3 ---\n\n3");
    expect(judge?.parsed).to.equal(3);
    expect(output.raw).to.equal(judge?.raw);
    expect(output.getOutput(parts.draft)?.raw).to.equal("draft 3");
  });

  it("keeps the value of a schema whose value is the text itself with ALL_ITERATIONS", async () => {
    const model = new ScriptedModel(['"a"', '"b"']);
    const task = new Task({ description: "Letter", outputType: z.string() });
    const { output } = await runToEnd({
      model,
      loops: [
        new Loop({
          name: "letters",
          tasks: [task],
          maxIterations: 2,
          outputMode: "ALL_ITERATIONS",
        }),
      ],
    });
    expect(output.taskOutputs.map(({ parsed }) => parsed)).to.deep.equal(["b"]);
    expect(output.raw).to.include("--- iteration 2 ---");
  });

  it("keeps the finished iterations if a later one fails", async () => {
    const task = new Task({
      description: "Fragile",
      handler: (ctx): string => {
        if (ctx.revision !== undefined) throw new Error("not again");
        return "once";
      },
    });
    const { error, output } = await runToEnd({
      loops: [new Loop({ name: "fragile", tasks: [task], maxIterations: 3 })],
    });
    expect(error?.code).to.equal("AE_TASK_EXECUTION");
    expect(
      output.loops.get("fragile")?.iterations.map((outputs) => outputs.map(({ raw }) => raw)),
    ).to.deep.equal([["once"]]);
    expect(output.loops.get("fragile")?.stoppedByMaxIterations).to.equal(false);
    expect(JSON.parse(output.trace.toJson())).to.have.nested.include({
      "loopTraces[0].iterationsRun": 1,
      "loopTraces[0].terminationReason": null,
    });
  });

  it("fails the run when its predicate throws, with the reason", async () => {
    const boom = new Error("boom");
    const until = (): boolean => {
      throw boom;
    };
    const { error, output } = await runToEnd({ loops: [loopOf(body(), { until })] });
    expect(error).to.be.instanceOf(AgentExecutionError);
    expect(error?.cause).to.equal(boom);
    expect(error?.message).to.include("polish").and.include("boom");
    expect(output.loops.get("polish")?.iterations).to.have.length(1);
  });

  it("fails the run when its predicate is asynchronous", async () => {
    const until = (() => Promise.reject(new Error("late"))) as unknown as () => boolean; // as JavaScript may write it
    const { error } = await runToEnd({ loops: [loopOf(body(), { until })] });
    expect(error).to.be.instanceOf(AgentExecutionError);
    expect(error?.message).to.include("promise");
  });

  it("allows its predicate to end the run early", async () => {
    const until = (): boolean => {
      throw new ExitEarlySignal("good enough");
    };
    const { error, output } = await runToEnd({ loops: [loopOf(body(), { until })] });
    expect(error).to.equal(undefined);
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.taskOutputs).to.have.length(2);
  });

  it("announces each iteration and is in the trace", async () => {
    const { output, events } = await runToEnd({ loops: [loopOf(body(), { maxIterations: 2 })] });
    expect(
      events.flatMap((e) =>
        e.type === "loop_iteration_completed"
          ? [[e.loopName, e.iterationNumber, e.maxIterations]]
          : [],
      ),
    ).to.deep.equal([
      ["polish", 1, 2],
      ["polish", 2, 2],
    ]);
    const { loopTraces } = JSON.parse(output.trace.toJson()) as { readonly loopTraces: unknown };
    expect(loopTraces).to.deep.equal([
      {
        loopName: "polish",
        iterationsRun: 2,
        maxIterations: 2,
        terminationReason: "maxIterations",
        onMaxIterations: "RETURN_LAST",
        outputMode: "LAST_ITERATION",
        memoryMode: "ACCUMULATE",
        iterations: [
          ["draft", "judge"],
          ["draft", "judge"],
        ],
        taskIds: [
          ["polish/draft", "polish/judge"],
          ["polish/draft", "polish/judge"],
        ],
      },
    ]);
  });

  it("can be cancelled also if its tasks never wait", async () => {
    const { error, output } = await runToEnd(
      { loops: [new Loop({ name: "busy", tasks: [echo("Busy")], maxIterations: 1_000_000 })] },
      { timeoutMs: 1 },
    );
    expect(error?.code).to.equal("AE_RUN_TIMEOUT");
    expect(output.loops.get("busy")?.stoppedByMaxIterations).to.equal(false);
  });

  it("counts every iteration's calls", async () => {
    const model = new ScriptedModel(() => ({
      text: "again",
      usage: { inputTokens: 7, outputTokens: 1 },
    }));
    const { output } = await runToEnd({
      model,
      loops: [new Loop({ name: "polish", tasks: [Task.of("Draft")], maxIterations: 3 })],
    });
    expect(output.metrics).to.include({ llmCallCount: 3, inputTokens: 21 });
    expect(output.trace.taskTraces.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3]);
  });

  it("continues to count attempts after a guardrail repeated the body", async () => {
    const model = new ScriptedModel(["bad", "good", "good"]);
    const draft = new Task({
      description: "Draft",
      guardrailRetries: 1,
      outputGuardrails: [({ raw }) => (raw === "bad" ? { ok: false, reason: "bad" } : true)],
    });
    const { output } = await runToEnd({
      model,
      loops: [new Loop({ name: "polish", tasks: [draft], maxIterations: 2 })],
    });
    expect(output.trace.taskTraces.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3]);
  });
});

/** Loops with one body task each; `order` records the executions. */
function marked(order: string[], name: string, o: Partial<LoopOptions> = {}): Loop {
  const task = new Task({
    description: `Body of ${name}`,
    handler: () => String(order.push(name)),
  });
  return new Loop({ name, tasks: [task], maxIterations: 2, ...o });
}

const mark = (order: string[], name: string): Task =>
  new Task({ name, description: name, handler: () => String(order.push(name)) });

describe("loops in SEQUENTIAL", () => {
  it("run after the task list, in their order", async () => {
    const order: string[] = [];
    const loops = [marked(order, "first"), marked(order, "second")];
    const { output } = await runToEnd({ tasks: [mark(order, "a"), mark(order, "b")], loops });
    expect(order).to.deep.equal(["a", "b", "first", "first", "second", "second"]);
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
      "a",
      "b",
      "first/task-1",
      "second/task-1",
    ]);
    expect([...output.loops.keys()]).to.deep.equal(["first", "second"]);
  });

  it("are not run after an early exit", async () => {
    const order: string[] = [];
    const leaving = new Task({
      description: "Leave",
      handler: (): string => {
        throw new ExitEarlySignal("enough");
      },
    });
    const { output } = await runToEnd({ tasks: [leaving], loops: [marked(order, "loop")] });
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(order).to.deep.equal([]);
  });
});

describe("loops in PARALLEL", () => {
  const parallel: EnsembleOptions = { workflow: "PARALLEL" };

  it("wait for their context only", async () => {
    const order: string[] = [];
    const slow = new Task({
      name: "slow",
      description: "Slow",
      handler: async () => {
        while (order.filter((name) => name === "free").length < 2) await pause(1); // endless if the free loop waited for this task
        return String(order.push("slow"));
      },
    });
    const quick = mark(order, "quick");
    const loops = [
      marked(order, "after slow", { context: [slow] }),
      marked(order, "free"),
      marked(order, "after quick", { context: [quick] }),
    ];
    const { output } = await runToEnd({ ...parallel, tasks: [slow, quick], loops });
    expect(order.indexOf("slow")).to.be.lessThan(order.indexOf("after slow"));
    expect(order.indexOf("quick")).to.be.lessThan(order.indexOf("after quick"));
    expect(order.lastIndexOf("free")).to.be.lessThan(order.indexOf("slow"));
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
      "slow",
      "quick",
      "after slow/task-1",
      "free/task-1",
      "after quick/task-1",
    ]);
    expect(output.loops.get("free")?.iterations).to.have.length(2);
  });

  it("may wait for another loop", async () => {
    const order: string[] = [];
    const first = marked(order, "first");
    const second = marked(order, "second", { context: first.tasks });
    await runToEnd({ ...parallel, loops: [second, first] });
    expect(order).to.deep.equal(["first", "first", "second", "second"]);
  });

  it("count as one task towards maxConcurrency", async () => {
    let active = 0;
    let most = 0;
    const busy = (description: string): Task =>
      new Task({
        description,
        handler: async () => {
          most = Math.max(most, ++active);
          await pause(1);
          active--;
          return "done";
        },
      });
    const loops = ["a", "b", "c", "d"].map(
      (name) => new Loop({ name, tasks: [busy(`${name}1`), busy(`${name}2`)], maxIterations: 2 }),
    );
    await runToEnd({ ...parallel, maxConcurrency: 2, loops });
    expect(most).to.equal(2);
  });

  it("are stopped when a sibling fails", async () => {
    let reason: unknown;
    const loops = [
      new Loop({
        name: "waits",
        tasks: [
          waiting("Waits", ({ signal }) => {
            signal.addEventListener("abort", () => void (reason = signal.reason));
          }),
        ],
      }),
    ];
    const broken = new Task({
      name: "broken",
      description: "Broken",
      handler: (): Promise<string> => pause(2).then(() => Promise.reject(new Error("broke"))),
    });
    const { error, output } = await runToEnd({ ...parallel, tasks: [broken], loops });
    expect(error?.code).to.equal("AE_TASK_EXECUTION");
    expect(reason).to.be.instanceOf(Error);
    expect(String(reason)).to.include("broken");
    expect(output.loops.get("waits")?.iterations).to.deep.equal([]);
  });

  it("stop their siblings when they fail", async () => {
    let stopped = false;
    const waits = waiting("Waits", ({ signal }) =>
      signal.addEventListener("abort", () => (stopped = true)),
    );
    const { error } = await runToEnd({
      ...parallel,
      tasks: [waits],
      loops: [loopOf(body(), { maxIterations: 1, onMaxIterations: "THROW" })],
    });
    expect(error).to.be.instanceOf(MaxLoopIterationsExceededError);
    expect(stopped).to.equal(true);
  });

  it("finish with CONTINUE_ON_ERROR, unless a task that they wait for failed", async () => {
    const order: string[] = [];
    const broken = failing("Broken");
    const loops = [
      marked(order, "free"),
      marked(order, "skipped", { context: [broken] }),
      marked(order, "endless", { onMaxIterations: "THROW" }),
    ];
    const { error, output } = await runToEnd({
      ...parallel,
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
      tasks: [broken],
      loops,
    });
    const failed = ParallelExecutionError.find(error);
    expect([...(failed?.failedTaskCauses.keys() ?? [])]).to.deep.equal(["task-1", "$loop:endless"]);
    expect(failed?.completedTaskOutputs.map(({ taskId }) => taskId)).to.deep.equal(["free/task-1"]);
    expect(order).to.not.include("skipped");
    expect([...output.loops.keys()].sort()).to.deep.equal(["endless", "free"]);
  });

  it("are not started after the run was ended early", async () => {
    const order: string[] = [];
    const leaving = new Task({
      description: "Leave",
      handler: (): string => {
        throw new ExitEarlySignal("enough");
      },
    });
    const { output } = await runToEnd({
      ...parallel,
      tasks: [leaving],
      loops: [marked(order, "loop", { context: [leaving] })],
    });
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(order).to.deep.equal([]);
  });
});

describe("invalid loops", () => {
  const order: string[] = [];
  const outside = mark(order, "outside");
  const looped = marked(order, "loop");
  const needsLoop = new Task({
    description: "Needs the loop",
    context: looped.tasks,
    handler: () => "never",
  });
  const early = echo("Early");
  const late = new Task({ description: "Late", context: [early], handler: () => "never" });
  const circle = [marked(order, "one"), marked(order, "two")] as const;
  const cases: readonly (readonly [string, EnsembleOptions])[] = [
    [
      "a task that waits for a loop in PARALLEL",
      { workflow: "PARALLEL", tasks: [needsLoop], loops: [looped] },
    ],
    [
      "a task that waits for a loop in SEQUENTIAL",
      { workflow: "SEQUENTIAL", tasks: [needsLoop], loops: [looped] },
    ],
    [
      "a context that is not in the ensemble",
      { loops: [marked(order, "loop", { context: [outside] })] },
    ],
    [
      "a body in an impossible order",
      { loops: [new Loop({ name: "loop", tasks: [late, early] })] },
    ],
    [
      "a loop that waits for a later one in SEQUENTIAL",
      {
        workflow: "SEQUENTIAL",
        loops: [marked(order, "loop", { context: circle[0].tasks }), circle[0]],
      },
    ],
    [
      "a loop that waits for itself in PARALLEL",
      {
        workflow: "PARALLEL",
        loops: [new Loop({ name: "loop", tasks: [outside], context: [outside] })],
      },
    ],
    ["the workflow LOOP with other tasks", { workflow: "LOOP", tasks: [outside], loops: [looped] }],
    ["the workflow LOOP without loops", { workflow: "LOOP", tasks: [outside] }],
  ];
  for (const [what, options] of cases) {
    it(`are refused before anything runs: ${what}`, async () => {
      expect(await failure(runToEnd(options))).to.be.instanceOf(ValidationError);
      expect(order).to.deep.equal([]);
    });
  }
});
