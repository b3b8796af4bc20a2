import type { Paint } from "../plugins/observability/console/terminal-text.js";
import type { Terminal } from "./terminal.js";
import type { Measures, TaskDifference, TraceDifference } from "./trace-diff.js";
import { textTable } from "../plugins/observability/console/summary-table.js";
import { oneLine, readableCount } from "../plugins/observability/console/terminal-text.js";
import { ExitCode } from "./exit-codes.js";
import { compareTraces } from "./trace-diff.js";
import { readTraceFile } from "./trace-file.js";
import { costText, timeText } from "./trace-tree.js";

const HEAD = ["Task", "Output", "Input tokens", "Output tokens", "Cost", "Time"];

function cells([a, b]: readonly [Measures | null, Measures | null]): readonly string[] {
  const pair = (show: (m: Measures) => string): string =>
    `${a === null ? "-" : show(a)} | ${b === null ? "-" : show(b)}`;
  const cost = pair((m) => costText(m.cost) || "?");
  return [
    pair((m) => readableCount(m.inputTokens)),
    pair((m) => readableCount(m.outputTokens)),
    cost,
    pair((m) => timeText(m.durationMs)),
  ];
}

function taskLines(task: TaskDifference, paint: Paint): readonly string[] {
  const { taskId, difference, outcome } = task;
  const [before, after] = outcome;
  const head = `${oneLine(taskId, 60)}${task.attempt > 1 ? ` attempt ${task.attempt}` : ""}`;
  const outcomes =
    before !== null && after !== null && before !== after
      ? [`${head}: ${oneLine(before, 30)}, now ${oneLine(after, 30)}`]
      : [];
  if (difference === null) return outcomes;
  return [
    ...outcomes,
    `${head}, first line that differs:`,
    paint("red", `- ${oneLine(difference[0], 200)}`),
    paint("green", `+ ${oneLine(difference[1], 200)}`),
  ];
}

/** A comparison as a person reads it: a table with the first run's figures before the second's, then what differs. */
function differenceText(d: TraceDifference, paint: Paint): string {
  const rows = d.tasks.map((task) => [
    `${oneLine(task.taskId, 40)}${task.attempt > 1 ? ` (${task.attempt})` : ""}`,
    task.status,
    ...cells(task.measures),
  ]);
  const [before, after] = d.exitReasons;
  const exit = before === after ? before : `${before} | ${after}`;
  const table = textTable(HEAD, [...rows, ["Total", oneLine(exit, 40), ...cells(d.totals)]], 2);
  const changes = d.tasks.flatMap((task) => taskLines(task, paint));
  const end = d.different ? "The runs differ." : "Same tasks, same outputs.";
  return [
    `${oneLine(d.runs[0])} | ${oneLine(d.runs[1])}`,
    "",
    ...table,
    "",
    ...(changes.length > 0 ? [...changes, ""] : []),
    end,
  ].join("\n");
}

/** `agentensemble trace diff <a> <b>`: two runs side by side. */
export async function traceDiffCommand(
  a: string,
  b: string,
  o: { readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const difference = compareTraces(await readTraceFile(a), await readTraceFile(b));
  await (o.json === true
    ? terminal.json(difference)
    : terminal.text(differenceText(difference, terminal.paint)));
  return difference.different ? ExitCode.FAILED : ExitCode.OK;
}
