import type {
  ComparedFigures,
  ComparedTask,
  RunComparison,
  TaskComparison,
} from "../../../src/plugins/dashboard/protocol/compare.js";
import { formatCost, formatCount, formatDuration } from "./format.js";

/** One figure of both sides in its shown form. */
export interface FigureRow {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  /** The change: `+3`, `-23 %`. Empty if nothing changed, or if a side has no figure. */
  readonly change: string;
  /** Whether `b` used more. */
  readonly isMore: boolean;
}

type Figures = { readonly [K in keyof ComparedFigures]?: ComparedFigures[K] | undefined };

/** Returns time, tokens, cost and calls of two sides. A missing side is empty. */
export function figureRows(
  a: Figures | undefined,
  b: Figures | undefined,
  currencies: readonly [a: string | undefined, b: string | undefined],
): readonly FigureRow[] {
  const row = (
    name: string,
    of: (side: Figures) => number | undefined,
    text: (value: number, side: 0 | 1) => string,
    isCount = false,
  ): FigureRow => {
    const [x, y] = [a && of(a), b && of(b)];
    const isMixed = name === "cost" && currencies[0] !== currencies[1];
    return {
      name,
      a: x === undefined ? "" : text(x, 0),
      b: y === undefined ? "" : text(y, 1),
      change: x === undefined || y === undefined || isMixed ? "" : changeOf(x, y, isCount),
      isMore: (y ?? 0) > (x ?? 0),
    };
  };
  return [
    row("time", ({ durationMs }) => durationMs, formatDuration),
    row(
      "tokens",
      ({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens,
      formatCount,
    ),
    row(
      "cost",
      ({ cost }) => cost,
      (cost, side) => formatCost(cost, currencies[side]),
    ),
    row("model calls", ({ calls }) => calls, formatCount, true),
    row("tool calls", ({ tools }) => tools, formatCount, true),
  ];
}

/** Returns `+3` for counts, `-23 %` for other figures. Returns an empty text if they are equal. */
export function changeOf(a: number, b: number, isCount = false): string {
  if (a === b) return "";
  const sign = b > a ? "+" : "−";
  if (isCount || a === 0) return isCount ? `${sign}${formatCount(Math.abs(b - a))}` : "new";
  const percent = Math.round((Math.abs(b - a) / a) * 100);
  return percent === 0 ? "" : `${sign}${percent.toLocaleString("en")} %`;
}

const KINDS: Readonly<Record<TaskComparison["kind"], string>> = {
  same: "same",
  changed: "changed",
  added: "only in B",
  removed: "only in A",
};

/** `changed`, `only in A`. */
export function kindWord({ kind }: TaskComparison): string {
  return KINDS[kind];
}

/** Formats `4 same, 1 only in A, 2 changed`. Omits kinds without tasks. */
export function countsText(counts: RunComparison["counts"]): string {
  const order = ["same", "removed", "added", "changed"] as const;
  return order
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind].toLocaleString("en")} ${KINDS[kind]}`)
    .join(", ");
}

/** The differences from the baseline: `4 changed`, `unchanged`. */
export function sinceBaseline(counts: RunComparison["counts"]): string {
  const changed = counts.changed + counts.added + counts.removed;
  return changed === 0 ? "as the baseline" : `${changed.toLocaleString("en")} changed`;
}

/** The prompts of a task as one text. */
export function promptText(task: ComparedTask | undefined): string {
  const { systemPrompt = "", userPrompt = "" } = task ?? {};
  return [systemPrompt, userPrompt].filter((text) => text !== "").join("\n\n");
}

/** The tool calls of a task as lines. */
export function toolText(task: ComparedTask | undefined): string {
  return (task?.toolCalls ?? [])
    .map(
      ({ toolName, arguments: args, result, outcome }) =>
        `${toolName} ${args}\n  ${outcome}: ${result}`,
    )
    .join("\n");
}

/** Returns the output of a task, or the error with which it ended. */
export function outputText(task: ComparedTask | undefined): string {
  return task?.output ?? task?.error ?? "";
}
