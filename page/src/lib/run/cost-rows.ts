import type { CostRow, TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";

/** A row of a table of costs. */
export interface CostLine extends CostRow {
  /** The text in place of the name. */
  readonly title?: string | undefined;
  /** The target of the name: the id of a task. */
  readonly taskId?: string | undefined;
  /** Tokens of failed attempts, a part of the sums. */
  readonly wastedTokens?: number | undefined;
  readonly wastedCost?: number | undefined;
  /**
   * The fraction of the cost of the largest row, from 0 to 1. Without prices, the fraction of its
   * tokens.
   */
  readonly share: number;
}

type Sums = Omit<CostLine, "share">;

/** Sorts rows by their cost, the most expensive first. Omits rows without calls. */
function sorted(rows: readonly Sums[]): readonly CostLine[] {
  const used = rows.filter(({ calls }) => calls > 0);
  const priced = used.some(({ cost }) => cost > 0);
  const weight = ({ cost, inputTokens, outputTokens }: Sums): number =>
    priced ? cost : inputTokens + outputTokens;
  const most = used.reduce((max, row) => Math.max(max, weight(row)), 0);
  return used
    .toSorted((a, b) => weight(b) - weight(a) || b.calls - a.calls)
    .map((row) => ({ ...row, share: most === 0 ? 0 : weight(row) / most }));
}

/** Returns the rows of agents, models or purposes. */
export function costLines(rows: readonly CostRow[]): readonly CostLine[] {
  return sorted(rows);
}

type CostTask = Pick<
  TaskState,
  | "id"
  | "inputTokens"
  | "outputTokens"
  | "unknownCalls"
  | "cost"
  | "calls"
  | "wastedTokens"
  | "wastedCost"
>;

/**
 * Returns at most `most` rows of tasks. If there are more tasks, the last row has the sum of the
 * rest.
 */
export function taskCostLines(tasks: Iterable<CostTask>, most: number): readonly CostLine[] {
  const lines = sorted(
    Array.from(tasks, (task) => ({
      name: task.id,
      taskId: task.id,
      inputTokens: task.inputTokens,
      outputTokens: task.outputTokens,
      unknownCalls: task.unknownCalls,
      cost: task.cost,
      calls: task.calls,
      wastedTokens: task.wastedTokens,
      wastedCost: task.wastedCost,
    })),
  );
  if (lines.length <= most) return lines;
  const rest = lines.slice(most - 1);
  const sum = (of: (line: CostLine) => number): number =>
    rest.reduce((total, line) => total + of(line), 0);
  const others: CostLine = {
    name: `${rest.length} other tasks`,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    unknownCalls: sum(({ unknownCalls }) => unknownCalls),
    cost: sum(({ cost }) => cost),
    calls: sum(({ calls }) => calls),
    wastedTokens: sum(({ wastedTokens = 0 }) => wastedTokens),
    wastedCost: sum(({ wastedCost = 0 }) => wastedCost),
    share: 0,
  };
  return [...lines.slice(0, most - 1), others];
}

/** Returns the usage of failed attempts. */
export function wastedOf(tasks: Iterable<Pick<CostTask, "wastedTokens" | "wastedCost">>): {
  readonly tokens: number;
  readonly cost: number;
} {
  let [tokens, cost] = [0, 0];
  for (const { wastedTokens, wastedCost } of tasks) {
    tokens += wastedTokens;
    cost += wastedCost;
  }
  return { tokens, cost };
}

/** Returns the parts of a budget's limit, each from 0 to 1. Their sum is at most 1. */
export function budgetParts({
  allowed,
  used,
  reserved,
}: {
  readonly allowed: number;
  readonly used: number;
  readonly reserved: number;
}): { readonly used: number; readonly reserved: number; readonly left: number } {
  if (allowed <= 0) return { used: 1, reserved: 0, left: 0 };
  const usedPart = Math.min(1, used / allowed);
  const reservedPart = Math.min(1 - usedPart, reserved / allowed);
  return { used: usedPart, reserved: reservedPart, left: 1 - usedPart - reservedPart };
}
