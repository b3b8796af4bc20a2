import type { Sample } from "./sample.js";
import type { Line, Scenario } from "./scenario.js";
import { TRACE_VARIABLE } from "../work/trace.js";
import { median, sampleOf } from "./sample.js";
import { SideProcess } from "./side-process.js";
import { renderCells, text } from "./table.js";

/**
 * The capture modes: the base trace, complete conversations, and complete conversations written as
 * JSON after each run.
 */
const MODES = {
  OFF: { AGENTENSEMBLE_CAPTURE_MODE: "OFF" },
  STANDARD: { AGENTENSEMBLE_CAPTURE_MODE: "STANDARD" },
  JSON: { AGENTENSEMBLE_CAPTURE_MODE: "STANDARD", [TRACE_VARIABLE]: "json" },
} as const;
type Mode = keyof typeof MODES;
const NAMES = Object.keys(MODES) as readonly Mode[];

/** The maximum cost of STANDARD relative to OFF. */
const GOAL = 1.5;

/** A line of the table with its measured values. */
export interface CaptureRow extends Line {
  readonly id: string;
  readonly modes: Readonly<Record<Mode, Sample>>;
}

/** Measures the framework's side of a scenario in each mode. The rounds of the modes alternate. */
export async function runCapture(scenario: Scenario): Promise<readonly CaptureRow[]> {
  const processes = new Map<Mode, SideProcess>();
  const values: Record<Mode, (readonly number[])[]> = { OFF: [], STANDARD: [], JSON: [] };
  for (const mode of NAMES)
    processes.set(mode, await SideProcess.start(scenario, "framework", MODES[mode]));
  for (let round = 0; round < scenario.rounds; round++)
    for (const [mode, child] of processes) values[mode].push(await child.round());
  for (const child of processes.values()) await child.stop();
  return scenario.lines.map((line, index) => {
    const of = (mode: Mode): Sample =>
      sampleOf(values[mode].map((round) => round[index] ?? Number.NaN));
    return {
      ...line,
      id: scenario.id,
      modes: { OFF: of("OFF"), STANDARD: of("STANDARD"), JSON: of("JSON") },
    };
  });
}

function times(row: CaptureRow, mode: Mode): number {
  return median(row.modes[mode]) / median(row.modes.OFF);
}

export function isCaptureMet(row: CaptureRow): boolean {
  return times(row, "STANDARD") <= GOAL;
}

export function renderCapture(rows: readonly CaptureRow[]): string {
  const head = [
    "",
    "work",
    "unit",
    "OFF",
    "STANDARD",
    "x OFF",
    "goal",
    "",
    "+ JSON of the trace",
    "x OFF",
  ];
  const cells = rows.map((row) => [
    row.id,
    row.title,
    row.unit,
    text(median(row.modes.OFF)),
    text(median(row.modes.STANDARD)),
    text(times(row, "STANDARD")),
    `<= ${GOAL}`,
    isCaptureMet(row) ? "ok" : "MISSED",
    text(median(row.modes.JSON)),
    text(times(row, "JSON")),
  ]);
  return renderCells([head, ...cells]);
}
