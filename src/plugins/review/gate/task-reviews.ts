import type { After, Replace, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Review, ReviewAsker, ReviewGate, ReviewQuestion } from "../../../contracts/review.js";
import type { Awaitable, OutputSchema } from "../../../contracts/types.js";
import type { ReadEdit } from "../shared/ask-until-fits.js";
import { ExitEarlySignal } from "../../../contracts/errors.js";
import { replace } from "../../../contracts/hooks.js";
import { ReviewUnavailableError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { taskLabel } from "../../../contracts/task-label.js";
import { checkValue, parseText } from "../../../util/schema/standard-schema.js";
import { Schemas } from "../../shared/schemas.js";
import { askUntilFits } from "../shared/ask-until-fits.js";

type AfterTask = After<TaskCall, "output", TaskOutput>;
type Edit = Partial<Pick<TaskOutput, "raw" | "parsed">>;

/** The reviews before and after tasks. */
export class TaskReviews {
  readonly #schemas = new Schemas();

  /**
   * Requests the review before a task, if the task has one. There is no output yet, so an edit
   * counts as an approval.
   * @throws ExitEarlySignal; ReviewUnavailableError if a review before or after this task is needed
   * and no reviewer can answer.
   */
  before(call: TaskCall): Awaitable<void> {
    const { beforeReview } = call.task;
    const isAsked = beforeReview?.mode === "REQUIRED";
    if (!isAsked && !mayBeReviewed(call)) return undefined;
    const gate = gateFor(call);
    return isAsked ? askBefore(gate, call, beforeReview) : undefined;
  }

  /**
   * Requests the review of an output, if the task or the policy of the ensemble requires one.
   * @throws ExitEarlySignal
   */
  after(call: AfterTask): Awaitable<void | Replace<Edit>> {
    if (call.outcome !== "ok" || !mayBeReviewed(call)) return undefined;
    const { review } = call.task;
    if (review === undefined && !isReviewedByPolicy(call)) return undefined;
    const { outputType } = call.task;
    const editSchema = outputType === undefined ? undefined : this.#schemas.find(outputType);
    return askAfter(gateFor(call), call, call.output, { ...optionsOf(review), editSchema });
  }
}

/** Whether the output of the task may need a review, by the facts known before the execution. */
function mayBeReviewed({ task: { review }, run, isLast }: TaskCall): boolean {
  if (review !== undefined) return review.mode === "REQUIRED";
  const { reviewPolicy = "NEVER" } = run.options;
  return reviewPolicy === "AFTER_LAST_TASK" ? isLast !== undefined : reviewPolicy !== "NEVER";
}

function isReviewedByPolicy({
  run,
  isLast,
  output,
}: AfterTask & { readonly outcome: "ok" }): boolean {
  return run.options.reviewPolicy !== "AFTER_LAST_TASK" || isLast?.(output) === true;
}

/** @throws ReviewUnavailableError if no reviewer can answer. */
function gateFor({ run, task }: TaskCall): ReviewGate {
  const gate = run.find(Tokens.ReviewGate);
  if (gate?.canAsk(run) === true) return gate;
  const wants =
    task.review === undefined && task.beforeReview === undefined
      ? "is to be reviewed by the ensemble's reviewPolicy"
      : "requires a review";
  throw new ReviewUnavailableError(
    `Task '${taskLabel(task)}' ${wants}, but no reviewer can answer it`,
  );
}

async function askBefore(gate: ReviewGate, call: TaskCall, review: Review): Promise<void> {
  const question = {
    ...optionsOf(review),
    timing: "BEFORE_EXECUTION" as const,
    taskDescription: call.task.description,
    taskOutput: "",
    key: "before",
  };
  const decision = await gate.ask(question, askerOf(call));
  if (decision.type === "EXIT_EARLY") throw exitOf(call, decision.timedOut === true);
}

async function askAfter(
  gate: ReviewGate,
  call: TaskCall,
  output: TaskOutput,
  options: Partial<ReviewQuestion>,
): Promise<void | Replace<Edit>> {
  const { description, outputType } = call.task;
  const question = {
    ...options,
    timing: "AFTER_EXECUTION" as const,
    taskDescription: description,
    taskOutput: output.raw,
    key: "after",
  };
  const decision = await askUntilFits(gate, question, askerOf(call), (text) =>
    readEdit(outputType, text),
  );
  if (decision.type === "EXIT_EARLY") throw exitOf(call, decision.timedOut);
  return decision.type === "EDIT" && decision.value.raw !== output.raw
    ? replace(decision.value)
    : undefined;
}

/**
 * Returns a text and, with a schema, its value. The value is the parsed JSON, or the text itself if
 * the schema accepts a string.
 */
async function readEdit(
  schema: OutputSchema<unknown> | undefined,
  raw: string,
): Promise<ReadEdit<Edit>> {
  if (schema === undefined) return { ok: true, value: { raw } };
  const parsed = await parseText(schema, raw);
  if (parsed.ok) return { ok: true, value: { raw, parsed: parsed.value } };
  const text = await checkValue(schema, raw);
  return text.ok ? { ok: true, value: { raw, parsed: text.value } } : parsed;
}

function optionsOf(review: Review | undefined): Omit<Review, "mode"> {
  const { mode: _, ...options } = review ?? {};
  return options;
}

function askerOf({ run, taskId, parentTaskId, agent, attempt, signal }: TaskCall): ReviewAsker {
  return {
    run,
    taskId,
    parentTaskId,
    agentRole: agent?.role ?? "(deterministic)",
    attempt,
    signal,
  };
}

function exitOf({ task }: TaskCall, timedOut: boolean): ExitEarlySignal {
  const why = timedOut ? "nobody answered in time" : "the reviewer wanted it";
  return new ExitEarlySignal(
    `The run was ended by the review of task '${taskLabel(task)}': ${why}`,
    { timedOut },
  );
}
