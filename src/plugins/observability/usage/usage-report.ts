import type { CostEstimate } from "../../../contracts/cost.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { UsageRecord } from "../../../contracts/usage.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, knownNames, preview } from "../../../contracts/validation.js";
import { sumCost } from "../../../contracts/metrics.js";

/**
 * The grouping of a report:
 * - `task`: each task of each run with its direct calls
 * - `task-tree`: each task that was not delegated, with the calls of everything that it delegated
 *   or ran. This includes runs that it started with its context as `parent`.
 * - `tag:customer`: the values of the run's tag `customer`
 */
export type UsageGrouping =
  "task" | "task-tree" | "agent" | "model" | "provider" | "purpose" | `tag:${string}`;

/** The calls of one group. */
export interface UsageRow {
  /** The task's id, the agent's role, `provider:model`, ... Empty for calls without that tag. */
  readonly key: string;
  /** The run of the task. Only for `task` and `task-tree`. */
  readonly runId?: string;
  /** Number of attempts, including failed ones and answers from a cache. */
  readonly calls: number;
  /** Attempts that failed or were aborted. */
  readonly failedCalls: number;
  /** The sum of known counts. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** Calls that reported no tokens. */
  readonly unknownUsageCalls: number;
  /** The sum of the latencies in milliseconds, also of concurrent calls. */
  readonly latencyMs: number;
  /**
   * The sum of the calls that have a price, as in `metrics.costEstimate`. Absent without a price,
   * or with several currencies.
   */
  readonly cost?: CostEstimate;
  /** Calls without a price. */
  readonly unpricedCalls: number;
}

const GROUPINGS = ["task", "task-tree", "agent", "model", "provider", "purpose", "tag:..."];

/** Running sums. */
class ReportRow {
  calls = 0;
  failedCalls = 0;
  inputTokens = 0;
  outputTokens = 0;
  cachedInputTokens = 0;
  reasoningTokens = 0;
  unknownUsageCalls = 0;
  latencyMs = 0;
  unpricedCalls = 0;
  readonly #records: UsageRecord[] = [];

  constructor(readonly group: Group) {}

  add(record: UsageRecord): void {
    this.calls++;
    if (record.outcome === "failed" || record.outcome === "aborted") this.failedCalls++;
    if (record.inputTokens < 0 || record.outputTokens < 0) this.unknownUsageCalls++;
    this.inputTokens += Math.max(0, record.inputTokens);
    this.outputTokens += Math.max(0, record.outputTokens);
    this.cachedInputTokens += Math.max(0, record.cachedInputTokens);
    this.reasoningTokens += Math.max(0, record.reasoningTokens);
    this.latencyMs += record.latencyMs;
    if (record.cost === undefined) this.unpricedCalls++;
    this.#records.push(record);
  }

  frozen(): UsageRow {
    const {
      group,
      calls,
      failedCalls,
      inputTokens,
      outputTokens,
      cachedInputTokens,
      reasoningTokens,
      unknownUsageCalls,
      latencyMs,
      unpricedCalls,
    } = this;
    const cost = sumCost(this.#records);
    const totalTokens = inputTokens + outputTokens;
    const counts = {
      ...group,
      calls,
      failedCalls,
      inputTokens,
      outputTokens,
      totalTokens,
      cachedInputTokens,
      reasoningTokens,
      unknownUsageCalls,
      latencyMs,
    };
    return Object.freeze({ ...counts, ...(cost !== undefined && { cost }), unpricedCalls });
  }
}

/** The key of a row. */
type Group = Pick<UsageRow, "key" | "runId">;

const nameOf = ({ runId, key }: Group): string => JSON.stringify([runId, key]);

/**
 * Returns the root task of a task within the given calls. They do not contain a task without direct
 * calls.
 */
function rootsOf(ledger: readonly UsageRecord[]): (record: UsageRecord) => Group {
  const parents = new Map<string, Group>();
  const callers = new Map<string | undefined, Group>();
  for (const { runId, taskId, parentTaskId, caller } of ledger) {
    if (parentTaskId !== undefined)
      parents.set(nameOf({ runId, key: taskId }), { runId, key: parentTaskId });
    if (caller !== undefined) callers.set(runId, { runId: caller.runId, key: caller.taskId });
  }
  return ({ runId, taskId }) => {
    const seen = new Set<string>();
    let root: Group = { runId, key: taskId };
    for (
      let above: Group | undefined = root;
      above !== undefined && !seen.has(nameOf(above));
      above = parents.get(nameOf(root)) ?? callers.get(root.runId)
    ) {
      root = above;
      seen.add(nameOf(root));
    }
    return root;
  };
}

function groupingOf(by: unknown, ledger: readonly UsageRecord[]): (record: UsageRecord) => Group {
  if (by === "task") return ({ runId, taskId }) => ({ key: taskId, runId });
  if (by === "task-tree") return rootsOf(ledger);
  const key = groupingKey(by);
  return (record) => ({ key: key(record) });
}

function groupingKey(by: unknown): (record: UsageRecord) => string {
  if (by === "agent") return ({ agentRole }) => agentRole;
  if (by === "model") return ({ provider, modelId }) => `${provider}:${modelId}`;
  if (by === "provider") return ({ provider }) => provider;
  if (by === "purpose") return ({ purpose }) => purpose;
  if (typeof by === "string" && by.startsWith("tag:") && by.length > 4)
    return ({ tags }) => tags[by.slice(4)] ?? "";
  throw new ValidationError(
    `usageReport 'by' ${preview(by)} is unknown. ${knownNames(typeof by === "string" ? by : "", GROUPINGS)}`,
  );
}

function ledgerOf(source: unknown): readonly UsageRecord[] {
  // the types permit only records
  if (Array.isArray(source)) return source as readonly UsageRecord[];
  const ledger = (source as { readonly metrics?: { readonly ledger?: unknown } } | undefined)
    ?.metrics?.ledger;
  if (Array.isArray(ledger)) return ledger as readonly UsageRecord[]; // the ledger of an output
  throw new ValidationError(
    `usageReport needs the output of a run or usage records, got: ${preview(source)}`,
  );
}

/**
 * Returns the usage of one or more runs in rows. For several runs, join their `metrics.ledger`. The
 * rows are sorted by cost, then by tokens, in descending order. For a failed run pass
 * `error.output`.
 *
 * @example
 * for (const { key, totalTokens, cost } of usageReport(output, { by: "agent" }))
 *   console.log(key, totalTokens, formatCost(cost));
 * @throws ValidationError for an unknown option or grouping, and for a value that is neither an
 * output nor records.
 */
export function usageReport(
  source: EnsembleOutput | readonly UsageRecord[],
  options: { readonly by: UsageGrouping },
): readonly UsageRow[] {
  checkOptions("usageReport", options, ["by"]);
  const ledger = ledgerOf(source);
  const groupOf = groupingOf(options.by, ledger);
  const rows = new Map<string, ReportRow>();
  for (const record of ledger) {
    const group = groupOf(record);
    const name = nameOf(group);
    let row = rows.get(name);
    if (row === undefined) rows.set(name, (row = new ReportRow(group)));
    row.add(record);
  }
  const order = (a: UsageRow, b: UsageRow): number =>
    (b.cost?.totalCost ?? 0) - (a.cost?.totalCost ?? 0) || b.totalTokens - a.totalTokens;
  return Object.freeze([...rows.values()].map((row) => row.frozen()).sort(order));
}
