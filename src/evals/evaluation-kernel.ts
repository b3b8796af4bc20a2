import type { ChatRequest, ChatResponse, ModelRef } from "../contracts/chat-model.js";
import type { CostConfiguration } from "../contracts/cost.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { Plugin } from "../contracts/plugin.js";
import type { RunOptions, TaskContext } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import { ValidationError } from "../contracts/errors.js";
import { runValue } from "../contracts/run-value.js";
import { Task } from "../contracts/task.js";
import { createToken } from "../contracts/token.js";
import { Tokens } from "../contracts/tokens.js";
import { tool } from "../contracts/tool.js";
import { Ensemble } from "../ensemble/ensemble.js";
import { Kernel } from "../kernel/kernel.js";

/** A model call of a scorer or a simulated user. */
export interface JudgeRequest {
  readonly request: ChatRequest;
  readonly model: ModelRef | undefined;
}

/** The function that a run executes. */
export type CalledFunction = (context: TaskContext) => unknown;

const JUDGE_REQUEST = createToken<JudgeRequest>("EvaluationJudgeRequest");
const CALLED = createToken<CalledFunction>("EvaluationCall");

/** The options of an evaluation that apply to its runs. */
export interface EvaluationKernelOptions {
  readonly model?: ModelRef | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly costConfiguration?: CostConfiguration | undefined;
}

/**
 * The kernel of an evaluation: its plugins, and the ensembles of functions, tasks and judges.
 * Created at first use.
 */
export class EvaluationKernel {
  readonly #kernel = new Kernel();
  #judge: Ensemble | undefined;
  #caller: Ensemble | undefined;

  constructor(readonly options: EvaluationKernelOptions) {
    for (const plugin of options.plugins ?? []) this.#kernel.use(plugin);
  }

  /** An ensemble of one task, on this kernel. */
  ensembleOf(task: AnyTask): Ensemble {
    const { model, costConfiguration } = this.options;
    return new Ensemble({ kernel: this.#kernel, model, costConfiguration, tasks: [task] });
  }

  /** Calls a function in a run. */
  async call(
    called: CalledFunction,
    options: RunOptions,
  ): Promise<{ readonly value: unknown; readonly output: EnsembleOutput }> {
    this.#caller ??= this.ensembleOf(
      new Task<unknown>({
        name: "target",
        description: "The function that is evaluated",
        template: false,
        handler: (context) => context.run.get(CALLED)(context),
      }),
    );
    const output = await this.#caller.run(
      {},
      { ...options, values: [...(options.values ?? []), runValue(CALLED, called)] },
    );
    return { value: output.taskOutputs[0]?.parsed, output };
  }

  /**
   * Calls a model in a run, with the purpose `judge`.
   * @throws ValidationError without a model; the error of the run.
   */
  async judge(
    request: JudgeRequest,
    options: RunOptions,
  ): Promise<{ readonly response: ChatResponse; readonly output: EnsembleOutput }> {
    this.#judge ??= this.ensembleOf(judgeTask(this.options.model));
    const output = await this.#judge.run(
      {},
      { ...options, values: [...(options.values ?? []), runValue(JUDGE_REQUEST, request)] },
    );
    // Written by the tool of `judgeTask`.
    return { response: JSON.parse(output.raw) as ChatResponse, output };
  }

  async dispose(): Promise<void> {
    await this.#kernel.dispose();
  }
}

/** A tool calls the model: tools have a gateway for all purposes. */
function judgeTask(byDefault: ModelRef | undefined): AnyTask {
  const handler = tool({
    name: "judge",
    description: "Calls the model of a judge",
    delegates: true,
    replay: "run",
    resume: "again",
    execute: async (_input, { scope }) => {
      const { request, model = byDefault } = scope.run.get(JUDGE_REQUEST);
      const called =
        model === undefined ? scope.run.find(Tokens.ChatModel) : scope.run.resolveModel(model);
      if (called === undefined)
        throw new ValidationError("A scorer calls a model, but the evaluation has no model", {
          hint: "Give the evaluation, or the scorer, a `model`.",
        });
      return JSON.stringify(await scope.chat(request, { purpose: "judge", model: called }));
    },
  });
  return new Task({
    name: "judge",
    description: "Judge an output",
    template: false,
    handler: handler as never, // a text tool, like every tool without an input schema
  });
}
