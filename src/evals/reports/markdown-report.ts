import type { EvaluationResult } from "../evaluation-result.js";
import { printableLine } from "../../util/printable.js";
import {
  casePasses,
  changedCases,
  headLines,
  intervalText,
  meanOfCase,
  percent,
  probability,
  reasonOfCase,
  signedPercent,
} from "./report-values.js";
import { problemText } from "./text-report.js";

const MOST_ROWS = 20;

/** Formats the result as Markdown, for a pull request. Texts of models are escaped. */
export function markdownReport(result: EvaluationResult): string {
  const { comparison, scores, problems, problemCount } = result;
  const parts = [
    `## Evaluation: ${cell(result.name)}`,
    headLines(result)
      .map(([name, text]) => `- ${name}: ${cell(text)}`)
      .join("\n"),
    markdownTable(
      ["scorer", "mean", "interval", "passed", "errors"],
      scores.map((score) => [
        cell(score.scorer),
        percent(score.mean),
        intervalText(score.interval),
        percent(score.passRate),
        String(score.errors),
      ]),
    ),
    ...(comparison === undefined
      ? []
      : [
          `### Compared with ${cell(comparison.baseline.name)}: ${comparison.verdict}`,
          markdownTable(
            ["scorer", "difference", "interval", "better", "worse", "sign test", "verdict"],
            comparison.scorers.map((one) => [
              cell(one.scorer),
              signedPercent(one.difference),
              `${signedPercent(one.interval.low)} to ${signedPercent(one.interval.high)}`,
              ...[String(one.better.length), String(one.worse.length), probability(one.signTest)],
              one.verdict,
            ]),
          ),
        ]),
    ...changesList(result),
    ...failedTable(result),
    ...(problems.length === 0
      ? []
      : [
          `### Problems: ${problemCount}`,
          problems
            .slice(0, MOST_ROWS)
            .map((one) => `- ${cell(problemText(one))}`)
            .join("\n"),
        ]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Formats the cases that were added, removed or changed since the baseline. */
function changesList(result: EvaluationResult): readonly string[] {
  const changes = changedCases(result);
  if (changes.length === 0) return [];
  const lines = changes.map(([kind, ids]) => {
    const left = ids.length - MOST_ROWS;
    const named = ids.slice(0, MOST_ROWS).map(cell).join(", ");
    return `- ${kind}: ${named}${left > 0 ? ` and ${left} more` : ""}`;
  });
  return ["### Changes of the dataset", lines.join("\n")];
}

function failedTable(result: EvaluationResult): readonly string[] {
  const failed = result.cases.filter((one) => casePasses(one) === false);
  if (failed.length === 0) return [];
  const rows = failed.slice(0, MOST_ROWS).map((one) => [
    cell(one.id),
    ...result.scores.map(({ scorer }) => percent(meanOfCase(one, scorer))),
    cell(
      result.scores
        .map(({ scorer }) => reasonOfCase(one, scorer))
        .filter(Boolean)
        .join("; "),
    ),
  ]);
  const left = failed.length - MOST_ROWS;
  return [
    `### Cases that do not pass: ${failed.length}`,
    markdownTable(["case", ...result.scores.map(({ scorer }) => cell(scorer)), "why"], rows),
    ...(left > 0 ? [`and ${left} more`] : []),
  ];
}

/** Formats a table in Markdown. Its cells must already be escaped. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Escapes a text of one line for Markdown and HTML. */
export function cell(text: string): string {
  return printableLine(text, 200).replace(/[\\`*_{}[\]<>()#|~!&@]/g, (char) =>
    char === "@" ? "@\u200B" : `&#${char.charCodeAt(0)};`,
  );
}
