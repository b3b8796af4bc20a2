import { resolve } from "node:path";
import type {
  Evaluation,
  EvaluationChanges,
  EvaluationProgress,
  EvaluationResult,
} from "../evals.js";
import type { OutputTerminal } from "./terminal.js";
import { EVALUATION } from "../contracts/command-line.js";
import { ValidationError } from "../contracts/errors.js";
import { knownNames, preview } from "../contracts/validation.js";
import { readableDuration } from "../plugins/observability/console/terminal-text.js";
import { writeFileAtomically } from "../util/files/atomic-write.js";
import { requireUsableFile } from "../util/files/usable-file.js";
import { messageOf } from "../util/errors.js";
import { asFields } from "../util/objects.js";
import { ExitCode } from "./exit-codes.js";
import { interruptible } from "./interruption.js";
import { loadDefault } from "./load-ensemble.js";

/** Options of `agentensemble eval`. */
export interface EvalArguments {
  readonly baseline?: string | undefined;
  readonly allowDatasetChange?: boolean | undefined;
  readonly failUnder?: readonly string[] | undefined;
  readonly failOnRegression?: boolean | undefined;
  readonly trials?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly seed?: string | undefined;
  readonly case?: readonly string[] | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly sample?: string | undefined;
  readonly maxCost?: string | undefined;
  readonly maxTokens?: string | undefined;
  readonly traces?: string | undefined;
  readonly out?: string | undefined;
  readonly junit?: string | undefined;
  readonly markdown?: string | undefined;
  readonly html?: string | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/** A mean that a scorer must reach. */
interface Threshold {
  readonly scorer: string;
  readonly least: number;
}

/** Minimum interval of progress lines. */
const PROGRESS_MS = 500;

/** `agentensemble eval <file>`: evaluates, reports, and sets the exit code by the result. */
export async function evalCommand(
  file: string,
  o: EvalArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const thresholds = thresholdsOf(o.failUnder ?? []);
  const changes = changesOf(o);
  if (o.failOnRegression === true && o.baseline === undefined)
    throw new ValidationError("--fail-on-regression needs --baseline");
  if (o.allowDatasetChange === true && o.baseline === undefined)
    throw new ValidationError("--allow-dataset-change needs --baseline");
  checkReportFiles(o);
  terminal.keepOutputForResults();
  const evaluation = await loadEvaluation(file);
  const { readEvaluation } = await import("../evals.js");
  const baseline = o.baseline === undefined ? undefined : await readEvaluation(o.baseline);
  const end = new AbortController();
  const result = await interruptible(
    evaluation.run({
      ...changes,
      ...(baseline !== undefined && { baseline }),
      ...(o.allowDatasetChange === true && { onDatasetChange: "compare" as const }),
      signal: end.signal,
      ...(o.quiet !== true && o.json !== true && { onProgress: progressOf(terminal) }),
    }),
    (signal) => {
      void terminal.message(`${signal}: the evaluation ends. Again to stop at once.`);
      end.abort(new Error(signal));
    },
  );
  checkThresholdNames(thresholds, result);
  await writeReports(result, baseline, o, terminal);
  const complaints = complaintsOf(result, thresholds, o);
  for (const complaint of complaints) await terminal.message(complaint);
  if (result.status === "cancelled") return ExitCode.CANCELLED;
  if (result.problemCount > 0) return ExitCode.INCOMPLETE;
  return complaints.length > 0 ? ExitCode.FAILED : ExitCode.OK;
}

/**
 * @throws ValidationError for a report that can't be written, before the evaluation causes costs.
 */
function checkReportFiles(o: EvalArguments): void {
  for (const option of ["out", "junit", "markdown", "html"] as const) {
    try {
      if (o[option] !== undefined) requireUsableFile(resolve(o[option]));
    } catch (cause) {
      throw new ValidationError(`--${option} can't be written: ${messageOf(cause)}`, {
        cause,
        hint: "Name a file in a folder that can be written. Missing folders are created.",
      });
    }
  }
}

/** Writes the requested files, and the result to standard output. */
async function writeReports(
  result: EvaluationResult,
  baseline: EvaluationResult | undefined,
  { out, junit, markdown, html, json }: EvalArguments,
  terminal: OutputTerminal,
): Promise<void> {
  const reports = await import("../evals.js");
  const whole = reports.evaluationJson(result);
  if (out !== undefined) await writeFileAtomically(out, [whole]);
  if (junit !== undefined) await writeFileAtomically(junit, [reports.junitReport(result)]);
  if (markdown !== undefined) await writeFileAtomically(markdown, [reports.markdownReport(result)]);
  if (html !== undefined)
    await writeFileAtomically(html, [await reports.htmlReport(result, { baseline, path: html })]);
  if (json === true) return terminal.text(whole);
  const colour = terminal.paint("bold", "x") !== "x";
  return terminal.modelText(reports.textReport(result, { colour }));
}

/** Returns the evaluation that a file default-exports. @throws ValidationError */
async function loadEvaluation(file: string): Promise<Evaluation> {
  const { value } = await loadDefault(file);
  const isEvaluation = (value as { readonly [EVALUATION]?: unknown } | undefined)?.[EVALUATION];
  if (isEvaluation === true && typeof asFields(value)?.["run"] === "function")
    return value as Evaluation; // created by defineEvaluation of any copy of the package
  throw new ValidationError(
    `The default export of ${preview(file)} must be an evaluation, got: ${preview(value)}`,
    {
      hint: "End the file with: export default defineEvaluation({ name, target, dataset, scorers })",
    },
  );
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new ValidationError(`${option} must be a number, got: ${preview(text)}`);
}

function changesOf(o: EvalArguments): EvaluationChanges {
  const [trials, concurrency] = [
    numberOf("--trials", o.trials),
    numberOf("--concurrency", o.concurrency),
  ];
  const [seed, sample] = [numberOf("--seed", o.seed), numberOf("--sample", o.sample)];
  const maxCost = numberOf("--max-cost", o.maxCost);
  const maxTokens = numberOf("--max-tokens", o.maxTokens);
  const isSelected = o.case !== undefined || o.tag !== undefined || sample !== undefined;
  return {
    ...(trials !== undefined && { trials }),
    ...(concurrency !== undefined && { concurrency }),
    ...(seed !== undefined && { seed }),
    ...(isSelected && { only: { ids: o.case, tags: o.tag, sample } }),
    ...((maxCost !== undefined || maxTokens !== undefined) && { budget: { maxCost, maxTokens } }),
    ...(o.traces !== undefined && { traces: o.traces }),
  };
}

/** Parses thresholds of the form `accuracy=0.9`. @throws ValidationError */
function thresholdsOf(given: readonly string[]): readonly Threshold[] {
  return given.map((text) => {
    const at = text.lastIndexOf("=");
    const least = at < 1 ? undefined : numberOf("--fail-under", text.slice(at + 1));
    if (least !== undefined && least >= 0 && least <= 1)
      return { scorer: text.slice(0, at), least };
    throw new ValidationError(`--fail-under must be scorer=0.9, got: ${preview(text)}`);
  });
}

function checkThresholdNames(thresholds: readonly Threshold[], { scores }: EvaluationResult): void {
  const names = scores.map(({ scorer }) => scorer);
  for (const { scorer } of thresholds)
    if (!names.includes(scorer))
      throw new ValidationError(
        `--fail-under: there is no scorer '${preview(scorer)}'. ${knownNames(scorer, names)}`,
      );
}

function complaintsOf(
  { scores, comparison }: EvaluationResult,
  thresholds: readonly Threshold[],
  { failOnRegression }: EvalArguments,
): readonly string[] {
  const low = thresholds.flatMap(({ scorer, least }) => {
    const mean = scores.find((one) => one.scorer === scorer)?.mean;
    if (mean !== undefined && mean >= least) return [];
    return [
      `${scorer} is ${mean === undefined ? "without a score" : mean.toFixed(4)}, under ${least}`,
    ];
  });
  const worse =
    failOnRegression === true && comparison?.verdict === "worse"
      ? ["The evaluation is worse than the baseline"]
      : [];
  return [...low, ...worse];
}

/** Prints the progress of the evaluation. */
function progressOf(terminal: OutputTerminal): (progress: EvaluationProgress) => void {
  let shown = Number.NEGATIVE_INFINITY;
  return ({ done, total, errors, elapsedMs, remainingMs, cost }) => {
    if (elapsedMs - shown < PROGRESS_MS && done < total) return;
    shown = elapsedMs;
    const left =
      remainingMs === undefined || done === total ? "" : `, ${readableDuration(remainingMs)} left`;
    const failed = errors === 0 ? "" : `, ${errors} problems`;
    const spent = cost === undefined ? "" : `, cost ${cost.toFixed(4)}`;
    void terminal.message(`${done} of ${total} trials${left}${failed}${spent}`);
  };
}
