import type { JSX } from "preact";
import type { EntriesBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { counted } from "../../lib/format.js";
import {
  correctionsOf,
  lastAnswer,
  notStartedBecauseOf,
  type Cause,
  type Trouble,
} from "../../lib/run/error-cards.js";
import { taskTitle } from "../../lib/task-words.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { Chip } from "../chip.js";
import { Code } from "../code.js";
import { Icon } from "../icon.js";
import { Notice } from "../notice.js";
import { State } from "../state.js";
import { Text } from "../text.js";
import { CopyButton } from "./copy-button.js";

export interface ErrorCardProps {
  readonly run: OpenRun;
  readonly trouble: Trouble;
  readonly onTask: (taskId: string) => void;
}

/**
 * A failure: its message, a hint, its causes and the last answer. Also shows the tasks that did not
 * start because of the failure.
 */
export function ErrorCard({ run, trouble, onTask }: ErrorCardProps): JSX.Element {
  const { taskId, code, message, hint, causes } = trouble;
  const path = `/api/runs/${encodeURIComponent(run.runId)}/tasks/${encodeURIComponent(taskId ?? "")}`;
  const fetched = useFetched<EntriesBody>(taskId === undefined ? [] : [path], trouble.n);
  const entries = fetched.kind === "ready" ? fetched.bodies.flatMap((body) => body.entries) : [];
  const answer = lastAnswer(entries);
  return (
    <section class="card error" aria-label={`Error of ${taskId ?? "the run"}`}>
      <header>
        <State state="failed" isIcon />
        <b class="grow">
          <Text>{headline(run, trouble, correctionsOf(entries))}</Text>
        </b>
        {code !== undefined && <code>{code}</code>}
      </header>
      <div class="col body">
        <p class="prose plain">
          <Text>{message}</Text>
        </p>
        {hint !== undefined && (
          <Notice kind="info">
            <b>Hint:</b> <Text>{hint}</Text>
          </Notice>
        )}
        {causes.length > 0 && <Causes causes={causes} />}
        {answer !== undefined && (
          <>
            <h3>The last answer</h3>
            <Code value={answer} limit={4_000} />
          </>
        )}
        <div class="row wrap">
          {taskId !== undefined && (
            <button type="button" class="btn" onClick={() => onTask(taskId)}>
              Show the conversation
            </button>
          )}
          <CopyButton text={JSON.stringify(trouble, undefined, 2)} />
        </div>
        {taskId !== undefined && <Consequences {...{ run, taskId, onTask }} />}
      </div>
    </section>
  );
}

function headline({ view }: OpenRun, { taskId, title }: Trouble, corrections: number): string {
  if (taskId === undefined) return title;
  const { description = "" } = view.tasks.get(taskId) ?? {};
  const after = corrections === 0 ? "" : ` after ${counted(corrections, "correction")}`;
  return `${taskTitle({ id: taskId, description })} ${title}${after}`;
}

function Causes({ causes }: { readonly causes: readonly Cause[] }): JSX.Element {
  return (
    <>
      <h3>Causes</h3>
      <ol class="causes">
        {causes.map(({ code, name, message }, i) => (
          <li key={i} style={{ marginLeft: `${i * 16}px` }}>
            <code>{code ?? name}</code> <Text>{message}</Text>
          </li>
        ))}
      </ol>
    </>
  );
}

const MOST_CHIPS = 12;

interface ConsequencesProps extends Omit<ErrorCardProps, "trouble"> {
  readonly taskId: string;
}

function Consequences({ run, taskId, onTask }: ConsequencesProps): JSX.Element | null {
  const lost = notStartedBecauseOf(taskId, run.view.tasks);
  if (lost.length === 0) return null;
  return (
    <>
      <h3>What follows from it</h3>
      <div class="row wrap">
        {lost.slice(0, MOST_CHIPS).map((id) => (
          <button key={id} type="button" class="chip line" onClick={() => onTask(id)}>
            <Icon name="idle" />
            <Text>{id}</Text> was not started
          </button>
        ))}
        {lost.length > MOST_CHIPS && <Chip>{`${lost.length - MOST_CHIPS} more`}</Chip>}
      </div>
    </>
  );
}
