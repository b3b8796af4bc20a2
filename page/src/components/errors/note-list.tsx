import type { JSX } from "preact";
import { formatDuration } from "../../lib/format.js";
import type { Trouble } from "../../lib/run/error-cards.js";
import { Icon, type IconName } from "../icon.js";
import { Text } from "../text.js";

export interface NoteListProps {
  readonly notes: readonly Trouble[];
  /** Milliseconds since 1970 of the run's start. */
  readonly startedAtMs: number;
  readonly onTask: (taskId: string) => void;
}

const ICONS: Readonly<Record<string, IconName>> = {
  tool_called: "tool",
  usage_recorded: "model",
  guardrail_refused: "shield",
  output_corrected: "retry",
  delegation_failed: "handoff",
};
const LONGEST = 800;

/** Problems that did not end a task: failed attempts, tool calls, refusals, corrections, limits. */
export function NoteList({ notes, startedAtMs, onTask }: NoteListProps): JSX.Element {
  return (
    <ol class="notes">
      {notes.map(({ n, at, type, taskId, title, code, message }) => (
        <li key={n}>
          <Icon name={ICONS[type] ?? "alert"} />
          <div>
            <div class="row wrap">
              <b>
                <Text>{title}</Text>
              </b>
              {code !== undefined && <code>{code}</code>}
              {taskId !== undefined && (
                <button type="button" class="plain-link" onClick={() => onTask(taskId)}>
                  <Text>{taskId}</Text>
                </button>
              )}
              <span class="grow" />
              <span class="faint nowrap">
                {formatDuration(Math.max(0, Date.parse(at) - startedAtMs))}
              </span>
            </div>
            {message !== "" && (
              <p class="muted prose plain">
                <Text>{message.length > LONGEST ? `${message.slice(0, LONGEST)} …` : message}</Text>
              </p>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
