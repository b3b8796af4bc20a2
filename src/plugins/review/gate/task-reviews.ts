import type { After, Replace, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Review, ReviewAsker, ReviewGate } from "../../../contracts/review.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Awaitable, OutputSchema } from "../../../contracts/types.js";
import type { ReadEdit } from "../shared/ask-until-fits.js";
import { ExitEarlySignal } from "../../../contracts/errors.js";
import { replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { checkValue, parseText } from "../../../util/schema/standard-schema.js";
import { askUntilFits } from "../shared/ask-until-fits.js";

type AfterTask = After<TaskCall, "output", TaskOutput>;
type Edit = Partial<Pick<TaskOutput, "raw" | "parsed">>;

/** The gates in front of and behind tasks. */
export class TaskReviews {
  /** What each run was warned of. */
  readonly #warned = new WeakMap<HookRun, Set<string>>();

  /** Asks before a task is done, where it wants that. There is no text yet, so an edit lets it pass. @throws ExitEarlySignal */
  before(call: TaskCall): Awaitable<void> {
    const { beforeReview } = call.task;
    if (beforeReview?.mode !== "REQUIRED") return undefined;
    const gate = this.#gateFor(call, beforeReview);
    return gate === undefined ? undefined : askBefore(gate, call, beforeReview);
  }

  /** Asks about an output: where the task wants that, else where the ensemble's policy does. @throws ExitEarlySignal */
  after(call: AfterTask): Awaitable<void | Replace<Edit>> {
    if (call.outcome !== "ok" || call.task.review?.mode === "SKIP") return undefined;
    const { review } = call.task;
    const { reviewPolicy = "NEVER" } = review === undefined ? call.run.options : {};
    if (review === undefined && reviewPolicy === "NEVER") return undefined;
    const gate = this.#gateFor(call, review);
    if (gate === undefined) return undefined;
    if (
      review === undefined &&
      reviewPolicy === "AFTER_LAST_TASK" &&
      call.isLast?.(call.output) !== true
    )
      return undefined;
    return askAfter(gate, call, call.output, review);
  }

  /** `undefined`, and a warning, where nobody is there to be asked. */
  #gateFor({ run, taskId, task }: TaskCall, review: Review | undefined): ReviewGate | undefined {
    const gate = run.find(Tokens.ReviewGate);
    if (gate?.hasHandler(run) === true) return gate;
    if (review === undefined)
      this.#warn(
        run,
        "",
        "The ensemble's reviewPolicy has no effect: the run has no review handler",
      );
    else
      this.#warn(
        run,
        taskId,
        `Task '${task.description}' requires a review, but the run has no review handler: it goes on without one`,
      );
    return undefined;
  }

  #warn(run: HookRun, about: string, message: string): void {
    const warned = this.#warned.get(run) ?? new Set<string>();
    this.#warned.set(run, warned);
    if (warned.has(about)) return;
    warned.add(about);
    run.warn(message);
  }
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
  review: Review | undefined,
): Promise<void | Replace<Edit>> {
  const { description, outputType } = call.task;
  const question = {
    ...optionsOf(review),
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

/** A text and, with a schema, the value it stands for: read as JSON, or as it is where the schema wants a text. */
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
    `The run was ended by the review of task '${task.description}': ${why}`,
    { timedOut },
  );
}
