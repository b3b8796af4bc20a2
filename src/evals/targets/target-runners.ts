import type { EnsembleOutput } from "../../contracts/output.js";
import type { RunOptions } from "../../contracts/run.js";
import type { AnyTask } from "../../contracts/task.js";
import type { ConversationTarget } from "../conversation-target.js";
import type { EvaluationKernel } from "../evaluation-kernel.js";
import type { TargetContext } from "../target.js";
import type { TargetRunner, TrialRuns } from "./trial-run.js";
import { AgentEnsembleError, ValidationError } from "../../contracts/errors.js";
import { Task } from "../../contracts/task.js";
import { checkOptions, preview } from "../../contracts/validation.js";
import { canonicalJson } from "../../util/json/canonical.js";
import { asFields } from "../../util/objects.js";
import { TraceTarget } from "../datasets/stored-traces.js";
import { conversationRunner } from "./conversation-runner.js";

/** The `run` of an ensemble, with the types common to all ensembles. */
interface RunnableTarget {
  run(
    inputs: unknown,
    options: RunOptions,
  ): Promise<EnsembleOutput & { readonly parsed?: unknown }>;
  explain?(inputs: unknown): Promise<unknown>;
}

/** Returns the runner of a target by its kind. @throws ValidationError for any other value. */
export function targetRunnerOf(target: unknown, kernel: EvaluationKernel): TargetRunner {
  if (target instanceof TraceTarget) return target;
  if (target instanceof Task) {
    const task = target as AnyTask;
    return ensembleRunner(kernel.ensembleOf(task), task);
  }
  if (typeof target === "function")
    return functionRunner(target as (input: unknown, context: TargetContext) => unknown, kernel);
  const fields = asFields(target);
  if (fields?.["ensemble"] !== undefined) {
    checkOptions("target", target, ["ensemble", "task"]);
    const { ensemble, task } = fields;
    if (isRunnable(ensemble) && task instanceof Task)
      return ensembleRunner(ensemble, task as AnyTask);
    throw new ValidationError("target { ensemble, task } needs an ensemble and one of its tasks");
  }
  if (typeof fields?.["thread"] === "function")
    return conversationRunner(target as ConversationTarget);
  if (isRunnable(target)) return ensembleRunner(target, undefined);
  throw new ValidationError(
    `target must be an ensemble, a task, { ensemble, task }, a conversation or a function, got: ${preview(target)}`,
  );
}

function isRunnable(value: unknown): value is RunnableTarget {
  return typeof (value as { readonly run?: unknown } | null)?.run === "function";
}

function ensembleRunner(ensemble: RunnableTarget, task: AnyTask | undefined): TargetRunner {
  return {
    perform: async ({ case: { input }, id, options }, runs) => {
      const output = await runs.of(ensemble.run(input, { ...options, runId: id }));
      if (task === undefined) return "parsed" in output ? output.parsed : output.raw;
      const of = output.getOutput(task);
      if (of !== undefined) return of.parsed as unknown;
      throw new ValidationError(
        `The run has no output of the task '${preview(task.description)}'`,
        {
          hint: "Give the target the task object that the ensemble has.",
        },
      );
    },
    ...(ensemble.explain !== undefined && {
      fingerprint: async (input) => canonicalJson(await ensemble.explain?.(input)),
    }),
  };
}

function functionRunner(
  called: (input: unknown, context: TargetContext) => unknown,
  kernel: EvaluationKernel,
): TargetRunner {
  return {
    perform: async ({ case: one, trial, id, options, signal }, runs) => {
      const nested = new NestedRuns(id, options, runs);
      let failure: { readonly error: unknown } | undefined;
      try {
        const { value, output } = await kernel.call(
          async (context) => {
            try {
              return await called(one.input, {
                caseId: one.id,
                trial,
                idempotencyKey: id,
                signal,
                // The output has the type of the ensemble.
                run: (ensemble, inputs) => nested.run(ensemble, inputs, context) as never,
              });
            } catch (error) {
              failure = { error };
              throw error;
            }
          },
          { ...options, runId: id },
        );
        runs.count(output);
        return value;
      } catch (error) {
        const output = AgentEnsembleError.find(error)?.output;
        if (output !== undefined) runs.count(output);
        throw failure === undefined ? error : failure.error;
      }
    },
    fingerprint: () => Promise.resolve(String(called)),
  };
}

/** The runs that a function makes with its context. */
class NestedRuns {
  #count = 0;

  constructor(
    readonly id: string,
    readonly options: RunOptions,
    readonly runs: TrialRuns,
  ) {}

  run(
    ensemble: RunnableTarget,
    inputs: unknown,
    parent: NonNullable<RunOptions["parent"]>,
  ): Promise<EnsembleOutput> {
    const { tags, captureMode, signal, values } = this.options;
    const runId = `${this.id}-${++this.#count}`;
    return this.runs.of(
      ensemble.run(inputs ?? {}, { tags, captureMode, signal, values, parent, runId }),
      true,
    );
  }
}
