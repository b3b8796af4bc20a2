import type { EnsembleOptions, PhaseOptions } from "agentensemble";
import {
  ExitEarlySignal,
  ParallelExecutionError,
  Phase,
  PhaseReview,
  Task,
  TaskExecutionError,
  ValidationError,
} from "agentensemble";
import { expect } from "chai";
import {
  echo,
  failing,
  failure,
  runToEnd,
  typesOf,
  waiting,
} from "../../../support/kernel-fixtures.js";
import { pause } from "../../../support/time.js";

const phase = (name: string, tasks: PhaseOptions["tasks"], o: Partial<PhaseOptions> = {}): Phase =>
  new Phase({ name, tasks, ...o });

/** A task that waits until another one has started; both tasks end only together. */
function meeting(names: readonly string[]): readonly Task[] {
  const present = new Set<string>();
  return names.map(
    (name) =>
      new Task({
        description: name,
        handler: async () => {
          present.add(name);
          while (present.size < names.length) await pause(1);
          return name;
        },
      }),
  );
}

describe("phases", () => {
  it("run in parallel unless one is after another", async () => {
    const [left, right] = meeting(["left", "right"]);
    const order: string[] = [];
    const both = [left, right].map((task, i) =>
      phase(`root-${i}`, task === undefined ? [] : [task]),
    );
    const last = phase("last", [echo("Last")], { after: both });
    const { output, events } = await runToEnd({ phases: [last, ...both] });
    for (const event of events)
      if (event.type === "phase_started" || event.type === "phase_completed")
        order.push(`${event.type} ${event.phaseName}`);
    expect(order.slice(-2)).to.deep.equal(["phase_started last", "phase_completed last"]);
    expect(order.slice(0, 2).sort()).to.deep.equal([
      "phase_started root-0",
      "phase_started root-1",
    ]);
    expect(output.raw).to.equal("Last");
    expect(output.exitReason).to.equal("COMPLETED");
    expect(output.trace.workflow).to.equal("PHASES");
  });

  it("return their outputs by name, in the order of their completion", async () => {
    const one = phase("one", [echo("A"), echo("B")]);
    const two = phase("two", [echo("C")], { after: [one] });
    const { output } = await runToEnd({ phases: [two, one] });
    expect(
      [...output.phaseOutputs].map(([name, outputs]) => [name, outputs.map(({ raw }) => raw)]),
    ).to.deep.equal([
      ["one", ["A", "B"]],
      ["two", ["C"]],
    ]);
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal([
      "one/task-1",
      "one/task-2",
      "two/task-1",
    ]);
    expect(output.getOutput(one.tasks[1] as Task)?.raw).to.equal("B"); // the second of two
    expect(output.trace.phases).to.deep.equal([
      { name: "one", after: [], taskIds: ["one/task-1", "one/task-2"] },
      { name: "two", after: ["one"], taskIds: ["two/task-1"] },
    ]);
  });

  it("pass outputs on to later phases through context", async () => {
    const facts = echo("Facts");
    const memo = new Task({
      description: "Memo",
      context: [facts],
      handler: (ctx) => `on ${ctx.getOutput(facts).raw}`,
    });
    const first = phase("first", [facts]);
    const second = phase("second", [echo("Between")], { after: [first] });
    const { output } = await runToEnd({
      phases: [first, second, phase("third", [memo], { after: [second] })],
    });
    expect(output.raw).to.equal("on Facts");
  });

  it("run their tasks in order, or by context if a task has another task of the phase in its context", async () => {
    const [a, b] = meeting(["a", "b"]);
    const joined = new Task({
      description: "Joined",
      context: [a as Task, b as Task],
      handler: (ctx) => ctx.contextOutputs.map(({ raw }) => raw).join("+"),
    }); // both were made
    const { output } = await runToEnd({
      phases: [phase("inferred", [a as Task, b as Task, joined])],
    });
    expect(output.raw).to.equal("a+b");
    const order: string[] = [];
    const slow = new Task({
      description: "Slow",
      handler: () => pause(5).then(() => String(order.push("slow"))),
    });
    const quick = new Task({ description: "Quick", handler: () => String(order.push("quick")) });
    await runToEnd({ phases: [phase("plain", [slow, quick])] });
    expect(order).to.deep.equal(["slow", "quick"]);
  });

  it("run their tasks by their own workflow, else by that of the ensemble", async () => {
    const [a, b] = meeting(["a", "b"]);
    await runToEnd({
      phases: [phase("own", [a as Task, b as Task], { workflow: "PARALLEL" })],
      workflow: "SEQUENTIAL",
    });
    const [c, d] = meeting(["c", "d"]);
    const { output } = await runToEnd({
      phases: [phase("inherited", [c as Task, d as Task])],
      workflow: "PARALLEL",
    });
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["c", "d"]);
  });

  it("that fail also skip all later dependent phases, while the others finish", async () => {
    const broken = phase("broken", [pauseThenFail("Broken")]);
    const next = phase("next", [echo("Next")], { after: [broken] });
    const beyond = phase("beyond", [echo("Beyond")], { after: [next] });
    const other = phase("other", [
      new Task({ description: "Other", handler: () => pause(10).then(() => "Other") }),
    ]);
    const afterOther = phase("after other", [echo("After other")], { after: [other] });
    const { error, output, events } = await runToEnd({
      phases: [broken, next, beyond, other, afterOther],
    });
    expect(error).to.be.instanceOf(TaskExecutionError);
    expect(error?.message).to.include("Broken");
    expect([...output.phaseOutputs.keys()]).to.deep.equal(["other", "after other"]);
    expect(output.exitReason).to.equal("ERROR");
    expect(
      events.flatMap((e) => (e.type === "phase_started" ? [e.phaseName] : [])),
    ).to.not.include.members(["next"]);
  });

  it("throw the first of several failures", async () => {
    const late = phase("late", [
      new Task({
        description: "Late",
        handler: (): Promise<string> => pause(10).then(() => Promise.reject(new Error("late"))),
      }),
    ]);
    const { error } = await runToEnd({ phases: [late, phase("soon", [failing("Soon")])] });
    expect(error?.message).to.include("Soon");
  });

  it("keep the finished outputs of a failed phase with CONTINUE_ON_ERROR", async () => {
    const tasks = [failing("Broken"), echo("Fine")];
    const { error, output } = await runToEnd({
      phases: [phase("mixed", tasks, { workflow: "PARALLEL" })],
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
    });
    expect(
      ParallelExecutionError.find(error)?.completedTaskOutputs.map(({ raw }) => raw),
    ).to.deep.equal(["Fine"]);
    expect(output.completedTasks.map(({ raw }) => raw)).to.deep.equal(["Fine"]);
  });

  it("are all stopped when the run is cancelled", async () => {
    const controller = new AbortController();
    let waitingTasks = 0;
    const wait = (name: string): Phase =>
      phase(name, [
        waiting(name, () => {
          if (++waitingTasks === 2) controller.abort();
        }),
      ]);
    const roots = [wait("a"), wait("b")];
    const { output, events } = await runToEnd(
      { phases: [...roots, phase("never", [echo("Never")], { after: roots })] },
      { signal: controller.signal },
    );
    expect(output.exitReason).to.equal("CANCELLED");
    expect(typesOf(events).filter((type) => type === "phase_started")).to.have.length(2);
    expect(typesOf(events)).to.not.include("phase_completed");
  });

  it("are not started after an early exit; running ones finish their current tasks", async () => {
    const leaving = new Task({
      description: "Leave",
      handler: async (): Promise<string> => {
        await pause(2);
        throw new ExitEarlySignal("enough");
      },
    });
    const slow = phase("slow", [
      new Task({ description: "Slow", handler: () => pause(10).then(() => "Slow") }),
      echo("Second of slow"),
    ]);
    const first = phase("first", [leaving]);
    const { error, output } = await runToEnd({
      phases: [first, slow, phase("next", [echo("Next")], { after: [first] })],
    });
    expect(error).to.equal(undefined);
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.completedTasks.map(({ raw }) => raw)).to.deep.equal(["Slow"]);
  });
});

function pauseThenFail(description: string): Task {
  return new Task({
    description,
    handler: (): Promise<string> =>
      pause(2).then(() => Promise.reject(new Error(`${description} is broken`))),
  });
}

describe("invalid phases", () => {
  const ran: string[] = [];
  const mark = (name: string): Task =>
    new Task({ description: name, handler: () => String(ran.push(name)) });
  const facts = mark("Facts");
  const backwards = [
    new Task({ description: "Needs facts", context: [facts], handler: () => "never" }),
    facts,
  ];
  const reviewTask = new Task({ description: "Review", handler: () => "APPROVE" });
  const cases: readonly (readonly [string, EnsembleOptions])[] = [
    [
      "an ensemble that is HIERARCHICAL",
      { phases: [phase("one", [mark("A")])], workflow: "HIERARCHICAL" },
    ],
    [
      "an order that SEQUENTIAL can't keep",
      { phases: [phase("root", [mark("A")]), phase("one", backwards, { workflow: "SEQUENTIAL" })] },
    ],
    [
      "a task with its own review in its context",
      {
        phases: [
          phase(
            "one",
            [new Task({ description: "B", context: [reviewTask], handler: () => "b" })],
            { review: reviewOf(reviewTask) },
          ),
        ],
      },
    ],
    [
      "a review that needs a phase that is not before it",
      {
        phases: [
          phase("one", [facts]),
          phase("two", [mark("C")], { review: reviewOf(reviewTask.with({ context: [facts] })) }),
        ],
      },
    ],
    ["the workflow PHASES without phases", { tasks: [mark("D")], workflow: "PHASES" }],
  ];
  for (const [what, options] of cases) {
    it(`are refused before anything runs: ${what}`, async () => {
      expect(await failure(runToEnd(options))).to.be.instanceOf(ValidationError);
      expect(ran).to.deep.equal([]);
    });
  }

  it("run nothing if one of them names a workflow that is unknown or refuses it", async () => {
    for (const workflow of ["PARALEL", "GRAPH"]) {
      const root = phase("root", [mark("Root")]);
      const { error } = await runToEnd({
        phases: [root, phase("next", [mark("Next")], { after: [root], workflow })],
      });
      expect(error).to.be.instanceOf(ValidationError);
      expect(ran).to.deep.equal([]);
    }
  });
});

function reviewOf(task: Task): NonNullable<PhaseOptions["review"]> {
  return new PhaseReview({ task });
}
