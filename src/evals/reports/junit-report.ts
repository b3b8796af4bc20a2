import type { CaseResult, EvaluationResult } from "../evaluation-result.js";
import { meanOfCase, reasonOfCase } from "./report-values.js";
import { problemText } from "./text-report.js";

/** Characters that XML 1.0 can't contain. */
const FORBIDDEN =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/**
 * Formats the result as JUnit XML, with a suite for each scorer and a test for each case. If a
 * problem ended the evaluation, it becomes a suite without cases.
 */
export function junitReport(result: EvaluationResult): string {
  const suites = result.scores.map(({ scorer, passAt }) => suiteOf(result, scorer, passAt));
  const general = result.problems.filter(({ caseId }) => caseId === undefined);
  const tests = suites.reduce((sum, suite) => sum + suite.tests, general.length);
  const failures = suites.reduce((sum, suite) => sum + suite.failures, 0);
  const errors = suites.reduce((sum, suite) => sum + suite.errors, general.length);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(result.name)}" tests="${tests}" failures="${failures}" errors="${errors}" time="${seconds(result.durationMs)}">`,
    ...suites.map(({ text }) => text),
    ...(general.length === 0
      ? []
      : [
          `<testsuite name="evaluation" tests="${general.length}" failures="0" errors="${general.length}">`,
          ...general.map(
            (one) =>
              `<testcase classname="${xml(result.name)}" name="${xml(one.kind)}"><error message="${xml(problemText(one))}"/></testcase>`,
          ),
          "</testsuite>",
        ]),
    "</testsuites>",
    "",
  ].join("\n");
}

function suiteOf(
  { name, cases }: EvaluationResult,
  scorer: string,
  passAt: number,
): {
  readonly text: string;
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
} {
  let [failures, errors] = [0, 0];
  const tests = cases.map((one) => {
    const inside = (): string => {
      const reason = xml(reasonOfCase(one, scorer));
      if (hasError(one, scorer)) {
        errors++;
        return `<error message="${reason}"/>`;
      }
      const mean = meanOfCase(one, scorer);
      if (mean === undefined) return "<skipped/>";
      if (mean >= passAt) return "";
      failures++;
      return `<failure message="${xml(mean.toFixed(3))}, passes at ${passAt}: ${reason}"/>`;
    };
    const ms = one.trials.reduce((sum, { way }) => sum + way.durationMs, 0);
    return `<testcase classname="${xml(`${name}.${scorer}`)}" name="${xml(one.id)}" time="${seconds(ms)}">${inside()}</testcase>`;
  });
  const head = `<testsuite name="${xml(scorer)}" tests="${cases.length}" failures="${failures}" errors="${errors}">`;
  return {
    ...{ tests: cases.length, failures, errors },
    text: [head, ...tests, "</testsuite>"].join("\n"),
  };
}

function hasError({ trials }: CaseResult, scorer: string): boolean {
  return trials.some(
    ({ error, scores }) =>
      scores[scorer]?.error !== undefined || (error !== undefined && scores[scorer] === undefined),
  );
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function xml(text: string): string {
  return text.replace(FORBIDDEN, "\uFFFD").replace(/[&<>"\n]/g, (char) => ENTITIES[char] ?? char);
}
