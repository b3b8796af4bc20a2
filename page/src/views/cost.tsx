import type { JSX } from "preact";
import { BudgetMeter } from "../components/budget-meter.js";
import { CostTable } from "../components/cost-table.js";
import { Empty } from "../components/empty.js";
import { Facts } from "../components/facts.js";
import { counted, formatCost, formatCount } from "../lib/format.js";
import { costLines, taskCostLines, wastedOf, type CostLine } from "../lib/run/cost-rows.js";
import { tagCosts } from "../lib/run/tag-costs.js";
import { taskTitle } from "../lib/task-words.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import type { RunViewProps } from "./run-view-props.js";

const MOST_TASKS = 100;

/** The cost of the run by task, agent, model, purpose and tag, and the rest of its budget. */
export function CostView({ run, onTask }: RunViewProps): JSX.Element {
  const { runs } = useBoard();
  const { summary, byAgent, byModel, byPurpose, budgets } = run.view;
  const { totals, tags } = summary;
  const { currency } = totals;
  const isPriced = totals.cost > 0 || currency !== undefined;
  const table = { currency, isPriced };
  const byTag = tagCosts(tags, summary, runs.list.value);
  return (
    <div class="scroll costs" tabIndex={0} role="group" aria-label="Cost">
      <Sums run={run} isPriced={isPriced} />
      {budgets.length > 0 && (
        <section class="card limits" aria-label="Budget">
          {budgets.map((budget) => (
            <BudgetMeter key={budget.limit} budget={budget} currency={currency} />
          ))}
        </section>
      )}
      {totals.calls === 0 ? (
        <Empty icon="model" title="No model has been called yet" />
      ) : (
        <div class="tables">
          <CostTable title="agent" lines={costLines(byAgent)} {...table} />
          <CostTable title="model" lines={costLines(byModel)} {...table} />
          <CostTable title="purpose" lines={costLines(byPurpose)} {...table} />
          {byTag.length > 0 && (
            <CostTable title="tag" of=", of all runs listed" lines={byTag} {...table} />
          )}
          <CostTable title="task" lines={taskLines(run)} onTask={onTask} {...table} />
        </div>
      )}
    </div>
  );
}

/** Returns the rows of tasks, with their display names. */
function taskLines({ view }: OpenRun): readonly CostLine[] {
  return taskCostLines(view.tasks.values(), MOST_TASKS).map((line) => {
    const task = line.taskId === undefined ? undefined : view.tasks.get(line.taskId);
    return task === undefined ? line : { ...line, title: taskTitle(task) };
  });
}

interface SumsProps {
  readonly run: OpenRun;
  readonly isPriced: boolean;
}

function Sums({ run, isPriced }: SumsProps): JSX.Element {
  const { summary, tasks } = run.view;
  const { cost, currency, inputTokens, outputTokens, calls, tools, unknownCalls } = summary.totals;
  const wasted = wastedOf(tasks.values());
  const vain =
    wasted.tokens === 0
      ? "none"
      : `${formatCount(wasted.tokens)} tokens${isPriced ? ` · ${formatCost(wasted.cost, currency)}` : ""}`;
  return (
    <Facts
      isBig
      facts={[
        ["cost", isPriced ? formatCost(cost, currency) : "no prices are set"],
        ["tokens in", formatCount(inputTokens)],
        ["tokens out", formatCount(outputTokens)],
        ["model calls", formatCount(calls)],
        ["tool calls", formatCount(tools)],
        ["on attempts that failed", vain, "A part of the sums"],
        [
          "unknown usage",
          unknownCalls === 0 ? undefined : counted(unknownCalls, "call"),
          "Calls whose provider reported no usage; they are not in the sums",
        ],
      ]}
    />
  );
}
