import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ChatRequest, ChatResponse, ModelRef } from "../contracts/chat-model.js";
import type { RunOptions } from "../contracts/run.js";
import type { NamedCase } from "./evaluation-case.js";
import type { AnyEvaluation } from "./evaluation-options.js";
import type {
  CaseResult,
  EvaluationProblem,
  TrialResult,
  TrialScore,
} from "./evaluation-result.js";
import type { DatasetScan } from "./datasets/dataset-scan.js";
import type { EvaluationKernel } from "./evaluation-kernel.js";
import type { Sample, Scorer } from "./scorer.js";
import type { TargetRunner } from "./targets/trial-run.js";
import type { TrialWay } from "./trial-way.js";
import { AgentEnsembleError } from "../contracts/errors.js";
import { BudgetExceededError } from "../contracts/state-errors.js";
import { TaskTimeoutError } from "../contracts/errors.js";
import { requestKey } from "../plugins/shared/request-key.js";
import { withTimeout } from "../util/abort/timeouts.js";
import { messageOf } from "../util/errors.js";
import { canonicalJson } from "../util/json/canonical.js";
import { scoreSample } from "./scored-sample.js";
import { runValue } from "../contracts/run-value.js";
import { TRIAL_SCOPE, type TrialScope } from "./recordings/trial-scope.js";
import { TrialRuns } from "./targets/trial-run.js";
import type { EvaluationTally } from "./evaluation-tally.js";

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_SCORER_TIMEOUT_MS = 60_000;

/** The shared settings of all trials of an evaluation. */
export interface TrialSettings {
  readonly options: AnyEvaluation;
  readonly kernel: EvaluationKernel;
  readonly runner: TargetRunner;
  readonly tally: EvaluationTally;
  readonly scan: DatasetScan;
  /** Cases of the baseline by id. */
  readonly baseline: ReadonlyMap<string, CaseResult> | undefined;
  readonly signal: AbortSignal;
  /** The run whose budget all runs use. Absent without a budget. */
  readonly parent: RunOptions["parent"];
}

/** A finished trial, or the reason why it is not a result of the target. */
export type EndedTrial =
  { readonly result: TrialResult } | { readonly ended: "budget" | "cancelled" };

/** The question to the model of simulated users. */
interface UserQuestion {
  readonly id: string;
  readonly instructions: string;
  readonly said: readonly string[];
  readonly runOptions: RunOptions;
}

/** Executes the trials of an evaluation, and scores their outputs. */
export class EvaluationRun {
  /** A hash of the common part of the ids of all trials. */
  #evaluation: Promise<string> | undefined;
  readonly #scopes = new WeakMap<NamedCase, TrialScope[]>();

  constructor(readonly settings: TrialSettings) {}

  async trial(one: NamedCase, trial: number): Promise<EndedTrial> {
    const id = await this.#idOf(one, trial);
    const runs = new TrialRuns();
    const began = performance.now();
    const performed = await this.#perform(one, trial, id, runs);
    const way = runs.way(performance.now() - began);
    this.settings.tally.spent("target", way.spending);
    if ("ended" in performed) return performed;
    const trace = await this.#saveTraces(runs);
    const saved = trace === undefined ? {} : { trace };
    if ("error" in performed)
      return { result: { trial, ...this.#failed(one, trial, performed.error), way, ...saved } };
    const { output } = performed;
    const sample = { ...this.#sampleOf(one, trial, way), output };
    const scores = await this.#scores(sample, id);
    if (scores === undefined) return { ended: "cancelled" };
    return { result: { trial, output, scores, way, ...saved } };
  }

  async #perform(
    one: NamedCase,
    trial: number,
    id: string,
    runs: TrialRuns,
  ): Promise<
    | { readonly output: unknown }
    | { readonly error: unknown }
    | { readonly ended: "budget" | "cancelled" }
  > {
    const { options, runner, signal } = this.settings;
    const ms = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    try {
      const output: unknown = await withTimeout(
        (ending) =>
          runner.perform(
            {
              ...{ case: one, trial, id, signal: ending },
              options: this.#runOptions(one, trial, ending),
              ask: (instructions, said) =>
                this.#ask({
                  ...{ id, instructions, said },
                  runOptions: this.#runOptions(one, trial, ending),
                }),
            },
            runs,
          ),
        {
          ms,
          signal,
          late: () => {
            throw new TaskTimeoutError(`The trial of case '${one.id}'`, ms);
          },
        },
      );
      return { output };
    } catch (error) {
      if (signal.aborted) return { ended: "cancelled" };
      if (this.#isOverBudget(error)) return { ended: "budget" };
      return { error };
    }
  }

  #failed(one: NamedCase, trial: number, error: unknown): Pick<TrialResult, "error" | "scores"> {
    const { options, tally } = this.settings;
    const message = messageOf(error);
    const code = AgentEnsembleError.isInstance(error) ? error.code : "AE_AGENT_EXECUTION";
    tally.problem({ kind: "target", code, message, caseId: one.id, trial });
    if (options.onTargetError !== "zero") return { error: message, scores: {} };
    const zero: TrialScore = { value: 0, passed: false, reason: "The target failed" };
    const scores = Object.fromEntries(options.scorers.map(({ name }) => [name, zero]));
    return { error: message, scores };
  }

  #sampleOf(one: NamedCase, trial: number, way: TrialWay): Omit<Sample, "output"> {
    const { input, expected } = one;
    const earlier = this.settings.baseline
      ?.get(one.id)
      ?.trials.find((before) => before.trial === trial);
    return {
      case: one,
      input,
      expected,
      trial,
      way,
      ...(earlier !== undefined && "output" in earlier && { baseline: { output: earlier.output } }),
    };
  }

  /** `undefined` after a cancellation. */
  async #scores(
    sample: Sample,
    id: string,
  ): Promise<Readonly<Record<string, TrialScore>> | undefined> {
    const { options, signal } = this.settings;
    try {
      const scored = await Promise.all(
        options.scorers.map((scorer) => this.#score(scorer, sample, id)),
      );
      return Object.fromEntries(scored);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #score(scorer: Scorer, sample: Sample, id: string): Promise<readonly [string, TrialScore]> {
    const { options, signal, tally } = this.settings;
    let calls: JudgeCalls | undefined;
    const scored = await scoreSample(scorer, sample, {
      timeoutMs: options.scorerTimeoutMs ?? DEFAULT_SCORER_TIMEOUT_MS,
      signal,
      embeddingModel: options.embeddingModel,
      chat: (request, { model, signal: ending }) => {
        calls ??= new JudgeCalls(this.settings, `${id}/${scorer.name}`);
        return calls.chat(request, model, this.#runOptions(sample.case, sample.trial, ending));
      },
    });
    if ("error" in scored) {
      const { error } = scored;
      const isOver = this.#isOverBudget(error);
      const problem: EvaluationProblem = {
        kind: isOver ? "budget" : error.kind,
        code: isOver ? "AE_BUDGET_EXCEEDED" : error.code,
        message: error.message,
        caseId: sample.case.id,
        trial: sample.trial,
        scorer: scorer.name,
      };
      tally.problem(problem);
    }
    return [scorer.name, scored.score];
  }

  #isOverBudget(error: unknown): boolean {
    return this.settings.parent !== undefined && BudgetExceededError.find(error) !== undefined;
  }

  /** Asks the model of simulated users for the next message of the user. */
  async #ask({ id, instructions, said, runOptions }: UserQuestion): Promise<string> {
    const conversation = said.map((content, i) =>
      i % 2 === 0
        ? ({ role: "assistant", content } as const)
        : ({ role: "user", content } as const),
    );
    const first = { role: "user", content: "Write the first message." } as const;
    const calls = new JudgeCalls(this.settings, `${id}/user/${said.length}`);
    const messages = [{ role: "system", content: instructions } as const, first, ...conversation];
    return (await calls.chat({ messages }, undefined, runOptions)).message.content;
  }

  /** Returns one object for all runs of a trial. */
  #scopeOf(one: NamedCase, trial: number): TrialScope {
    const scopes = this.#scopes.get(one) ?? [];
    this.#scopes.set(one, scopes);
    return (scopes[trial] ??= { trial });
  }

  #runOptions(one: NamedCase, trial: number, signal: AbortSignal): RunOptions {
    const { options, parent } = this.settings;
    return {
      signal,
      values: [runValue(TRIAL_SCOPE, this.#scopeOf(one, trial))],
      tags: { evaluation: options.name, case: one.id, trial: String(trial) },
      captureMode: options.captureMode ?? "STANDARD",
      ...(parent !== undefined && { parent }),
    };
  }

  /**
   * Returns an id that is equal for the same dataset, case, trial and version of the target. The
   * id does not depend on the selection of cases. A journal recognises the run by this id.
   */
  async #idOf(one: NamedCase, trial: number): Promise<string> {
    const { options, scan, runner } = this.settings;
    this.#evaluation ??= (async () => {
      const version = options.version ?? (await this.#fingerprint(runner, scan.first.input));
      return digest([options.name, version, scan.hash]);
    })();
    return `ev-${digest([await this.#evaluation, one.id, trial])}`;
  }

  async #fingerprint(runner: TargetRunner, input: unknown): Promise<string> {
    try {
      return (await runner.fingerprint?.(input)) ?? "";
    } catch {
      return ""; // the run fails with the same error
    }
  }

  async #saveTraces(runs: TrialRuns): Promise<string | undefined> {
    const { traces } = this.settings.options;
    if (traces === undefined) return undefined;
    let last: string | undefined;
    for (const { runId, trace } of runs.outputs) {
      last = join(traces, `${runId}.trace.json`);
      await trace.save(last);
    }
    return last;
  }
}

/** The model calls of one score. Each call is a run. Its id depends on its content. */
class JudgeCalls {
  readonly #made = new Map<string, number>();

  constructor(
    readonly settings: TrialSettings,
    readonly scope: string,
  ) {}

  async chat(
    request: ChatRequest,
    model: ModelRef | undefined,
    options: RunOptions,
  ): Promise<ChatResponse> {
    const { kernel, tally } = this.settings;
    const runs = new TrialRuns();
    const key = requestKey(request, { provider: "", modelId: modelName(model) });
    const count = (this.#made.get(key) ?? 0) + 1; // votes repeat the same request
    this.#made.set(key, count);
    const runId = `ej-${digest([this.scope, key, count])}`;
    try {
      let response: ChatResponse | undefined;
      await runs.of(
        kernel
          .judge({ request, model }, { ...options, captureMode: "OFF", runId })
          .then((judged) => {
            ({ response } = judged);
            return judged.output;
          }),
      );
      return response as unknown as ChatResponse; // set above
    } finally {
      for (const output of runs.outputs) tally.spentBy("judges", output.metrics.ledger);
    }
  }
}

function modelName(model: ModelRef | undefined): string {
  return typeof model === "object" ? `${model.provider}:${model.modelId}` : (model ?? "");
}

function digest(parts: readonly unknown[]): string {
  return createHash("sha256").update(canonicalJson(parts)).digest("hex").slice(0, 32);
}
