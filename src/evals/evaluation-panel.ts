import type { Plugin } from "../contracts/plugin.js";
import type { CaseResult, EvaluationResult, TrialResult } from "./evaluation-result.js";
import { definePlugin } from "../contracts/plugin.js";
import { Tokens } from "../contracts/tokens.js";
import { ValidationError } from "../contracts/errors.js";
import { preview, requireArray, requireText } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";
import { readEvaluation } from "./baseline.js";
import { cell, markdownReport, markdownTable } from "./reports/markdown-report.js";
import { percent } from "./reports/report-values.js";

/**
 * Creates a panel that shows evaluations in the dashboard. The view "Evaluation" of a trial's run
 * shows the scores of its case and the report of its evaluation. The view of any other run shows
 * the reports of all files. The files contain the JSON of `agentensemble eval --out`. They are read
 * when the view is opened.
 *
 * @throws ValidationError for an empty list or a blank path.
 */
export function evaluationPanel(files: readonly string[]): Plugin {
  requireArray("evaluationPanel() files", files);
  if (files.length === 0) throw new ValidationError("evaluationPanel() files must name a file");
  for (const file of files)
    requireText(file, `evaluationPanel() files must be paths, got: ${preview(file)}`);
  return definePlugin({
    name: "evaluation-panel",
    bind(bind) {
      bind.many(Tokens.DashboardPanel).toConstantValue({
        name: "evaluation",
        title: "Evaluation",
        view: "markdown",
        read: (runId) => panelText(files, runId),
      });
    },
  });
}

async function panelText(files: readonly string[], runId: string): Promise<string> {
  const reports: string[] = [];
  for (const file of files) {
    try {
      const result = await readEvaluation(file);
      const found = trialOf(result, runId);
      if (found !== undefined)
        return `${trialText(found.one, found.trial)}\n\n${markdownReport(result)}`;
      reports.push(markdownReport(result));
    } catch (error) {
      reports.push(cell(messageOf(error)));
    }
  }
  return reports.join("\n\n");
}

function trialOf(
  { cases }: EvaluationResult,
  runId: string,
): { readonly one: CaseResult; readonly trial: TrialResult } | undefined {
  for (const one of cases)
    for (const trial of one.trials) if (trial.way.runIds.includes(runId)) return { one, trial };
  return undefined;
}

function trialText({ id }: CaseResult, { trial, error, scores }: TrialResult): string {
  const rows = Object.entries(scores).map(([scorer, score]) => [
    cell(scorer),
    percent(score.value),
    cell(score.error ?? score.reason ?? ""),
  ]);
  return [
    `## Case ${cell(id)}, trial ${trial}`,
    ...(error === undefined ? [] : [cell(error)]),
    markdownTable(["scorer", "score", "why"], rows),
  ].join("\n\n");
}
