import type { JSX } from "preact";
import { Empty } from "../components/empty.js";
import { ErrorCard } from "../components/errors/error-card.js";
import { NoteList } from "../components/errors/note-list.js";
import { Notice } from "../components/notice.js";
import { Text } from "../components/text.js";
import { useEntries } from "../hooks/use-entries.js";
import { errorWords } from "../lib/api-words.js";
import { troubleOf, type Trouble } from "../lib/run/error-cards.js";
import type { RunViewProps } from "./run-view-props.js";

/** Maximum number of failures with their conversations. Each conversation needs a request. */
const MOST_CARDS = 10;

/**
 * The problems of a run: failures first, then events after which the run continued, then warnings.
 */
export function ErrorsView({ run, onTask }: RunViewProps): JSX.Element {
  const { errors, summary } = run.view;
  const { entries, isLoading, error } = useEntries(run.runId, errors);
  const troubles = entries.map(troubleOf);
  const startedAtMs = Date.parse(summary.startedAt);
  const failures = failuresOf(troubles);
  const notes = troubles.filter(({ weight }) => weight === "note");
  const warnings = troubles.filter(({ weight }) => weight === "warning");
  const isCut = !isLoading && troubles.length < errors.length;
  return (
    <div class="scroll errors" tabIndex={0} role="group" aria-label="Errors">
      {errors.length === 0 && (
        <Empty icon="done" title="Nothing went wrong">
          <p>Failures, refusals, corrections and warnings of the run are listed here.</p>
        </Empty>
      )}
      {error !== undefined && (
        <Notice kind="failed" isUrgent>
          {errorWords(error)}
        </Notice>
      )}
      {errors.length > 0 && isLoading && error === undefined && <p class="muted">Loading …</p>}
      {isCut && (
        <p class="faint">{`The last ${troubles.length} of ${errors.length} are shown; the view Events has all of them.`}</p>
      )}
      {failures.slice(0, MOST_CARDS).map((trouble) => (
        <ErrorCard key={trouble.n} {...{ run, trouble, onTask }} />
      ))}
      {failures.length > MOST_CARDS && (
        <section aria-label="Further failures">
          <h3>Further failures</h3>
          <NoteList notes={failures.slice(MOST_CARDS)} {...{ onTask, startedAtMs }} />
        </section>
      )}
      {notes.length > 0 && (
        <section aria-label="What the run went on with">
          <h3>What the run went on with</h3>
          <NoteList {...{ notes, onTask, startedAtMs }} />
        </section>
      )}
      {warnings.length > 0 && (
        <section class="col" aria-label="Warnings">
          <h3>Warnings</h3>
          {warnings.map(({ n, message }) => (
            <Notice key={n} kind="waiting">
              <Text>{message}</Text>
            </Notice>
          ))}
        </section>
      )}
    </div>
  );
}

/**
 * Returns failures of tasks, the latest first. If no task failed, returns the failure of the run.
 */
function failuresOf(troubles: readonly Trouble[]): readonly Trouble[] {
  const failures = troubles.filter(({ weight }) => weight === "failed").toReversed();
  const ofTasks = failures.filter(({ taskId }) => taskId !== undefined);
  return ofTasks.length > 0 ? ofTasks : failures;
}
