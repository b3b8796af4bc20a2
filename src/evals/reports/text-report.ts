import type { EvaluationResult } from "../evaluation-result.js";
import { textTable } from "../../plugins/observability/console/summary-table.js";
import { painter } from "../../plugins/observability/console/terminal-text.js";
import { printableLine } from "../../util/printable.js";
import {
  casePasses,
  headLines,
  intervalText,
  percent,
  probability,
  reasonOfCase,
  signedPercent,
} from "./report-values.js";

const WIDEST = 60;
const MOST_CASES = 10;

/** Formats the result as text for a terminal. */
export function textReport(
  result: EvaluationResult,
  { colour = false }: { readonly colour?: boolean | undefined } = {},
): string {
  const paint = painter(colour);
  const lines = [
    paint("bold", printableLine(result.name, WIDEST)),
    ...headLines(result).map(([name, text]) => `  ${name.padEnd(8)} ${printableLine(text)}`),
    "",
    ...table(
      ["Scorer", "Cases", "Mean", "95 %".replace("95", confidenceOf(result)), "Passed", "Errors"],
      result.scores.map((score) => [
        printableLine(score.scorer, WIDEST),
        String(score.cases),
        percent(score.mean),
        intervalText(score.interval),
        percent(score.passRate),
        String(score.errors),
      ]),
    ),
    ...trialLines(result),
    ...comparisonLines(result),
    ...failedLines(result),
    ...result.problems
      .slice(0, MOST_CASES)
      .map((problem) => paint("red", `! ${printableLine(problemText(problem), 200)}`)),
    ...more(result.problemCount - MOST_CASES, "problems"),
  ];
  return `${lines.join("\n")}\n`;
}

function confidenceOf({ scores }: EvaluationResult): string {
  const interval = scores.find((score) => score.interval !== undefined)?.interval;
  return String(Math.round((interval?.confidence ?? 0.95) * 1000) / 10);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return textTable(head, [...rows, []], 1).slice(0, -2);
}

function more(count: number, what: string): readonly string[] {
  return count > 0 ? [`  and ${count} more ${what}`] : [];
}

function trialLines({ scores, trials }: EvaluationResult): readonly string[] {
  if (trials === 1) return [];
  return [
    "",
    ...table(
      ["Scorer", "pass@1", `pass@${trials}`, `pass^${trials}`],
      scores.map(({ scorer, passAtK, passHatK }) => [
        printableLine(scorer, WIDEST),
        percent(passAtK[0]),
        percent(passAtK[trials - 1]),
        percent(passHatK[trials - 1]),
      ]),
    ),
  ];
}

function comparisonLines({ comparison }: EvaluationResult): readonly string[] {
  if (comparison === undefined) return [];
  const head = [
    "Scorer",
    "Difference",
    "Interval",
    "Better",
    "Worse",
    "Sign test",
    "Detectable",
    "Verdict",
  ];
  const rows = comparison.scorers.map((one) => [
    printableLine(one.scorer, WIDEST),
    signedPercent(one.difference),
    `${signedPercent(one.interval.low)} to ${signedPercent(one.interval.high)}`,
    ...[String(one.better.length), String(one.worse.length), probability(one.signTest)],
    one.detectableDifference === undefined ? "-" : percent(one.detectableDifference),
    one.verdict,
  ]);
  return ["", ...table(head, rows)];
}

function failedLines(result: EvaluationResult): readonly string[] {
  const failed = result.cases.filter((one) => casePasses(one) === false);
  if (failed.length === 0) return [];
  const shown = failed.slice(0, MOST_CASES).map((one) => {
    const reasons = result.scores.map(({ scorer }) => reasonOfCase(one, scorer)).filter(Boolean);
    return `  ${printableLine(one.id, 40)}: ${printableLine([...new Set(reasons)].join("; "), 120)}`;
  });
  return ["", "Cases that do not pass:", ...shown, ...more(failed.length - MOST_CASES, "cases")];
}

/** Formats a problem as one line. */
export function problemText({
  kind,
  message,
  caseId,
  trial,
  scorer,
}: EvaluationResult["problems"][number]): string {
  const place = [
    ...(scorer === undefined ? [] : [`scorer ${scorer}`]),
    ...(caseId === undefined ? [] : [`case ${caseId}`]),
    ...(trial === undefined ? [] : [`trial ${trial}`]),
  ].join(", ");
  return `${kind}${place === "" ? "" : ` (${place})`}: ${message}`;
}
