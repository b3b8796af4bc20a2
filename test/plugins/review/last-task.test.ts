import type {
  AnyTask,
  EnsembleOptions,
  EnsembleOutput,
  PlainTaskOptions,
  ReviewDecision as Decision,
  WorkflowExecutor,
} from "agentensemble";
import {
  Agent,
  definePlugin,
  Ensemble,
  Graph,
  Loop,
  MapReduceEnsemble,
  Phase,
  PhaseReview,
  Review,
  ReviewDecision,
  Task,
  Tokens,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { failing } from "../../support/kernel-fixtures.js";
import { person } from "./fixtures.js";
import { pause } from "../../support/time.js";

type Runnable = Pick<Ensemble, "run" | "dispose">;

const said = (name: string, o: Partial<PlainTaskOptions<string>> = {}): Task =>
  new Task({ name, description: name, handler: () => name, ...o });
const after = (name: string, ms: number, context: readonly AnyTask[] = []): Task =>
  new Task({ name, description: name, context, handler: () => pause(ms).then(() => name) });

/** Runs it under AFTER_LAST_TASK; returns the reviewed outputs. */
async function shown(
  make: (options: EnsembleOptions) => Runnable,
  ...answers: readonly Decision[]
): Promise<{ readonly texts: readonly string[]; readonly output: EnsembleOutput }> {
  const { handler, asked } = person(...answers, ReviewDecision.continue());
  const ensemble = make({ reviewHandler: handler, reviewPolicy: "AFTER_LAST_TASK" });
  try {
    const output = await ensemble.run({}, { throwOnError: false });
    return { texts: asked.map(({ taskOutput }) => taskOutput), output };
  } finally {
    await ensemble.dispose();
  }
}

const textsOf = async (
  options: EnsembleOptions,
  ...answers: readonly Decision[]
): Promise<readonly string[]> =>
  (await shown((o) => new Ensemble({ ...options, ...o }), ...answers)).texts;

describe("reviewPolicy AFTER_LAST_TASK", () => {
  it("reviews the last task of a sequence, and its edit is the run's result", async () => {
    const { texts, output } = await shown(
      (o) => new Ensemble({ tasks: [said("a"), said("b")], ...o }),
      ReviewDecision.edit("c"),
    );
    expect(texts).to.deep.equal(["b"]);
    expect([output.raw, output.exitReason]).to.deep.equal(["c", "COMPLETED"]);
  });

  it("does not review a last task with skipped review, and no other in its place", async () => {
    expect(
      await textsOf({ tasks: [said("a"), said("b", { review: Review.skip() })] }),
    ).to.deep.equal([]);
  });

  it("reviews a last task that itself requires a review once, with that review's prompt", async () => {
    expect(
      await textsOf({
        tasks: [
          said("a", { review: Review.required() }),
          said("b", { review: Review.required("This?") }),
        ],
      }),
    ).to.deep.equal(["a", "b"]);
  });

  it("reviews the last iteration of the last loop after the tasks of a sequence or a graph of dependencies", async () => {
    for (const workflow of ["SEQUENTIAL", "PARALLEL"]) {
      let n = 0;
      const counted = new Task({
        name: "count",
        description: "count",
        handler: () => `count ${++n}`,
      });
      const first = said("first");
      const loops = [
        new Loop({ name: "l", tasks: [said("x"), counted], maxIterations: 3, context: [first] }),
      ];
      expect(await textsOf({ tasks: [first], loops, workflow }), workflow).to.deep.equal([
        "count 3",
      ]);
    }
  });

  it("reviews the join of a parallel run, and not its inputs", async () => {
    const [a, b] = [after("a", 1), after("b", 5)];
    expect(await textsOf({ tasks: [a, b, after("join", 1, [a, b])] })).to.deep.equal(["join"]);
  });

  it("reviews the last finished of several independent ends", async () => {
    expect(
      await textsOf({
        tasks: [after("slow", 40), after("quick", 1), said("now")],
        workflow: "PARALLEL",
      }),
    ).to.deep.equal(["slow"]);
  });

  it("reviews exactly one task in any graph of dependencies: the last finished one", async () => {
    const graphs = fc.array(
      fc.record({
        delay: fc.constantFrom(undefined, 0, 1, 3),
        context: fc.array(fc.nat(6), { maxLength: 3 }),
      }),
      {
        minLength: 1,
        maxLength: 7,
      },
    );
    await fc.assert(
      fc.asyncProperty(graphs, fc.constantFrom(undefined, 1, 2), async (nodes, maxConcurrency) => {
        const tasks: Task[] = [];
        for (const { delay, context } of nodes) {
          const known = [...new Set(context)].flatMap((i) => tasks[i] ?? []);
          const name = `t${tasks.length}`;
          tasks.push(
            delay === undefined ? said(name, { context: known }) : after(name, delay, known),
          );
        }
        const done: string[] = [];
        const onTaskComplete = ({ taskId }: { readonly taskId: string }): unknown =>
          done.push(taskId);
        const texts = await textsOf({
          tasks,
          workflow: "PARALLEL",
          maxConcurrency,
          onTaskComplete,
        });
        expect(texts).to.deep.equal(done.slice(-1));
      }),
      { numRuns: 60 },
    );
  });

  it("does not review a failed parallel run", async () => {
    const tasks = [failing("broken"), after("good", 5)];
    expect(
      await textsOf({ tasks, workflow: "PARALLEL", parallelErrorStrategy: "CONTINUE_ON_ERROR" }),
    ).to.deep.equal([]);
  });

  it("reviews the last task of the last phase, also of parallel phases", async () => {
    const one = new Phase({ name: "one", tasks: [said("a"), said("b")] });
    expect(
      await textsOf({
        phases: [one, new Phase({ name: "two", tasks: [said("c"), said("d")], after: [one] })],
      }),
    ).to.deep.equal(["d"]);
    const slow = new Phase({ name: "slow", tasks: [after("x", 30)] });
    expect(
      await textsOf({ phases: [slow, new Phase({ name: "quick", tasks: [after("y", 1)] }), one] }),
    ).to.deep.equal(["x"]);
    const both = [
      new Phase({ name: "p", tasks: [said("p")] }),
      new Phase({ name: "q", tasks: [said("q")] }),
    ];
    expect(await textsOf({ phases: both })).to.have.length(1);
  });

  it("reviews each attempt of a last phase that has its own review", async () => {
    let n = 0;
    const draft = new Task({ name: "draft", description: "draft", handler: () => `draft ${++n}` });
    const judge = said("judge", { handler: () => (n < 2 ? "RETRY: more" : "APPROVE") });
    expect(
      await textsOf({
        phases: [
          new Phase({ name: "p", tasks: [draft], review: new PhaseReview({ task: judge }) }),
        ],
      }),
    ).to.deep.equal(["draft 1", "draft 2"]);
  });

  it("reviews a repeated earlier phase only at the end", async () => {
    let n = 0;
    const source = new Phase({
      name: "source",
      tasks: [said("source", { handler: () => `source ${++n}` })],
    });
    const judge = said("judge", {
      handler: () => (n < 2 ? "RETRY_PREDECESSOR source: more" : "APPROVE"),
    });
    const report = new Phase({
      name: "report",
      tasks: [said("report", { handler: () => `report ${n}` })],
      after: [source],
      review: new PhaseReview({ task: judge }),
    });
    expect(await textsOf({ phases: [source, report] })).to.deep.equal(["report 1", "report 2"]);
  });

  it("reviews the iteration with which a loop ends, and evaluates `until` once", async () => {
    let n = 0;
    const judged: string[] = [];
    const count = new Task({ name: "count", description: "count", handler: () => `${++n}` });
    const until = ({
      lastBodyOutput,
      iterationNumber,
      history,
    }: Parameters<NonNullable<Loop["until"]>>[0]): boolean => {
      judged.push(`${iterationNumber}:${lastBodyOutput.raw}:${history.length}`);
      return lastBodyOutput.raw === "3";
    };
    expect(
      await textsOf({
        loops: [new Loop({ name: "l", tasks: [said("x"), count], until, maxIterations: 5 })],
      }),
    ).to.deep.equal(["3"]);
    expect(judged).to.deep.equal(["1:1:1", "2:2:2", "3:3:3"]);
  });

  it("continues a loop if an edit invalidates its end, and reviews again at the end", async () => {
    let n = 0;
    const count = new Task({ name: "count", description: "count", handler: () => `${++n}` });
    const loop = new Loop({
      name: "l",
      tasks: [count],
      until: ({ lastBodyOutput }) => Number(lastBodyOutput.raw) >= 2,
      maxIterations: 5,
    });
    const { texts, output } = await shown(
      (o) => new Ensemble({ loops: [loop], ...o }),
      ReviewDecision.edit("0"),
    );
    expect(texts).to.deep.equal(["2", "3"]);
    expect(output.raw).to.equal("3");
  });

  it("does not review a loop that fails at its limit, or whose `until` throws", async () => {
    expect(
      await textsOf({
        loops: [
          new Loop({
            name: "l",
            tasks: [said("x")],
            until: () => false,
            maxIterations: 2,
            onMaxIterations: "THROW",
          }),
        ],
      }),
    ).to.deep.equal([]);
    const broken = new Loop({
      name: "l",
      tasks: [said("x")],
      until: () => {
        throw new Error("odd");
      },
    });
    const { texts, output } = await shown((o) => new Ensemble({ loops: [broken], ...o }));
    expect([texts, output.error?.message]).to.deep.equal([
      [],
      "Loop 'l': until() after iteration 1 threw: odd",
    ]);
  });

  it("reviews the step with which a graph ends, by its edges or its limit, and evaluates an edge once", async () => {
    let n = 0;
    const judged: number[] = [];
    const graph = (maxSteps: number): Graph =>
      new Graph<string>({
        name: "g",
        states: { a: new Task({ description: "a", handler: () => `${++n}` }) },
        start: "a",
        maxSteps,
        edges: [
          {
            from: "a",
            to: Graph.END,
            when: ({ lastOutput, stepNumber }) => (judged.push(stepNumber), lastOutput.raw === "3"),
          },
          { from: "a", to: "a" },
        ],
      });
    expect(await textsOf({ graph: graph(50) })).to.deep.equal(["3"]);
    expect(judged).to.deep.equal([1, 2, 3]);
    n = 10;
    expect(await textsOf({ graph: graph(2) })).to.deep.equal(["12"]);
  });

  it("reviews a manager's final answer, and not its workers'", async () => {
    const agent = new Agent({
      role: "Worker",
      goal: "Do it",
      model: new ScriptedModel(() => "worked"),
    });
    const managerModel = new ScriptedModel([
      {
        toolCalls: [
          {
            name: "delegateTask",
            arguments: { agentRole: "Worker", taskDescription: "Do it", taskNumber: 1 },
          },
        ],
      },
      "managed",
    ]);
    const { texts, output } = await shown(
      (o) =>
        new Ensemble({
          workflow: "HIERARCHICAL",
          tasks: [new Task({ description: "Work", agent })],
          managerModel,
          ...o,
        }),
      ReviewDecision.edit("signed"),
    );
    expect([texts, output.raw]).to.deep.equal([["managed"], "signed"]);
  });

  it("reviews the final reduce of a map-reduce, or the direct task", async () => {
    const make = (
      o: EnsembleOptions & {
        readonly chunkSize?: number;
        readonly targetTokenBudget?: number;
        readonly directTask?: () => Task;
      },
    ): MapReduceEnsemble<number> =>
      new MapReduceEnsemble({
        items: [1, 2, 3, 4],
        mapTask: (n) =>
          new Task({ description: `map ${n}`, handler: () => `map ${n} ${"x".repeat(40)}` }),
        reduceTask: (context) =>
          new Task({
            description: `reduce of ${context.length}`,
            context,
            handler: ({ contextOutputs }) => `reduced ${contextOutputs.length}`,
          }),
        ...o,
      });
    expect((await shown((o) => make({ ...o, chunkSize: 3 }))).texts).to.deep.equal(["reduced 2"]);
    expect((await shown((o) => make({ ...o, targetTokenBudget: 25 }))).texts).to.have.length(1);
    expect((await shown((o) => make({ ...o, targetTokenBudget: 1_000 }))).texts).to.deep.equal([
      "reduced 4",
    ]);
    expect(
      (
        await shown((o) =>
          make({ ...o, targetTokenBudget: 1_000, directTask: () => said("direct") }),
        )
      ).texts,
    ).to.deep.equal(["direct"]);
  });

  it("reviews the last task of the list, unless a plugin's workflow names another", async () => {
    const workflow = (say: boolean): WorkflowExecutor => ({
      name: "TWICE",
      async execute(plan, run) {
        const ids = plan.tasks.map(({ id }) => id);
        const taskOutputs = [];
        for (const id of [...ids, ...ids])
          taskOutputs.push(await run.runTask(id, say ? { last: taskOutputs.length === 3 } : {}));
        return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
      },
    });
    const plugin = (say: boolean) =>
      definePlugin({
        name: "twice",
        bind: (bind) => void bind.many(Tokens.WorkflowExecutor).toConstantValue(workflow(say)),
      });
    expect(
      await textsOf({ tasks: [said("a"), said("b")], workflow: "TWICE", plugins: [plugin(false)] }),
    ).to.deep.equal(["b", "b"]);
    expect(
      await textsOf({ tasks: [said("a"), said("b")], workflow: "TWICE", plugins: [plugin(true)] }),
    ).to.deep.equal(["b"]);
  });
});

describe("reviewPolicy AFTER_EVERY_TASK", () => {
  it("reviews every task except skipped ones, while NEVER reviews none", async () => {
    const tasks = [said("a"), said("b", { review: Review.skip() }), said("c")];
    const { handler, asked } = person(ReviewDecision.continue());
    for (const reviewPolicy of ["NEVER", "AFTER_EVERY_TASK"] as const) {
      const ensemble = new Ensemble({ tasks, reviewHandler: handler, reviewPolicy });
      await ensemble.run();
      await ensemble.dispose();
    }
    expect(
      asked.map(({ taskOutput, timeoutMs, onTimeout, prompt }) => [
        taskOutput,
        timeoutMs,
        onTimeout,
        prompt,
      ]),
    ).to.deep.equal([
      ["a", 300_000, "EXIT_EARLY", undefined],
      ["c", 300_000, "EXIT_EARLY", undefined],
    ]);
  });
});
