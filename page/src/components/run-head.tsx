import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import type { BudgetState } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { counted, formatCost, formatCount, formatDuration, formatTime } from "../lib/format.js";
import { inputsText, runMs, runName, runWord } from "../lib/run-words.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import { Facts } from "./facts.js";
import { Icon } from "./icon.js";
import { Meter } from "./meter.js";
import { Notice } from "./notice.js";
import { ProcessChip } from "./process-chip.js";
import { State } from "./state.js";

export interface RunHeadProps {
  readonly run: OpenRun;
  /** The actions for the run. */
  readonly children: ComponentChildren;
}

/** Name, state, facts and budget of a run. */
export function RunHead({ run, children }: RunHeadProps): JSX.Element {
  const { clock, runs } = useBoard();
  const known = runs.summaryOf(run.runId);
  const { budgets, waitsFor, executions } = run.view;
  const summary = withProcess(run.view.summary, known);
  const { totals, workflow, startedAt, inputs, runId, endedAt } = summary;
  const nowMs = endedAt === undefined ? clock.seconds.value : clock.now();
  const all = totals.inputTokens + totals.outputTokens;
  const texts = inputsText(inputs);
  return (
    <div class="run-head">
      <div class="row">
        <h1 class="clip">{runName(summary)}</h1>
        <code class="faint clip" title={visibleText(runId)}>
          {visibleText(runId)}
        </code>
        <CopyLink />
        <State state={summary.state} word={runWord(summary)} />
        <ProcessChip process={summary.process} isAway={summary.isAway} />
        {run.caughtUpAt !== undefined && (
          <span class="faint hide-s">
            caught up with a snapshot at event {run.caughtUpAt.toLocaleString("en")}
          </span>
        )}
        <span class="grow" />
        {children}
      </div>
      <div class="row wrap more">
        <Facts
          facts={[
            ["workflow", workflow],
            ["started", formatTime(startedAt), startedAt],
            ["time", formatDuration(runMs(summary, nowMs))],
            ["tokens", <Tokens totals={totals} all={all} />],
            ["cost", totals.cost > 0 ? formatCost(totals.cost, totals.currency) : undefined],
            ["calls", totals.calls > 0 ? formatCount(totals.calls) : undefined],
            ["tools", totals.tools > 0 ? formatCount(totals.tools) : undefined],
            ["executions", executions > 1 ? executions : undefined],
            ["inputs", texts === "" ? undefined : texts, texts],
          ]}
        />
        {budgets.map((budget) => (
          <Budget key={budget.limit} budget={budget} currency={totals.currency} />
        ))}
      </div>
      {summary.isAway === true && endedAt === undefined && (
        <Notice kind="waiting">
          The process {visibleText(summary.process ?? "")} is not connected. What happens there
          appears when it is back; until then it takes no answers.
        </Notice>
      )}
      {waitsFor !== undefined && summary.state === "waiting" && (
        <Notice kind="waiting">The run waits for {visibleText(waitsFor)}.</Notice>
      )}
    </div>
  );
}

/** Adds the data of a run of another process that only the server has. */
function withProcess(summary: RunSummary, known: RunSummary | undefined): RunSummary {
  if (known?.process === undefined) return summary;
  const { process, isAway, state } = known;
  const { state: own } = summary;
  return { ...summary, process, isAway, state: state === "interrupted" ? state : own };
}

interface TokensProps {
  readonly totals: OpenRun["view"]["summary"]["totals"];
  readonly all: number;
}

function Tokens({ totals, all }: TokensProps): JSX.Element {
  return (
    <>
      {formatCount(all)}{" "}
      <span class="faint">
        {formatCount(totals.inputTokens)} in · {formatCount(totals.outputTokens)} out
        {totals.unknownCalls > 0 && ` · ${counted(totals.unknownCalls, "call")} unknown`}
      </span>
    </>
  );
}

/** Copies the address of the shown view. */
function CopyLink(): JSX.Element {
  const { env } = useBoard();
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(window.location.href).then(
      () => {
        setCopied(true);
        env.later(() => setCopied(false), 1_500);
      },
      () => undefined, // no permission; the address bar shows the link
    );
  };
  return (
    <button
      type="button"
      class="btn bare icon hide-s"
      aria-label="Copy link"
      title="Copy link"
      onClick={copy}
    >
      <Icon name={isCopied ? "done" : "link"} />
    </button>
  );
}

const LIMITS: Readonly<Record<BudgetState["limit"], string>> = {
  tokens: "tokens",
  cost: "budget",
  durationMs: "time",
};

interface BudgetProps {
  readonly budget: BudgetState;
  readonly currency: string | undefined;
}

/** The used part of a limit, and the part reserved for calls in progress. */
function Budget({ budget, currency }: BudgetProps): JSX.Element {
  const { limit, allowed, used, reserved, exceeded } = budget;
  const text = (amount: number): string => {
    if (limit === "cost") return formatCost(amount, currency);
    return limit === "tokens" ? formatCount(amount) : formatDuration(amount);
  };
  const percent = allowed > 0 ? Math.round((used / allowed) * 100) : 100;
  const label = `${LIMITS[limit]} ${text(allowed)}: ${text(used)} used, ${text(reserved)} reserved`;
  return (
    <div class="budget" title={label}>
      <div class="row">
        <span class="faint grow">
          {LIMITS[limit]} {text(allowed)}
        </span>
        <b class={exceeded ? "st failed" : undefined}>{percent} %</b>
      </div>
      <Meter
        label={label}
        total={allowed}
        parts={[
          { kind: exceeded ? "failed" : "accent", share: used },
          { kind: "held", share: reserved },
        ]}
      />
    </div>
  );
}
