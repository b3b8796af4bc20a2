import type { AnyEvaluation } from "./evaluation-options.js";
import type { Scorer } from "./scorer.js";
import { checkModel } from "../contracts/agent.js";
import { checkCostConfiguration } from "../contracts/cost.js";
import { ValidationError } from "../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
  requireFunction,
  requireInteger,
  requireOneOf,
  requireText,
} from "../contracts/validation.js";

const OPTION_NAMES = [
  ...["name", "target", "dataset", "scorers", "trials", "concurrency", "budget", "baseline"],
  "onDatasetChange",
  ...["only", "seed", "confidence", "minDifference", "model", "embeddingModel", "plugins"],
  ...["costConfiguration", "timeoutMs", "scorerTimeoutMs", "onTargetError", "version"],
  ...["captureMode", "traces", "keepCases", "onProgress", "signal"],
];
const MOST_TRIALS = 100;
const MOST_SEEDS = 0xffff_ffff;

/** Refuses invalid options. @throws ValidationError */
export function checkEvaluateOptions(o: AnyEvaluation): void {
  checkOptions("evaluate()", o, OPTION_NAMES);
  requireText(o.name, `evaluate() name must be a text, got: ${preview(o.name)}`);
  checkScorers(o.scorers);
  requireInteger("evaluate() trials", o.trials, 1);
  if ((o.trials ?? 1) > MOST_TRIALS)
    throw new ValidationError(`evaluate() trials must be at most ${MOST_TRIALS}, got: ${o.trials}`);
  requireInteger("evaluate() concurrency", o.concurrency, 1);
  requireInteger("evaluate() seed", o.seed, 0);
  if ((o.seed ?? 0) > MOST_SEEDS)
    throw new ValidationError(`evaluate() seed must be at most ${MOST_SEEDS}, got: ${o.seed}`);
  requireFraction("confidence", o.confidence);
  requireFraction("minDifference", o.minDifference);
  checkModel("evaluate() model", o.model);
  requireArray("evaluate() plugins", o.plugins);
  checkCostConfiguration("evaluate() costConfiguration", o.costConfiguration);
  requireDuration("evaluate() timeoutMs", o.timeoutMs);
  requireDuration("evaluate() scorerTimeoutMs", o.scorerTimeoutMs);
  requireOneOf("evaluate() onTargetError", o.onTargetError, ["error", "zero"]);
  requireOneOf("evaluate() onDatasetChange", o.onDatasetChange, ["refuse", "compare"]);
  requireInteger("evaluate() keepCases", o.keepCases, 0);
  requireFunction("evaluate() onProgress", o.onProgress);
  for (const name of ["version", "traces"] as const)
    if (o[name] !== undefined)
      requireText(o[name], `evaluate() ${name} must be a text, got: ${preview(o[name])}`);
  checkSelection(o.only);
  checkEvaluationBudget(o);
}

function requireFraction(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value > 0 && value < 1)) return;
  throw new ValidationError(
    `evaluate() ${name} must be a number above 0 and below 1, got: ${preview(value)}`,
  );
}

function checkScorers(scorers: unknown): void {
  if (!Array.isArray(scorers) || scorers.length === 0)
    throw new ValidationError(
      `evaluate() scorers must be a list of at least one, got: ${preview(scorers)}`,
    );
  const names = new Set<string>();
  for (const scorer of scorers as readonly Scorer[]) {
    if (typeof scorer !== "function")
      throw new ValidationError(`evaluate() scorers must be functions, got: ${preview(scorer)}`);
    if (scorer.name === "")
      throw new ValidationError("evaluate() scorers has a function without a name", {
        hint: 'Name it: scorer("politeness", ({ output }) => ...).',
      });
    if (names.has(scorer.name))
      throw new ValidationError(`evaluate() scorers has two with the name '${scorer.name}'`, {
        hint: "Give one of them another `name`.",
      });
    names.add(scorer.name);
  }
}

function checkSelection(only: unknown): void {
  if (only === undefined) return;
  checkOptions("evaluate() only", only, ["ids", "tags", "sample"]);
  const { ids, tags, sample } = only as Readonly<Record<string, unknown>>;
  requireArray("evaluate() only.ids", ids);
  requireArray("evaluate() only.tags", tags);
  requireInteger("evaluate() only.sample", sample, 1);
}

function checkEvaluationBudget({ budget, costConfiguration }: AnyEvaluation): void {
  if (budget === undefined) return;
  checkOptions("evaluate() budget", budget, ["maxTokens", "maxCost", "maxDurationMs"]);
  if (budget.maxCost !== undefined && costConfiguration === undefined)
    throw new ValidationError("evaluate() budget.maxCost needs costConfiguration");
}
