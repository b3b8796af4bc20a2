import type { AnyTask, ChatRequest, EnsembleOptions } from "agentensemble";
import {
  Agent,
  ExitEarlySignal,
  GuardrailResult,
  GuardrailViolationError,
  Loop,
  RunCancelledError,
  Task,
  TaskExecutionError,
  ValidationError,
} from "agentensemble";
import { ScriptedModel, workflowContract } from "agentensemble/testing";
import { expect } from "chai";
import {
  deliberation,
  deliberationWorkflow,
  type DeliberationOptions,
} from "../../examples/support/deliberation.js";
import {
  echo,
  failing,
  failure,
  runToEnd,
  waiting,
  type Ended,
} from "../support/kernel-fixtures.js";

const three = [Task.of("For"), Task.of("Against"), Task.of("Judge")];
workflowContract("DELIBERATION, decided at once", {
  create: () => deliberationWorkflow({ isDecided: () => true }),
  tasks: three,
});
workflowContract("DELIBERATION, never decided", {
  create: () => deliberationWorkflow({ rounds: 2, isDecided: () => false }),
  tasks: three,
});

const promptOf = ({ messages }: ChatRequest): string => JSON.stringify(messages);
const by = (role: string): Task =>
  new Task({
    name: role,
    description: `Speak as ${role}`,
    agent: new Agent({ role, goal: "Speak" }),
  });
const team = [by("left"), by("right"), by("judge")];
/**
 * The second word of the system message is the role. Each agent answers `{role} {n}`, where `n`
 * counts its answers.
 */
function talkers(): ScriptedModel {
  const said = new Map<string, number>();
  return new ScriptedModel((request) => {
    const role = /You are (\w+)/.exec(promptOf(request))?.[1] ?? "";
    said.set(role, (said.get(role) ?? 0) + 1);
    return `${role} ${said.get(role)}`;
  });
}

async function deliberated(
  tasks: readonly AnyTask[],
  o: DeliberationOptions,
  options: EnsembleOptions = {},
): Promise<Ended & { readonly model: ScriptedModel }> {
  const model = talkers();
  return {
    ...(await runToEnd({
      model,
      tasks,
      workflow: "DELIBERATION",
      plugins: [deliberation(o)],
      ...options,
    })),
    model,
  };
}
const rawsOf = ({ output }: Ended): readonly string[] => output.taskOutputs.map(({ raw }) => raw);
const until = (text: string): DeliberationOptions => ({ isDecided: ({ raw }) => raw === text });

describe("the deliberation of the examples", () => {
  it("ends with the round in which the judge decides, with the last outputs of all", async () => {
    const ended = await deliberated(team, until("judge 2"));
    expect(rawsOf(ended)).to.deep.equal(["left 2", "right 2", "judge 2"]);
    expect(ended.output.raw).to.equal("judge 2");
  });

  it("passes both statements and the judge's question to the speakers, and the question to the judge", async () => {
    const { model } = await deliberated(team, until("judge 2"));
    const [first, , , again, , judged] = model.requests.map(promptOf);
    expect(first).not.to.include("right 1");
    for (const text of ["left 1", "right 1", "judge 1"]) expect(again).to.include(text);
    for (const text of ["left 2", "right 2", "judge 1"]) expect(judged).to.include(text);
  });

  it("runs the tasks before the speakers first, by their context, and passes their outputs to all participants", async () => {
    const source = echo("the source");
    const ended = await deliberated(
      [source, echo("the extract", [source]), ...team],
      until("judge 1"),
    );
    expect(rawsOf(ended)).to.deep.equal([
      "the source",
      "the extract",
      "left 1",
      "right 1",
      "judge 1",
    ]);
    for (const prompt of ended.model.requests.map(promptOf))
      expect(prompt).to.include("the source").and.to.include("the extract");
  });

  it("requests the judge's decision in a separate task after the last round, and warns of it", async () => {
    const ended = await deliberated(team, { rounds: 2, isDecided: () => false });
    expect(rawsOf(ended)).to.deep.equal(["left 2", "right 2", "judge 2", "judge 3"]);
    expect(ended.output.taskOutputs.at(-1)?.taskId).to.equal("judge.1");
    expect(promptOf(ended.model.requests.at(-1) ?? { messages: [] })).to.include("decide now");
    expect(ended.events.filter(({ type }) => type === "run_warning")).to.have.length(1);
  });

  it("stops the other speaker if one fails, and fails with that speaker's error", async () => {
    let ended = false;
    const patient = waiting("waits", ({ signal }) =>
      signal.addEventListener("abort", () => (ended = true)),
    );
    const { error } = await deliberated(
      [failing("speaks"), patient, by("judge")],
      until("judge 1"),
    );
    expect(TaskExecutionError.isInstance(error) && error.message).to.include("speaks");
    expect(ended).to.equal(true);
  });

  it("ends with the run: when it is cancelled, or by an early exit with the statements so far", async () => {
    const stop = new AbortController();
    const tasks = [waiting("one", () => stop.abort()), waiting("two"), by("judge")];
    const run = runToEnd(
      { model: talkers(), tasks, workflow: "DELIBERATION", plugins: [deliberation(until("x"))] },
      { signal: stop.signal },
    );
    expect(RunCancelledError.isInstance((await run).error)).to.equal(true);
    const leaving = new Task({
      description: "leave",
      handler: (): Promise<string> => Promise.reject(new ExitEarlySignal("That is enough")),
    });
    const { output, error } = await deliberated(
      [echo("fact"), leaving, by("right"), by("judge")],
      until("x"),
    );
    expect(error).to.equal(undefined);
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.include("fact");
  });

  it("refuses unsupported plans before any cost arises", async () => {
    const [left, right, judge] = [by("left"), by("right"), by("judge")];
    const loop = new Loop({ name: "again", tasks: [Task.of("More")], maxIterations: 2 });
    const wrong: readonly (readonly [readonly AnyTask[], EnsembleOptions, RegExp])[] = [
      [[left, judge], {}, /got 2 tasks/],
      [[left, right, judge], { loops: [loop] }, /runs no loops/],
      [
        [new Task({ description: "early", context: [left] }), left, right, judge],
        {},
        /'task-1' can't have 'left'/,
      ],
      [[left, right.with({ context: [left] }), judge], {}, /'right' can't have 'left'/],
      [[right.with({ context: [judge] }), left, judge], {}, /'right' can't have 'judge'/],
    ];
    for (const [tasks, options, message] of wrong) {
      const model = talkers();
      const error = await failure(
        runToEnd({
          model,
          tasks,
          workflow: "DELIBERATION",
          plugins: [deliberation(until("x"))],
          ...options,
        }),
      );
      expect(ValidationError.isInstance(error)).to.equal(true);
      expect(error.message).to.match(message);
      expect(model.requests).to.have.length(0);
    }
  });

  it("accepts context between the tasks of its participants", async () => {
    const [fact, left, right] = [echo("fact"), by("left"), by("right")];
    const judge = by("judge").with({ context: [fact, left] });
    expect(
      rawsOf(
        await deliberated([fact, left, right.with({ context: [fact] }), judge], until("judge 1")),
      ),
    ).to.have.length(4);
  });

  it("refuses invalid options", () => {
    for (const rounds of [0, -1, 1.5, Number.NaN])
      expect(() => deliberation({ ...until("x"), rounds })).to.throw(ValidationError, "rounds");
    expect(
      () => deliberation({ rounds: 1 } as DeliberationOptions),
      "what JavaScript may pass",
    ).to.throw(ValidationError, "isDecided");
  });

  it("applies the guardrails of its tasks in every round", async () => {
    const judge = by("judge").with({
      outputGuardrails: [
        ({ raw }) =>
          raw === "judge 2" ? GuardrailResult.failure("not that") : GuardrailResult.success(),
      ],
    });
    const { error, model } = await deliberated([by("left"), by("right"), judge], {
      rounds: 3,
      isDecided: () => false,
    });
    expect(GuardrailViolationError.find(error)?.type).to.equal("OUTPUT");
    expect(model.requests).to.have.length(6);
  });
});
