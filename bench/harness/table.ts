import type { Row } from "./run-scenario.js";
import type { Sample } from "./sample.js";
import { median } from "./sample.js";

const HEAD = [
  "",
  "work",
  "unit",
  "promises",
  "+ hooks",
  "framework",
  "range",
  "goal",
  "x promises",
  "x hooks",
  "",
];
const RIGHT_FROM = 3;

/**
 * Formats a value with three significant digits, without decimals from 100 on. Returns `-` for a
 * value that was not measured.
 */
export function text(value: number): string {
  if (Number.isNaN(value)) return "-";
  const magnitude = Math.abs(value);
  return value.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2);
}

function ratio(of: Sample, to: Sample): string {
  const floor = median(to);
  return floor <= 0 || Number.isNaN(floor) ? "-" : text(median(of) / floor);
}

/**
 * Returns whether the framework's median meets the goal. Returns true if there is no goal or no
 * value.
 */
export function isMet({ sides, goal, better }: Row): boolean {
  if (goal === undefined) return true;
  const value = median(sides.framework);
  if (Number.isNaN(value)) return true;
  return better === "more" ? value >= goal : value <= goal;
}

function cells(row: Row): string[] {
  const { promises, hooks, framework } = row.sides;
  const range = `${text(framework[0] ?? 0)} .. ${text(framework.at(-1) ?? 0)}`;
  const medians = [promises, hooks, framework].map((sample) => text(median(sample)));
  const goal = row.goal === undefined ? "-" : `${row.better === "more" ? ">=" : "<="} ${row.goal}`;
  const verdict = row.goal === undefined ? "" : isMet(row) ? "ok" : "MISSED";
  return [
    row.id,
    row.title,
    row.unit,
    ...medians,
    range,
    goal,
    ratio(framework, promises),
    ratio(framework, hooks),
    verdict,
  ];
}

export function renderTable(rows: readonly Row[]): string {
  return renderCells([HEAD, ...rows.map(cells)]);
}

/** Formats lines of cells as text with aligned columns. The first line is the head. */
export function renderCells(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const aligned = lines.map((line) =>
    line
      .map((cell, i) =>
        i < RIGHT_FROM ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
      )
      .join("  "),
  );
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [aligned[0], rule, ...aligned.slice(1)].join("\n");
}
