import type { Ev } from "../../../contracts/events.js";
import { formatCost } from "../shared/format-cost.js";
import { textTable } from "./summary-table.js";
import { counted } from "../../../util/text.js";
import { readableCount, readableDuration, readableRole } from "./terminal-text.js";
import { printableLine } from "../../../util/printable.js";

interface Row {
  readonly taskId: string;
  readonly agentRole: string;
  readonly status: "running" | "done" | "failed" | "stopped";
  readonly durationMs: number;
  readonly tokens: number;
  readonly tools: number;
  /** The number of its starts. Loops and retries repeat a task. */
  readonly starts: number;
}

const HEAD = ["Task", "Agent", "Status", "Duration", "Tokens", "Tools"];

function addTokens(a: number, b: number): number {
  return a < 0 || b < 0 ? -1 : a + b;
}

/**
 * Whether a task ended for another reason than its own failure. The run was cancelled or suspended,
 * exceeded its time limit, or a concurrent task failed.
 */
export function isStopped({ cause }: Ev<"task_failed">): boolean {
  return (
    cause.code === "AE_RUN_CANCELLED" ||
    cause.code === "AE_RUN_SUSPENDED" ||
    cause.code === "AE_RUN_TIMEOUT" ||
    cause.code === "AE_EXIT_EARLY"
  );
}

/** The usage of a run so far. */
export class RunSpending {
  #cost = 0;
  #unpriced = 0;
  #currency: string | undefined;
  /** Reported tokens. */
  tokens = 0;

  add({ inputTokens, outputTokens, cost, currency }: Ev<"usage_recorded">): void {
    this.tokens += Math.max(0, inputTokens) + Math.max(0, outputTokens);
    this.#currency ??= currency;
    this.#cost += cost ?? 0;
    if (cost === undefined && (inputTokens !== 0 || outputTokens !== 0)) this.#unpriced++;
  }

  /** Returns `, $0.0042`, or an empty text if no call has a price. */
  money(): string {
    if (this.#currency === undefined) return "";
    const [totalCost, unpricedCalls] = [this.#cost, this.#unpriced];
    const currency = this.#currency;
    return `, ${formatCost({ inputCost: 0, outputCost: 0, totalCost, currency, unpricedCalls })}`;
  }
}

/** The data for the summary of one run. */
export class RunProgress {
  readonly spent = new RunSpending();
  readonly #rows = new Map<string, Row>();

  started(e: Ev<"task_started">): void {
    const before = this.#rows.get(e.taskId);
    this.#rows.set(e.taskId, {
      taskId: e.taskId,
      agentRole: e.agentRole,
      status: "running",
      durationMs: before?.durationMs ?? 0,
      tokens: before?.tokens ?? 0,
      tools: before?.tools ?? 0,
      starts: (before?.starts ?? 0) + 1,
    });
  }

  /** Counts a tool call of a task. A failed task then also has a number. */
  toolCalled(e: Ev<"tool_called">): void {
    this.#update(e.taskId, (row) => ({ ...row, tools: row.tools + 1 }));
  }

  completed(e: Ev<"task_completed">): void {
    this.#update(e.taskId, (row) => ({
      ...row,
      agentRole: e.agentRole,
      status: "done",
      durationMs: row.durationMs + e.durationMs,
      tokens: addTokens(row.tokens, e.tokenCount),
    }));
  }

  failed(e: Ev<"task_failed">): void {
    this.#update(e.taskId, (row) => ({
      ...row,
      agentRole: e.agentRole,
      status: isStopped(e) ? "stopped" : "failed",
      durationMs: row.durationMs + e.durationMs,
      tokens: -1,
    }));
  }

  /** Returns the lines of the table at the end of a run. The last row has the totals of the run. */
  summary(e: Ev<"ensemble_completed">): readonly string[] {
    const tasks = [...this.#rows.values()];
    const rows = tasks.map((row) => [
      `${printableLine(row.taskId, 40)}${row.starts > 1 ? ` (x${row.starts})` : ""}`,
      readableRole(row.agentRole),
      row.status,
      readableDuration(row.durationMs),
      readableCount(row.tokens),
      String(row.tools),
    ]);
    // the sum of unknown counts is unknown
    const tokens = e.totalTokens === 0 && tasks.some((row) => row.tokens < 0) ? -1 : e.totalTokens;
    const totals = [
      "Total",
      "",
      e.exitReason,
      readableDuration(e.durationMs),
      readableCount(tokens),
      String(e.totalToolCalls),
    ];
    return textTable(HEAD, [...rows, totals], 3);
  }

  /** Returns one line: `COMPLETED: 14 of 14 tasks done in 894 ms, 10594 tokens, $0.0042`. */
  total(e: Ev<"ensemble_completed">): string {
    const tasks = [...this.#rows.values()];
    const done = tasks.filter(({ status }) => status === "done").length;
    const used = `${readableCount(e.totalTokens)} tokens${this.spent.money()}`;
    return `${e.exitReason}: ${done} of ${counted(tasks.length, "task")} done in ${readableDuration(e.durationMs)}, ${used}`;
  }

  #update(taskId: string, change: (row: Row) => Row): void {
    const row = this.#rows.get(taskId);
    if (row !== undefined) this.#rows.set(taskId, change(row));
  }
}
