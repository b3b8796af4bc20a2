import assert from "node:assert/strict";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { WorkflowExecutor } from "../../contracts/executors.js";
import type { WorkflowResult } from "../../contracts/output.js";
import type { AnyTask } from "../../contracts/task.js";
import { AgentEnsembleError, ExitEarlySignal } from "../../contracts/errors.js";
import { Task } from "../../contracts/task.js";
import { checkOptions } from "../../contracts/validation.js";
import { withTimeout } from "../../util/abort/timeouts.js";
import { stagedFailure, stagedPlan, StagedRun } from "./staged-run.js";

/** Options of `workflowContract`. */
export interface WorkflowContractOptions {
  /** Called once per test. */
  create(): WorkflowExecutor;
  /**
   * Tasks that the workflow accepts. Default: three tasks with handlers. The last has the first two
   * in its context.
   */
  readonly tasks?: readonly AnyTask[] | undefined;
  /** Options of the ensemble that the workflow reads. Default: none. */
  readonly ensembleOptions?: EnsembleOptions | undefined;
}

/** Time limit of a workflow in milliseconds, for tasks that take one millisecond each. */
const LIMIT_MS = 2_000;

type WorkflowAttempt = { readonly result: WorkflowResult } | { readonly error: unknown };

function defaultTasks(): readonly AnyTask[] {
  const first = new Task({ description: "First", handler: () => "first" });
  const second = new Task({ description: "Second", handler: () => "second" });
  return [
    first,
    second,
    new Task({ description: "Third", handler: () => "third", context: [first, second] }),
  ];
}

/** Runs the workflow to any end. A workflow that never ends fails the test. */
function attempt(workflow: WorkflowExecutor, run: StagedRun): Promise<WorkflowAttempt> {
  const work = workflow.execute(run.plan, run).then(
    (result): WorkflowAttempt => ({ result }),
    (error: unknown): WorkflowAttempt => ({ error }),
  );
  const late = (): never => assert.fail(`execute() did not end within ${LIMIT_MS} ms`);
  return withTimeout(() => work, { ms: LIMIT_MS, late });
}

function returnedResult(made: WorkflowAttempt): WorkflowResult {
  if ("result" in made) return made.result;
  throw made.error;
}

function assertResult(result: WorkflowResult, run: StagedRun): void {
  assert.equal(typeof result.raw, "string", "raw must be a string");
  const { taskOutputs } = result;
  assert.equal(Array.isArray(taskOutputs), true, "taskOutputs must be an array");
  for (const output of taskOutputs)
    assert.ok(run.made.has(output), "taskOutputs must hold what this run's runTask() returned");
  assert.equal(new Set(taskOutputs).size, taskOutputs.length, "no output may be listed twice");
}

function successSuite(
  workflow: () => WorkflowExecutor,
  start: (failing?: (id: string) => Error | undefined) => StagedRun,
): void {
  it("has a name", () => {
    assert.match(workflow().name, /\S/);
  });

  it("accepts the plan, and leaves it unchanged", async () => {
    const executor = workflow();
    const run = start(); // its plan is frozen, so a change throws
    executor.validate?.(run.plan);
    assertResult(returnedResult(await attempt(executor, run)), run);
  });

  it("runs tasks and returns their outputs and the final text", async () => {
    const run = start();
    const result = returnedResult(await attempt(workflow(), run));
    assertResult(result, run);
    assert.ok(run.started.length > 0, "no task was run");
    assert.ok(result.taskOutputs.length > 0, "no output was returned");
  });

  it("waits for all started work", async () => {
    const run = start();
    await attempt(workflow(), run);
    assert.equal(run.active, 0);
  });

  it("starts no task before the tasks in its context are done", async () => {
    const run = start();
    await attempt(workflow(), run);
    assert.deepEqual(run.premature, []);
  });

  it("keeps two runs of one object separate", async () => {
    const executor = workflow();
    const runs = [start(), start()];
    const made = await Promise.all(runs.map((run) => attempt(executor, run)));
    runs.forEach((run, index) => {
      const one = made[index];
      if (one !== undefined) assertResult(returnedResult(one), run);
    });
  });
}

function workflowEndingSuite(
  workflow: () => WorkflowExecutor,
  start: (failing?: (id: string) => Error | undefined) => StagedRun,
): void {
  it("rejects with an error of the framework when every task fails, and waits for work in flight", async () => {
    const run = start(stagedFailure);
    const made = await attempt(workflow(), run);
    assert.ok("error" in made, "execute() must reject");
    assert.ok(
      AgentEnsembleError.isInstance(made.error),
      `expected an AgentEnsembleError, got ${String(made.error)}`,
    );
    assert.equal(run.active, 0);
  });

  it("ends without starting a task if the run is cancelled before its start", async () => {
    const run = start();
    run.cancel();
    await attempt(workflow(), run);
    assert.deepEqual(run.started, []);
  });

  it("ends when the run is cancelled in progress, and requests no more tasks than the plan has", async () => {
    const run = start();
    const ended = attempt(workflow(), run);
    setTimeout(() => run.cancel(), 0);
    await ended;
    assert.equal(run.active, 0);
    assert.ok(
      run.refused <= run.plan.tasks.length,
      `asked ${run.refused} times for a task after the end`,
    );
  });

  it("rejects with the signal of an early exit", async () => {
    const exit = new ExitEarlySignal("That is enough");
    const made = await attempt(
      workflow(),
      start(() => exit),
    );
    assert.ok(
      "error" in made && made.error === exit,
      "execute() must reject with the very signal that runTask() rejected with",
    );
  });
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every workflow should
 * pass. The workflow gets a run whose tasks are not really executed, so no model is needed.
 *
 * @example
 * workflowContract("DEBATE", {
 *   create: () => debate(2),
 *   tasks: [Task.of("For"), Task.of("Against"), Task.of("Judge")],
 * });
 * @throws ValidationError for an unknown option.
 */
export function workflowContract(name: string, options: WorkflowContractOptions): void;
/** The short form: only a factory. The title is the name of the workflow. */
export function workflowContract(create: WorkflowContractOptions["create"]): void;
export function workflowContract(
  first: string | WorkflowContractOptions["create"],
  second?: WorkflowContractOptions,
): void {
  const [name, options] =
    typeof first === "function" ? [first().name, { create: first }] : [first, second];
  checkOptions("workflowContract()", options, ["create", "tasks", "ensembleOptions"]);
  register(name, options as WorkflowContractOptions); // checked
}

function register(name: string, options: WorkflowContractOptions): void {
  let count = 0;
  const start = (failing?: (id: string) => Error | undefined): StagedRun =>
    new StagedRun(
      `run-${++count}`,
      stagedPlan(options.tasks ?? defaultTasks(), options.ensembleOptions),
      failing,
    );
  describe(`workflow contract: ${name}`, () => {
    successSuite(() => options.create(), start);
    workflowEndingSuite(() => options.create(), start);
  });
}
