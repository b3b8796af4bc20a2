import type { Paint } from "../plugins/observability/console/terminal-text.js";
import type { OutputTerminal } from "./terminal.js";
import type { RunMeasures, TaskDifference, TraceDifference } from "./trace-diff.js";
import { textTable } from "../plugins/observability/console/summary-table.js";
import { readableCount } from "../plugins/observability/console/terminal-text.js";
import { ExitCode } from "./exit-codes.js";
import { compareTraces } from "./trace-diff.js";
import { readTraceFile } from "./trace-file.js";
import { costText, timeText } from "./trace-tree.js";
import { printableLine } from "../util/printable.js";

const HEAD = ["Task", "Output", "Input tokens", "Output tokens", "Cost", "Time"];

function cells([a, b]: readonly [RunMeasures | null, RunMeasures | null]): readonly string[] {
  const pair = (show: (m: RunMeasures) => string): string =>
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
  const { taskId, difference, tools, outcome, prompts, models } = task;
  const [before, after] = outcome;
  const head = `${printableLine(taskId, 60)}${task.attempt > 1 ? ` attempt ${task.attempt}` : ""}`;
  const outcomes =
    before !== null && after !== null && before !== after
      ? [`${head}: ${printableLine(before, 30)}, now ${printableLine(after, 30)}`]
      : [];
  return [
    ...pairLines(`${head}, first line of the prompt that differs:`, prompts, paint),
    ...pairLines(`${head}, model:`, models, paint),
    ...outcomes,
    ...pairLines(`${head}, first tool call that differs:`, tools, paint),
    ...pairLines(`${head}, first line that differs:`, difference, paint),
  ];
}

/** Formats two texts one below the other. Returns nothing if they are equal. */
function pairLines(
  head: string,
  texts: readonly [string | null, string | null] | null,
  paint: Paint,
): readonly string[] {
  if (texts === null) return [];
  const [before, after] = texts.map((text) => printableLine(text ?? "(none)", 200));
  return [head, paint("red", `- ${before}`), paint("green", `+ ${after}`)];
}

/** Formats a comparison for people: a table with the figures of both runs, then the differences. */
function differenceText(d: TraceDifference, paint: Paint): string {
  const rows = d.tasks.map((task) => [
    `${printableLine(task.taskId, 40)}${task.attempt > 1 ? ` (${task.attempt})` : ""}`,
    task.status,
    ...cells(task.measures),
  ]);
  const [before, after] = d.exitReasons;
  const exit = before === after ? before : `${before} | ${after}`;
  const table = textTable(
    HEAD,
    [...rows, ["Total", printableLine(exit, 40), ...cells(d.totals)]],
    2,
  );
  const inputs = d.inputs.flatMap(({ name, values }) =>
    pairLines(`Input '${printableLine(name, 60)}':`, values, paint),
  );
  const changes = [...inputs, ...d.tasks.flatMap((task) => taskLines(task, paint))];
  const end =
    d.first === null
      ? "Same inputs, tasks, prompts, tool results and outputs."
      : `The runs differ. They part first at ${printableLine(d.first, 80)}.`;
  return [
    `${printableLine(d.runs[0], 80)} | ${printableLine(d.runs[1], 80)}`,
    "",
    ...table,
    "",
    ...(changes.length > 0 ? [...changes, ""] : []),
    end,
  ].join("\n");
}

/** `agentensemble trace diff <a> <b>`: compares two runs. */
export async function traceDiffCommand(
  a: string,
  b: string,
  o: { readonly json?: boolean },
  terminal: OutputTerminal,
): Promise<number> {
  const difference = compareTraces(await readTraceFile(a), await readTraceFile(b));
  await (o.json === true
    ? terminal.json(difference)
    : terminal.text(differenceText(difference, terminal.paint)));
  return difference.different ? ExitCode.FAILED : ExitCode.OK;
}
