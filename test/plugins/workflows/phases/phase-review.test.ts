import type { EnsembleOptions, TaskContext } from "agentensemble";
import { ExitEarlySignal, Phase, PhaseReview, Task, TaskExecutionError } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { failing, runToEnd } from "../../../support/kernel-fixtures.js";
import { pause } from "../../../support/time.js";

/** A task that records each of its inputs. */
interface Worker {
  readonly task: Task;
  readonly told: TaskContext["revision"][];
}

function worker(name: string, context: readonly Task[] = []): Worker {
  const told: TaskContext["revision"][] = [];
  const task = new Task({
    name,
    description: `Do ${name}`,
    context,
    handler: (ctx) =>
      [
        `${name} ${told.push(ctx.revision)}`,
        ...ctx.contextOutputs.map(({ raw }) => `(${raw})`),
      ].join(" "),
  });
  return { task, told };
}

interface Judge {
  readonly review: PhaseReview;
  /** The received texts, for each execution. */
  readonly shown: (readonly string[])[];
}

/** Returns these texts in turn, and approves after the last. */
function judge(
  verdicts: readonly string[],
  limits: {
    readonly maxRetries?: number;
    readonly maxPredecessorRetries?: number;
    readonly context?: readonly Task[];
  } = {},
): Judge {
  const shown: (readonly string[])[] = [];
  const { context, ...rest } = limits;
  const task = new Task({
    description: "Judge the phase",
    context,
    handler: (ctx) =>
      verdicts[shown.push(ctx.contextOutputs.map(({ raw }) => raw)) - 1] ?? "APPROVE",
  });
  return { review: new PhaseReview({ task, ...rest }), shown };
}

async function eventsOf(options: EnsembleOptions): Promise<readonly string[]> {
  const { events } = await runToEnd(options);
  return events.flatMap((e) =>
    e.type === "phase_started" || e.type === "phase_completed"
      ? [`${e.type} ${e.phaseName} ${e.attempt}`]
      : [],
  );
}

describe("a phase's review", () => {
  it("receives the phase's outputs and is not part of them", async () => {
    const [a, b] = [worker("a"), worker("b")];
    const { review, shown } = judge(["APPROVE"]);
    const { output } = await runToEnd({
      phases: [new Phase({ name: "work", tasks: [a.task, b.task], review })],
    });
    expect(shown).to.deep.equal([["a 1", "b 1"]]);
    expect([...output.phaseOutputs.keys()]).to.deep.equal(["work"]);
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal(["work/a", "work/b"]);
    expect(output.raw).to.equal("b 1");
    expect(output.getOutput(review.task)?.raw).to.equal("APPROVE");
    expect(output.getOutput(review.task)?.taskId).to.equal("work/review");
  });

  it("receives outputs of earlier phases that its task has in its context", async () => {
    const [a, b] = [worker("a"), worker("b")];
    const { review, shown } = judge(["APPROVE"], { context: [a.task, b.task] });
    const first = new Phase({ name: "first", tasks: [a.task] });
    await runToEnd({
      phases: [first, new Phase({ name: "second", tasks: [b.task], after: [first], review })],
    });
    expect(shown).to.deep.equal([["b 1", "a 1"]]);
  });

  it("repeats all tasks, each with the feedback and its own last output", async () => {
    for (const workflow of ["SEQUENTIAL", "PARALLEL"]) {
      const a = worker("a");
      const b = worker("b", [a.task]);
      const { review, shown } = judge(["RETRY: name the year"]);
      const { output } = await runToEnd({
        phases: [new Phase({ name: "work", tasks: [a.task, b.task], review, workflow })],
      });
      expect(a.told).to.deep.equal([
        undefined,
        { feedback: "name the year", previousOutput: "a 1" },
      ]);
      expect(b.told).to.deep.equal([
        undefined,
        { feedback: "name the year", previousOutput: "b 1 (a 1)" },
      ]);
      expect(shown).to.deep.equal([
        ["a 1", "b 1 (a 1)"],
        ["a 2", "b 2 (a 2)"],
      ]);
      expect(output.phaseOutputs.get("work")?.map(({ raw }) => raw)).to.deep.equal([
        "a 2",
        "b 2 (a 2)",
      ]);
      expect(output.getOutput(a.task)?.raw).to.equal("a 2");
    }
  });

  it("adds its feedback to the prompts of model tasks, with their own last output", async () => {
    const model = new ScriptedModel(["first text", "RETRY: be kinder", "second text", "APPROVE"]);
    const review = new PhaseReview({ task: Task.of("Judge") });
    await runToEnd({
      model,
      phases: [new Phase({ name: "work", tasks: [Task.of("Write")], review })],
    });
    const again = JSON.stringify(model.requests[2]?.messages);
    expect(again).to.include("be kinder").and.include("first text").and.include("(Attempt 2)");
    expect(JSON.stringify(model.requests[1]?.messages)).to.include("first text");
  });

  it("is ignored after the last retry: the last outputs are used", async () => {
    const a = worker("a");
    const { review, shown } = judge(["RETRY", "RETRY", "RETRY", "RETRY"], { maxRetries: 2 });
    const { output, error } = await runToEnd({
      phases: [new Phase({ name: "work", tasks: [a.task], review })],
    });
    expect(error).to.equal(undefined);
    expect(shown).to.have.length(3);
    expect(output.raw).to.equal("a 3");
  });

  it("can't repeat anything with maxRetries 0", async () => {
    const a = worker("a");
    const { output } = await runToEnd({
      phases: [
        new Phase({
          name: "work",
          tasks: [a.task],
          review: judge(["RETRY"], { maxRetries: 0 }).review,
        }),
      ],
    });
    expect(output.raw).to.equal("a 1");
  });

  it("fails the run when it rejects, and later phases never start", async () => {
    const [a, b] = [worker("a"), worker("b")];
    const first = new Phase({
      name: "first",
      tasks: [a.task],
      review: judge(["REJECT: off topic"]).review,
    });
    const { error, output } = await runToEnd({
      phases: [first, new Phase({ name: "second", tasks: [b.task], after: [first] })],
    });
    expect(error).to.be.instanceOf(TaskExecutionError);
    expect(error).to.include({
      message: "Phase 'first' was rejected by review: off topic",
      agentRole: "phase-review",
      taskDescription: "first",
    });
    expect((error as TaskExecutionError).completedTaskOutputs.map(({ raw }) => raw)).to.deep.equal([
      "a 1",
    ]);
    expect(output.phaseOutputs.size).to.equal(0);
    expect(b.told).to.deep.equal([]);
  });

  it("fails its phase if the review itself fails", async () => {
    const broken = new PhaseReview({ task: failing("Judge") });
    const { error, output } = await runToEnd({
      phases: [new Phase({ name: "work", tasks: [worker("a").task], review: broken })],
    });
    expect(error).to.be.instanceOf(TaskExecutionError);
    expect(output.phaseOutputs.size).to.equal(0);
  });

  it("can end the run early", async () => {
    const leaving = new Task({
      description: "Judge",
      handler: (): string => {
        throw new ExitEarlySignal("enough");
      },
    });
    const { error, output } = await runToEnd({
      phases: [
        new Phase({
          name: "work",
          tasks: [worker("a").task],
          review: new PhaseReview({ task: leaving }),
        }),
      ],
    });
    expect(error).to.equal(undefined);
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.completedTasks.map(({ raw }) => raw)).to.deep.equal(["a 1"]);
  });

  it("announces every attempt, and the end once", async () => {
    const { review } = judge(["RETRY: more"]);
    expect(
      await eventsOf({ phases: [new Phase({ name: "work", tasks: [worker("a").task], review })] }),
    ).to.deep.equal(["phase_started work 1", "phase_started work 2", "phase_completed work 2"]);
  });
});

describe("a review that sends work back to a predecessor", () => {
  it("repeats the predecessor with the feedback, then its own phase from the start", async () => {
    const a = worker("a");
    const b = worker("b", [a.task]);
    const first = new Phase({ name: "Research", tasks: [a.task] });
    const second = new Phase({
      name: "second",
      tasks: [b.task],
      after: [first],
      review: judge(["RETRY_PREDECESSOR research: find figures"]).review,
    });
    const { output } = await runToEnd({ phases: [first, second] });
    expect(a.told).to.deep.equal([undefined, { feedback: "find figures", previousOutput: "a 1" }]);
    expect(b.told).to.deep.equal([undefined, undefined]);
    expect(output.phaseOutputs.get("Research")?.map(({ raw }) => raw)).to.deep.equal(["a 2"]);
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a 2", "b 2 (a 2)"]);
  });

  it("has a budget for each predecessor, in addition to that of its own phase, which starts again", async () => {
    const [a, b, c] = [worker("a"), worker("b"), worker("c")];
    const left = new Phase({ name: "left", tasks: [a.task] });
    const right = new Phase({ name: "right", tasks: [b.task] });
    const verdicts = [
      "RETRY",
      "RETRY",
      "RETRY_PREDECESSOR left",
      "RETRY_PREDECESSOR right",
      "RETRY",
      "RETRY_PREDECESSOR left",
    ];
    const { review, shown } = judge(verdicts, { maxRetries: 2, maxPredecessorRetries: 1 });
    const { output } = await runToEnd({
      phases: [
        left,
        right,
        new Phase({ name: "last", tasks: [c.task], after: [left, right], review }),
      ],
    });
    expect(shown).to.have.length(6);
    expect([a, b, c].map(({ told }) => told.length)).to.deep.equal([2, 2, 6]);
    expect(output.raw).to.equal("c 6");
  });

  it("approves if it names no direct predecessor", async () => {
    const a = worker("a");
    const first = new Phase({ name: "first", tasks: [a.task] });
    const second = new Phase({ name: "second", tasks: [worker("b").task], after: [first] });
    const third = new Phase({
      name: "third",
      tasks: [worker("c").task],
      after: [second],
      review: judge(["RETRY_PREDECESSOR first: more"]).review,
    });
    const { output } = await runToEnd({ phases: [first, second, third] });
    expect(a.told).to.have.length(1);
    expect(output.raw).to.equal("c 1");
  });

  it("does not repeat other successors", async () => {
    const [a, b, c] = [worker("a"), worker("b"), worker("c")];
    const first = new Phase({ name: "first", tasks: [a.task] });
    const asking = new Phase({
      name: "asking",
      tasks: [b.task],
      after: [first],
      review: judge(["RETRY_PREDECESSOR first"]).review,
    });
    await runToEnd({
      phases: [first, asking, new Phase({ name: "other", tasks: [c.task], after: [first] })],
    });
    expect([a, b, c].map(({ told }) => told.length)).to.deep.equal([2, 2, 1]);
  });

  it("judges the predecessor's new output", async () => {
    const a = worker("a");
    const first = new Phase({
      name: "first",
      tasks: [a.task],
      review: judge(["APPROVE", "REJECT: worse than before"]).review,
    });
    const second = new Phase({
      name: "second",
      tasks: [worker("b").task],
      after: [first],
      review: judge(["RETRY_PREDECESSOR first"]).review,
    });
    const { error } = await runToEnd({ phases: [first, second] });
    expect(error?.message).to.equal("Phase 'first' was rejected by review: worse than before");
  });

  it("never executes the requests of two successors concurrently", async () => {
    let active = 0;
    let most = 0;
    let done = 0;
    const shared = new Task({
      description: "Shared",
      handler: async () => {
        most = Math.max(most, ++active);
        await pause(2);
        active--;
        return `shared ${++done}`;
      },
    });
    const first = new Phase({ name: "first", tasks: [shared] });
    const asking = ["x", "y"].map(
      (name) =>
        new Phase({
          name,
          tasks: [worker(name).task],
          after: [first],
          review: judge(["RETRY_PREDECESSOR first"]).review,
        }),
    );
    const { error, output } = await runToEnd({ phases: [first, ...asking] });
    expect(error).to.equal(undefined);
    expect([most, done]).to.deep.equal([1, 3]);
    expect(output.phaseOutputs.get("first")?.map(({ raw }) => raw)).to.deep.equal(["shared 3"]);
  });
});
