import {
  definePlugin,
  Tokens,
  ValidationError,
  type Plan,
  type PlannedTask,
  type Plugin,
  type Run,
  type TaskOutput,
  type WorkflowExecutor,
  type WorkflowResult,
} from "agentensemble";

/** Options of the workflow DELIBERATION. */
export interface DeliberationOptions {
  /** After this number of rounds, the judge must decide. Default 3. */
  readonly rounds?: number;
  /**
   * Whether this answer of the judge is the verdict. The speakers receive any other answer next.
   */
  readonly isDecided: (verdict: TaskOutput) => boolean;
}

/** The part of each task, by its position in the list. */
interface Parts {
  readonly preparation: readonly PlannedTask[];
  readonly speakers: readonly PlannedTask[];
  readonly judge: PlannedTask;
}

/** @throws ValidationError for a plan of fewer than three tasks. */
function partsOf({ tasks }: Plan): Parts {
  const judge = tasks.at(-1);
  if (judge === undefined || tasks.length < 3)
    throw new ValidationError(
      `DELIBERATION needs two speakers and a judge, got ${tasks.length} tasks`,
    );
  return { preparation: tasks.slice(0, -3), speakers: tasks.slice(-3, -1), judge };
}

function refuseContext(
  tasks: readonly PlannedTask[],
  isOutOfPlace: (contextId: string) => boolean,
): void {
  for (const { id, contextIds } of tasks) {
    const wrong = contextIds.find(isOutOfPlace);
    if (wrong !== undefined)
      throw new ValidationError(
        `Task '${id}' can't have '${wrong}' in its context: DELIBERATION does not let it hear that task`,
      );
  }
}

/** @throws ValidationError for a plan that the workflow does not support. */
function validate(plan: Plan): void {
  const { preparation, speakers, judge } = partsOf(plan);
  if (plan.loops.length > 0)
    throw new ValidationError(
      "DELIBERATION runs no loops: leave `loops` out, or choose SEQUENTIAL or PARALLEL",
    );
  const prepared = new Set(preparation.map(({ id }) => id));
  const speaking = new Set(speakers.map(({ id }) => id));
  refuseContext(preparation, (id) => speaking.has(id) || id === judge.id);
  refuseContext(speakers, (id) => !prepared.has(id));
  refuseContext([judge], (id) => !prepared.has(id) && !speaking.has(id));
}

/**
 * Runs tasks concurrently. The first failure stops the other tasks, and is thrown when all tasks
 * have ended.
 */
async function together(
  starts: readonly ((signal: AbortSignal) => Promise<TaskOutput>)[],
): Promise<readonly TaskOutput[]> {
  const siblings = new AbortController();
  const running = starts.map((start) => start(siblings.signal));
  for (const work of running) work.catch((error: unknown) => siblings.abort(error));
  const settled = await Promise.allSettled(running);
  siblings.signal.throwIfAborted();
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/**
 * Runs one round: both speakers receive the statements of the last round and the judge's question.
 */
function speak(
  run: Run,
  { speakers }: Parts,
  known: readonly TaskOutput[],
  said: readonly TaskOutput[],
  question: TaskOutput | undefined,
) {
  return together(
    speakers.map(({ id }, place) => (signal: AbortSignal) => {
      const revision =
        question === undefined
          ? undefined
          : { feedback: question.raw, previousOutput: said[place]?.raw };
      return run.runTask(id, { contextOutputs: [...known, ...said], revision, signal });
    }),
  );
}

/** Adds the judge's task again, as a separate task that requires a decision. */
async function castingVote(
  run: Run,
  { judge }: Parts,
  contextOutputs: readonly TaskOutput[],
): Promise<TaskOutput> {
  const description = `${judge.task.description}\nThere is no further round: decide now.`;
  const id = run.define(judge.task.with({ name: undefined, description }), {
    parentTaskId: judge.id,
    agent: await run.agentOf(judge.id),
  });
  return run.runTask(id, { contextOutputs });
}

async function deliberate(
  plan: Plan,
  run: Run,
  { rounds = 3, isDecided }: DeliberationOptions,
): Promise<WorkflowResult> {
  const parts = partsOf(plan);
  const ids = parts.preparation.map(({ id }) => id);
  const known = ids.length === 0 ? [] : (await run.runWorkflow("PARALLEL", ids)).taskOutputs;
  let said: readonly TaskOutput[] = [];
  let question: readonly TaskOutput[] = [];
  for (let round = 1; round <= rounds; round++) {
    said = await speak(run, parts, known, said, question[0]);
    const verdict = await run.runTask(parts.judge.id, {
      contextOutputs: [...known, ...question, ...said],
    });
    if (isDecided(verdict)) return { raw: verdict.raw, taskOutputs: [...known, ...said, verdict] };
    question = [verdict];
  }
  run.emit({
    type: "run_warning",
    message: `The judge was undecided after ${rounds} rounds and had to decide`,
  });
  const heard = [...known, ...said, ...question];
  const decision = await castingVote(run, parts, heard);
  return { raw: decision.raw, taskOutputs: [...heard, decision] };
}

/**
 * The workflow DELIBERATION. The last task judges, and the two tasks before it speak. All earlier
 * tasks are preparation and run first, in PARALLEL.
 * @throws ValidationError for invalid options.
 */
export function deliberationWorkflow(options: DeliberationOptions): WorkflowExecutor {
  const { rounds = 3, isDecided } = options;
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new ValidationError(`rounds must be a whole number from 1 on, got: ${rounds}`);
  if (typeof isDecided !== "function")
    throw new ValidationError(`isDecided must be a function, got: ${typeof isDecided}`);
  return { name: "DELIBERATION", validate, execute: (plan, run) => deliberate(plan, run, options) };
}

/** Adds the workflow DELIBERATION to an ensemble or a kernel. */
export function deliberation(options: DeliberationOptions): Plugin {
  const workflow = deliberationWorkflow(options);
  return definePlugin({
    name: "workflow-deliberation",
    bind: (bind) => void bind.many(Tokens.WorkflowExecutor).toConstantValue(workflow),
  });
}
