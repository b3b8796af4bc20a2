import type { TaskState } from "../protocol/state-types.js";
import type { WholeRun } from "../stores/whole-run.js";

/** Texts that a spreadsheet would interpret as formulas. They get an apostrophe. */
const FORMULA = /^[=+\-@\t\r]/;

type Cell = string | number | undefined;

const COLUMNS: Readonly<Record<string, (task: TaskState) => Cell>> = {
  task: ({ id }) => id,
  description: ({ description }) => description,
  agent: ({ role }) => role,
  model: ({ model }) => model,
  state: ({ state }) => state,
  attempt: ({ attempt }) => attempt,
  start_ms: ({ startMs }) => startMs,
  end_ms: ({ endMs }) => endMs,
  model_calls: ({ calls }) => calls,
  tool_calls: ({ tools }) => tools,
  input_tokens: ({ inputTokens }) => inputTokens,
  output_tokens: ({ outputTokens }) => outputTokens,
  calls_without_usage: ({ unknownCalls }) => unknownCalls,
  cost: ({ cost }) => cost,
  wasted_cost: ({ wastedCost }) => wastedCost,
  parent: ({ parent }) => parent,
  phase: ({ phase }) => phase,
  error: ({ error }) => error?.code,
  error_message: ({ error }) => error?.message,
};

/**
 * Returns the tasks of a run as CSV (RFC 4180). Times are milliseconds from the start of the run.
 */
export function taskTable({ view }: WholeRun): string {
  const { currency } = view.summary.totals;
  const names = [...Object.keys(COLUMNS), "currency"];
  const rows = [...view.tasks.values()]
    .filter(({ type }) => type !== "graph-end")
    .map((task) => [...Object.values(COLUMNS).map((value) => value(task)), currency]);
  return [names, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

function csvCell(value: Cell): string {
  if (typeof value !== "string") return value === undefined ? "" : String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
