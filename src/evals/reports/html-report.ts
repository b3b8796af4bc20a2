import { createHash } from "node:crypto";
import { dirname, relative, resolve } from "node:path";
import type { CaseResult, EvaluationResult, TrialResult } from "../evaluation-result.js";
import type { TrialWay } from "../trial-way.js";
import type { diffLines as DiffLinesFunction } from "../../plugins/tools/shared/line-diff.js";
import { excerpt } from "../../util/text.js";
import { textOfOutput } from "./output-text.js";
import { REPORT_STYLE } from "./report-style.js";
import {
  casePasses,
  changedCases,
  headLines,
  intervalText,
  meanOfCase,
  percent,
  probability,
  signedPercent,
} from "./report-values.js";
import { problemText } from "./text-report.js";

/** Options of `htmlReport`. */
export interface HtmlReportOptions {
  /**
   * An evaluation whose outputs and conversations are shown next to the result's. Default: none.
   */
  readonly baseline?: EvaluationResult | undefined;
  /**
   * The path of the page's file. Links to traces are relative to it. Default: the current folder.
   */
  readonly path?: string | undefined;
  /** Limit of the number of cases on the page. Cases that do not pass come first. Default 1,000. */
  readonly maxCases?: number | undefined;
}

const MOST_CASES = 1_000;
/** Maximum number of characters of a message or an output. */
const LONGEST_TEXT = 20_000;

type DiffLines = typeof DiffLinesFunction;

/**
 * Formats the result as one page without scripts and requests. The page contains the scores with
 * their intervals, the comparison, the problems, and links to traces. It shows each case with its
 * differences, and both conversations next to each other.
 */
export async function htmlReport(
  result: EvaluationResult,
  { baseline, path = "report.html", maxCases = MOST_CASES }: HtmlReportOptions = {},
): Promise<string> {
  const { diffLines } = await import("../../plugins/tools/shared/line-diff.js"); // loads a package
  const folder = dirname(resolve(path));
  const earlier = new Map(baseline?.cases.map((one) => [one.id, one]));
  const ranked = [...result.cases].sort((a, b) => failedFirst(a) - failedFirst(b));
  const writer = new CaseWriter(result, folder, diffLines);
  const left = result.dataset.selected - Math.min(ranked.length, maxCases);
  const style = createHash("sha256").update(REPORT_STYLE).digest("base64");
  const body = [
    `<h1>${html(result.name)}</h1>`,
    `<p class="when">${html(result.startedAt)}</p>`,
    `<dl>${headLines(result)
      .map(([name, text]) => `<dt>${html(name)}</dt><dd>${html(text)}</dd>`)
      .join("")}</dl>`,
    scoresTable(result),
    comparisonTable(result),
    changesSection(result, earlier),
    problemList(result),
    '<h2>Cases</h2><p><label><input type="checkbox" id="failed"> Only cases that do not pass</label></p>',
    ...ranked.slice(0, maxCases).map((one) => writer.write(one, earlier.get(one.id))),
    left > 0 ? `<p>${left} more cases are not on this page.</p>` : "",
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>${html(result.name)}</title>
<style>${REPORT_STYLE}</style></head>
<body><main>
${body.join("\n")}
</main></body></html>
`;
}

function failedFirst(one: CaseResult): number {
  return casePasses(one) === false ? 0 : 1;
}

/** Escapes text for HTML, also within attributes in double quotes. */
function html(text: string): string {
  return text
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u202A-\u202E\u2066-\u2069]/g, "\uFFFD");
}

function shownText(text: string): string {
  return html(excerpt(text, LONGEST_TEXT));
}

function row(cells: readonly string[], tag = "td"): string {
  return `<tr>${cells.map((one) => `<${tag}>${one}</${tag}>`).join("")}</tr>`;
}

function pageTable(head: readonly string[], rows: readonly string[]): string {
  return `<div class="wide"><table><thead>${row(head, "th")}</thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/**
 * Formats the interval as a bar. The bar is an image, because the policy of the page forbids inline
 * styles.
 */
function bar(mean: number | undefined, low: number, high: number): string {
  const x = (value: number): string => (value * 100).toFixed(1);
  const width = x(Math.max(high - low, 0.004));
  return `<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${x(low)} to ${x(high)} percent"><rect class="range" x="${x(low)}" y="3" width="${width}" height="4"/><rect class="mean" x="${x(Math.min(mean ?? 0, 0.99))}" y="0" width="1" height="10"/></svg>`;
}

function scoresTable({ scores, trials }: EvaluationResult): string {
  const head = [
    "Scorer",
    "Mean",
    "",
    "Interval",
    "Passed",
    ...(trials > 1 ? [`pass@${trials}`, `pass^${trials}`] : []),
    "Errors",
  ];
  const rows = scores.map((one) =>
    row([
      html(one.scorer),
      percent(one.mean),
      one.interval === undefined ? "" : bar(one.mean, one.interval.low, one.interval.high),
      intervalText(one.interval),
      percent(one.passRate),
      ...(trials > 1 ? [percent(one.passAtK[trials - 1]), percent(one.passHatK[trials - 1])] : []),
      one.errors === 0 ? "0" : `<b class="bad">${one.errors}</b>`,
    ]),
  );
  return `<h2>Scores</h2>${pageTable(head, rows)}`;
}

function comparisonTable({ comparison }: EvaluationResult): string {
  if (comparison === undefined) return "";
  const head = [
    "Scorer",
    "Baseline",
    "Difference",
    "Interval",
    "Better",
    "Worse",
    "Sign test",
    "Detectable",
    "Verdict",
  ];
  const rows = comparison.scorers.map((one) =>
    row([
      html(one.scorer),
      percent(one.baselineMean),
      signedPercent(one.difference),
      `${signedPercent(one.interval.low)} to ${signedPercent(one.interval.high)}`,
      ...[String(one.better.length), String(one.worse.length), html(probability(one.signTest))],
      percent(one.detectableDifference),
      verdictTag(one.verdict),
    ]),
  );
  return `<h2>Compared with the baseline: ${verdictTag(comparison.verdict)}</h2>${pageTable(head, rows)}`;
}

/**
 * Formats the cases that were added, removed or changed since the baseline. The report lists
 * removed cases only here.
 */
function changesSection(
  result: EvaluationResult,
  earlier: ReadonlyMap<string, CaseResult>,
): string {
  const changes = changedCases(result);
  if (changes.length === 0) return "";
  const lists = changes.map(([kind, ids]) => {
    const items = ids.slice(0, MOST_CASES).map((id) => {
      const before = kind === "removed" ? earlier.get(id) : undefined;
      const input =
        before === undefined ? "" : `<pre>${shownText(textOfOutput(before.input))}</pre>`;
      return `<li>${html(id)}${input}</li>`;
    });
    const left = ids.length - items.length;
    const more = left > 0 ? `<li>${left} more</li>` : "";
    return `<details><summary>${html(kind)}: ${ids.length}</summary><ul>${items.join("")}${more}</ul></details>`;
  });
  return `<h2>Changes of the dataset</h2>${lists.join("")}`;
}

function verdictTag(verdict: string): string {
  const kind = verdict === "worse" ? "bad" : verdict === "better" ? "good" : "dim";
  return `<b class="${kind}">${html(verdict)}</b>`;
}

function problemList({ problems, problemCount }: EvaluationResult): string {
  if (problemCount === 0) return "";
  const shown = problems.slice(0, 100).map((one) => `<li>${html(problemText(one))}</li>`);
  return `<details><summary class="bad">Problems: ${problemCount}</summary><ul>${shown.join("")}</ul></details>`;
}

/** Writes the parts of a page that show a case. */
class CaseWriter {
  constructor(
    readonly result: EvaluationResult,
    readonly folder: string,
    readonly diffLines: DiffLines,
  ) {}

  write(one: CaseResult, before: CaseResult | undefined): string {
    const passes = casePasses(one);
    const scores = this.result.scores.map(({ scorer }) => {
      const after = meanOfCase(one, scorer);
      const mean = before === undefined ? undefined : meanOfCase(before, scorer);
      const change = after !== undefined && mean !== undefined ? after - mean : 0;
      const mark =
        change === 0
          ? ""
          : ` <b class="${change > 0 ? "good" : "bad"}">${signedPercent(change)}</b>`;
      return `<span>${html(scorer)} ${percent(after)}${mark}</span>`;
    });
    const mark =
      passes === false ? '<b class="bad">✗</b>' : passes === true ? '<b class="good">✓</b>' : "·";
    const parts = [
      ...this.#given("Input", one.input, before?.input),
      ...(one.expected === undefined
        ? []
        : this.#given("Expected", one.expected, before?.expected)),
      ...one.trials.map((trial) =>
        this.#trial(
          trial,
          one,
          before?.trials.find((other) => other.trial === trial.trial),
        ),
      ),
    ];
    return `<details class="case${passes === false ? "" : " pass"}"><summary>${mark} <b>${html(one.id)}</b> ${scores.join(" ")}</summary>${parts.join("")}</details>`;
  }

  /**
   * Formats the fields of a case in the dataset, and their differences from the version of the
   * baseline.
   */
  #given(title: string, value: unknown, before: unknown): readonly string[] {
    const text = textOfOutput(value);
    const shown = `<h3>${title}</h3><pre>${shownText(text)}</pre>`;
    return before === undefined
      ? [shown]
      : [shown, this.#difference("Difference from the baseline", textOfOutput(before), text)];
  }

  #trial(trial: TrialResult, one: CaseResult, before: TrialResult | undefined): string {
    const title = this.result.trials > 1 ? `Output of trial ${trial.trial}` : "Output";
    const output =
      trial.error === undefined
        ? this.#outputs(trial, one, before)
        : `<p class="bad">${html(trial.error)}</p>`;
    const scores = Object.entries(trial.scores).map(
      ([scorer, score]) =>
        `<li class="${score.passed === true ? "" : "bad"}">${html(scorer)}: ${score.error === undefined ? percent(score.value) : html(score.error)}${score.reason === undefined ? "" : ` – ${shownText(score.reason)}`}${evidenceOf(score.evidence)}</li>`,
    );
    return `<h3>${title}</h3>${output}<ul>${scores.join("")}</ul>${this.#link(trial)}${conversationColumns(trial.way, before?.way)}`;
  }

  #outputs(trial: TrialResult, one: CaseResult, before: TrialResult | undefined): string {
    const text = textOfOutput(trial.output);
    const parts = [`<pre>${shownText(text)}</pre>`];
    if (one.expected !== undefined)
      parts.push(
        this.#difference("Difference from the expected value", textOfOutput(one.expected), text),
      );
    if (before !== undefined && before.error === undefined)
      parts.push(
        this.#difference("Difference from the baseline", textOfOutput(before.output), text),
      );
    return parts.join("");
  }

  #difference(title: string, from: string, to: string): string {
    if (from === to) return "";
    const lines = (text: string): string[] => excerpt(text, LONGEST_TEXT).split("\n");
    const [old, now] = [lines(from), lines(to)];
    const shown: string[] = [];
    let at = 0;
    const keep = (end: number): void => {
      for (; at < end; at++) shown.push(`<span> ${html(old[at] ?? "")}</span>`);
    };
    for (const { oldStart, oldEnd, newStart, newEnd } of this.diffLines(old, now)) {
      keep(oldStart);
      for (; at < oldEnd; at++) shown.push(`<del>-${html(old[at] ?? "")}</del>`);
      for (let i = newStart; i < newEnd; i++) shown.push(`<ins>+${html(now[i] ?? "")}</ins>`);
    }
    keep(old.length);
    return `<h4>${title}</h4><pre class="diff">${shown.join("")}</pre>`;
  }

  #link({ trace }: TrialResult): string {
    if (trace === undefined) return "";
    const path = relative(this.folder, resolve(trace)).split(/[\\/]/).map(encodeURIComponent);
    return `<p><a href="./${html(path.join("/"))}">Trace</a></p>`;
  }
}

function evidenceOf(evidence: unknown): string {
  if (evidence === undefined) return "";
  return `<details><summary>evidence</summary><pre>${shownText(textOfOutput(evidence))}</pre></details>`;
}

/** Formats the conversations of a trial, next to the conversations of the baseline, if any. */
function conversationColumns(way: TrialWay, before: TrialWay | undefined): string {
  const sides = [
    { title: "Conversation", way },
    ...(before === undefined ? [] : [{ title: "In the baseline", way: before }]),
  ];
  if (sides.every((side) => side.way.conversations.length === 0)) return "";
  const columns = sides.map(({ title, way: { conversations: all } }) => {
    const messages = all.flatMap(({ task, messages: said }) => [
      `<h5>${html(task)}</h5>`,
      ...said.map(
        ({ role, content, toolCalls = [], toolName }) =>
          `<div class="message ${role}"><b>${html(role)}${toolName === undefined ? "" : ` ${html(toolName)}`}</b><pre>${shownText(content)}</pre>${toolCalls
            .map(
              (call) => `<pre class="call">${shownText(`${call.name}(${call.arguments})`)}</pre>`,
            )
            .join("")}</div>`,
      ),
    ]);
    return `<section><h4>${title}</h4>${messages.join("")}</section>`;
  });
  return `<details><summary>Conversation</summary><div class="sides">${columns.join("")}</div></details>`;
}
