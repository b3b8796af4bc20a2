import type { JSX } from "preact";
import type { StoredReview } from "../../../src/contracts/review.js";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import { formatAgo, formatCost, formatDuration } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { inputsText, runMs, runName, runWord } from "../lib/run-words.js";
import { tokensText } from "../lib/task-words.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Chip } from "./chip.js";
import { Countdown } from "./countdown.js";
import { Meter, taskCount, taskParts } from "./meter.js";
import { State } from "./state.js";

export interface RunsTableProps {
  readonly runs: readonly RunSummary[];
  /** The row that the keys have reached; -1 for none. */
  readonly place: number;
}

export function RunsTable({ runs, place }: RunsTableProps): JSX.Element {
  const { reviews } = useBoard();
  const waiting = new Map(reviews.pending.value.map((review) => [review.runId, review]));
  return (
    <div class="card table-card">
      <table>
        <thead>
          <tr>
            <th>State</th>
            <th>Ensemble</th>
            <th>Inputs</th>
            <th class="hide-s">Tags</th>
            <th class="num">Started</th>
            <th class="num">Time</th>
            <th>Tasks</th>
            <th class="num">Tokens</th>
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
}

/** Opens the run wherever the row is clicked; its name is the link. */
function RunRow({ run, isHere, review }: RunRowProps): JSX.Element {
  const { clock, route } = useBoard();
  const { runId, totals, counts, tags } = run;
  const nowMs = clock.seconds.value;
  const { done, all } = taskCount(counts);
  const href = hrefOf(["runs", runId]);
  const inputs = inputsText(run.inputs);
  const onClick = (event: MouseEvent): void => {
    if (!(event.target instanceof Element) || event.target.closest("a") === null) route.go(href);
  };
  return (
    <tr onClick={onClick} class="run-row" {...(isHere && { "aria-current": true as const })}>
      <td>
        <State state={run.state} word={runWord(run)} />
      </td>
      <td class="nowrap">
        <a href={href}>
          <b>{runName(run)}</b> <code class="faint">{visibleText(runId.slice(0, 8))}</code>
        </a>
      </td>
      <td class="muted second">
        {inputs !== "" && (
          <div class="clip" title={inputs}>
            {inputs}
          </div>
        )}
        <SecondLine run={run} review={review} />
      </td>
      <td class="hide-s nowrap">
        {Object.entries(tags)
          .slice(0, 2)
          .map(([name, value]) => (
            <Chip key={name}>{`${visibleText(name)}=${visibleText(value)}`}</Chip>
          ))}
      </td>
      <td class="num muted nowrap">{formatAgo(Date.parse(run.startedAt), nowMs)}</td>
      <td class="num nowrap">{formatDuration(runMs(run, nowMs))}</td>
      <td>
        <span class="row">
          <Meter
            label={`${done} of ${all} tasks done`}
            parts={taskParts(counts)}
            total={all}
            width={110}
          />
          <span class="faint nowrap">
            {done.toLocaleString("en")} / {all.toLocaleString("en")}
          </span>
        </span>
      </td>
      <td class="num nowrap">
        {tokensText(totals.inputTokens + totals.outputTokens, totals.unknownCalls)}
      </td>
      <td class="num nowrap">{totals.cost > 0 && formatCost(totals.cost, totals.currency)}</td>
    </tr>
  );
}

/** The question in a line. Of a tool call it is what the call would do. */
function questionOf({ toolName, prompt, taskDescription }: StoredReview): string {
  return toolName === undefined ? (prompt ?? taskDescription) : taskDescription;
}

/** What failed, or what a person is asked. */
function SecondLine({ run, review }: Pick<RunRowProps, "run" | "review">): JSX.Element | null {
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
  const href = hrefOf(["runs", runId], { view: "errors", task: error.taskId });
  return (
    <a class="clip st failed" href={href} title={visibleText(error.message)}>
      {error.code}
      {error.taskId !== undefined && ` in ${visibleText(error.taskId)}`}:{" "}
      {visibleText(error.message)}
    </a>
  );
}
