import type { JSX } from "preact";
import type { StoredReview } from "../../../src/contracts/review.js";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import type { RunBaselineBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useFetched } from "../hooks/use-fetched.js";
import { sinceBaseline } from "../lib/compare-words.js";
import { formatAgo, formatCost, formatDuration } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { withTag } from "../lib/run-search.js";
import { inputsText, runMs, runName, runWord, shortId } from "../lib/run-words.js";
import { tokensText } from "../lib/task-words.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Chip } from "./chip.js";
import { Countdown } from "./countdown.js";
import { Meter, taskCount, taskParts } from "./meter.js";
import { ProcessChip } from "./process-chip.js";
import { State } from "./state.js";

/** Maximum number of rows that are compared with the baseline of their ensemble. */
const MOST_COMPARED = 20;

export interface RunsTableProps {
  readonly runs: readonly RunSummary[];
  /** The row selected by keys. -1: no row. */
  readonly place: number;
  /** Ids of the runs that are selected for comparing. */
  readonly chosen: readonly string[];
  readonly onChoose: (runId: string) => void;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
}

export function RunsTable(props: RunsTableProps): JSX.Element {
  const { runs, place, chosen, onChoose, filter, onFilter } = props;
  const { reviews } = useBoard();
  const baselines = runs.filter(({ baseline }) => baseline === true);
  const waiting = new Map(reviews.pending.value.map((review) => [review.runId, review]));
  return (
    <div class="card table-card">
      <table>
        <thead>
          <tr>
            <th class="choose">
              <span class="sr-only">Selected</span>
            </th>
            <th class="c-state">State</th>
            <th>Ensemble</th>
            <th class="hide-s">Inputs</th>
            <th class="hide-s">Tags</th>
            <th class="num hide-s">Started</th>
            <th class="num c-time">Time</th>
            <th class="hide-s">Tasks</th>
            <th class="num hide-s">Tokens</th>
            <th class="num">Cost</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, i) => (
            <RunRow
              key={run.runId}
              run={run}
              isHere={i === place}
              review={waiting.get(run.runId)}
              isChosen={chosen.includes(run.runId)}
              onChoose={() => onChoose(run.runId)}
              baseline={i < MOST_COMPARED ? baselineOf(run, baselines) : undefined}
              onTag={(name, value) => onFilter(withTag(filter, name, value))}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RunRowProps {
  readonly run: RunSummary;
  readonly isHere: boolean;
  readonly review: StoredReview | undefined;
  readonly isChosen: boolean;
  /** The run with which this run is compared. */
  readonly baseline: RunSummary | undefined;
  readonly onChoose: () => void;
  readonly onTag: (name: string, value: string) => void;
}

/** A row of the table. A click anywhere on the row opens the run. Its name is the link. */
function RunRow(props: RunRowProps): JSX.Element {
  const { run, isHere, review, isChosen, baseline, onChoose, onTag } = props;
  const { clock, route } = useBoard();
  const { runId, totals, counts } = run;
  const nowMs = clock.seconds.value;
  const tokens = totals.inputTokens + totals.outputTokens;
  const href = hrefOf(["runs", runId]);
  const inputs = inputsText(run.inputs);
  const onClick = (event: MouseEvent): void => {
    if (event.target instanceof Element && event.target.closest("a, button, label") !== null)
      return;
    route.go(href);
  };
  return (
    <tr onClick={onClick} class="run-row" {...(isHere && { "aria-current": true as const })}>
      <td class="choose">
        <label>
          <input type="checkbox" checked={isChosen} onChange={onChoose} />
          <span class="sr-only">{`Select ${runName(run)} ${visibleText(shortId(run))}`}</span>
        </label>
      </td>
      <td class="c-state">
        <State state={run.state} word={runWord(run)} />
      </td>
      <td class="name">
        <a class="clip" href={href} title={runName(run)}>
          <b>{runName(run)}</b> <code class="faint">{visibleText(shortId(run))}</code>
        </a>
        <div class="only-s muted">
          {inputs !== "" && <div class="clip">{inputs}</div>}
          <SecondLine run={run} review={review} isNarrow />
        </div>
      </td>
      <td class="muted second hide-s">
        {inputs !== "" && (
          <div class="clip" title={inputs}>
            {inputs}
          </div>
        )}
        <SecondLine run={run} review={review} />
      </td>
      <td class="hide-s nowrap tags">
        <RunChips run={run} baseline={baseline} onTag={onTag} />
      </td>
      <td class="num muted nowrap hide-s">{formatAgo(Date.parse(run.startedAt), nowMs)}</td>
      <td class="num nowrap c-time">{formatDuration(runMs(run, nowMs))}</td>
      <Progress counts={counts} />
      <td class="num nowrap hide-s">
        {tokens === 0 && totals.unknownCalls > 0
          ? "unknown"
          : tokensText(tokens, totals.unknownCalls)}
      </td>
      <td class="num nowrap">{totals.cost > 0 && formatCost(totals.cost, totals.currency)}</td>
    </tr>
  );
}

/** Returns the question in one line. For a tool call, returns the effect of the call. */
function questionOf({ toolName, prompt, taskDescription }: StoredReview): string {
  return toolName === undefined ? (prompt ?? taskDescription) : taskDescription;
}

interface SecondLineProps extends Pick<RunRowProps, "run" | "review"> {
  /** Whether the screen is narrow: an open task then covers the error. Default false. */
  readonly isNarrow?: boolean | undefined;
}

/** The failure, or the question to a person. */
function SecondLine({ run, review, isNarrow = false }: SecondLineProps): JSX.Element | null {
  const { error, runId } = run;
  if (review !== undefined)
    return (
      <a class="clip st waiting" href={hrefOf(["reviews", review.reviewId])}>
        {visibleText(questionOf(review))}
        {review.requiredRole !== undefined && ` asks ${visibleText(review.requiredRole)}`}
        {review.deadline !== undefined && (
          <>
            , <Countdown to={review.deadline} />
          </>
        )}
      </a>
    );
  if (error === undefined) return null;
  const href = hrefOf(["runs", runId], {
    view: "errors",
    task: isNarrow ? undefined : error.taskId,
  });
  return (
    <a class="clip st failed" href={href} title={visibleText(error.message)}>
      {error.code}
      {error.taskId !== undefined && ` in ${visibleText(error.taskId)}`}:{" "}
      {visibleText(error.message)}
    </a>
  );
}

/** The origin of the run, its comparison, and its first tags. */
function RunChips(props: Pick<RunRowProps, "run" | "baseline" | "onTag">): JSX.Element {
  const { run, baseline, onTag } = props;
  return (
    <div class="row">
      <ProcessChip process={run.process} isAway={run.isAway} />
      {run.baseline === true && <Chip kind="line">baseline</Chip>}
      {baseline !== undefined && <SinceBaseline run={run} baseline={baseline} />}
      <Tags tags={run.tags} onTag={onTag} />
    </div>
  );
}

/** The first tags of a run. A click on a tag filters the list. */
function Tags({ tags, onTag }: Pick<RunSummary, "tags"> & Pick<RunRowProps, "onTag">): JSX.Element {
  return (
    <>
      {Object.entries(tags)
        .slice(0, 2)
        .map(([name, value]) => (
          <button
            key={name}
            type="button"
            class="chip as-button"
            title={`${visibleText(name)}=${visibleText(value)}: show the runs with this tag`}
            onClick={() => onTag(name, value)}
          >
            {`${visibleText(name)}=${visibleText(value)}`}
          </button>
        ))}
    </>
  );
}

/**
 * Returns the baseline with which a run is compared. This is the baseline of its ensemble, if the
 * run began later and has ended.
 */
function baselineOf(
  { ensemble, startedAt, endedAt }: RunSummary,
  baselines: readonly RunSummary[],
): RunSummary | undefined {
  return baselines.find(
    (one) => one.ensemble === ensemble && one.startedAt < startedAt && endedAt !== undefined,
  );
}

interface SinceBaselineProps {
  readonly run: RunSummary;
  readonly baseline: RunSummary;
}

/** The number of tasks that changed since the baseline. */
function SinceBaseline({ run, baseline }: SinceBaselineProps): JSX.Element | null {
  const path = `/api/runs/${encodeURIComponent(run.runId)}/baseline`;
  const state = useFetched<RunBaselineBody>([path], baseline.runId);
  const counts = state.kind === "ready" ? state.bodies[0]?.counts : undefined;
  if (counts === undefined) return null;
  return (
    <a class="chip line" href={hrefOf(["compare"], { a: baseline.runId, b: run.runId })}>
      {sinceBaseline(counts)}
    </a>
  );
}

/** The number of done tasks. */
function Progress({ counts }: Pick<RunSummary, "counts">): JSX.Element {
  const { done, all } = taskCount(counts);
  return (
    <td class="hide-s">
      <span class="row">
        <Meter
          label={`${done} of ${all} tasks done`}
          parts={taskParts(counts)}
          total={all}
          width={90}
        />
        <span class="faint nowrap">
          {done.toLocaleString("en")} / {all.toLocaleString("en")}
        </span>
      </span>
    </td>
  );
}
