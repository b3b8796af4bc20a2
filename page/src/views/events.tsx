import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import { Code } from "../components/code.js";
import { Icon } from "../components/icon.js";
import { Notice } from "../components/notice.js";
import { Text } from "../components/text.js";
import { VirtualRows } from "../components/virtual-rows.js";
import { useEntries } from "../hooks/use-entries.js";
import { errorWords } from "../lib/api-words.js";
import { counted, formatDuration } from "../lib/format.js";
import { entryLine, filtered, typesOf } from "../lib/run/event-lines.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import { MOST_ENTRIES } from "../stores/run-log-store.js";
import type { RunViewProps } from "./run-view-props.js";

const ROW = 28;
const NONE: readonly LogEntry[] = [];

/** The log of the run, with filters by type and text. */
export function EventsView({ run, taskId }: RunViewProps): JSX.Element {
  const { runLog } = useBoard();
  const { runId } = run;
  const [type, setType] = useState("");
  const [text, setText] = useState("");
  const [opened, setOpened] = useState<number>();
  useEffect(() => {
    runLog.follow(runId);
    return () => runLog.follow(undefined);
  }, [runId]);
  const log = runLog.current.value;
  const entries = log?.runId === runId ? log.entries : NONE;
  const types = useMemo(() => typesOf(entries), [entries]);
  const shown = useMemo(
    () => filtered(entries, { types: new Set(type === "" ? [] : [type]), text, taskId }),
    [entries, type, text, taskId],
  );
  return (
    <div class="pane grow events">
      <Filter
        {...{ types, type, setType, text, setText }}
        status={`${log?.state === "loading" ? "loading … " : ""}${counted(shown.length, "event")}${taskId === undefined ? "" : ` of ${taskId}`}`}
      />
      {log?.state === "failed" && (
        <Notice kind="failed" isUrgent action={<RetryButton />}>
          {log.error && errorWords(log.error)}
        </Notice>
      )}
      {log?.isCut === true && (
        <Notice kind="waiting">{`Only the first ${MOST_ENTRIES.toLocaleString("en")} events are shown.`}</Notice>
      )}
      <EventRows {...{ run, shown, opened, setOpened }} />
      {opened !== undefined && (
        <OpenedEvent run={run} n={opened} onClose={() => setOpened(undefined)} />
      )}
    </div>
  );
}

interface FilterProps {
  readonly types: ReturnType<typeof typesOf>;
  readonly type: string;
  readonly setType: (type: string) => void;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly status: string;
}

function Filter({ types, type, setType, text, setText, status }: FilterProps): JSX.Element {
  return (
    <div class="row pane-bar wrap">
      <select
        aria-label="Type"
        value={type}
        onChange={(event) => setType(event.currentTarget.value)}
      >
        <option value="">all types</option>
        {types.map(({ type: name, count }) => (
          <option key={name} value={name}>{`${name} (${count})`}</option>
        ))}
      </select>
      <label class="find">
        <Icon name="search" />
        <input
          aria-label="Text in events"
          placeholder="Text in events"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <span class="grow" />
      <span class="faint" role="status">
        {status}
      </span>
    </div>
  );
}

function RetryButton(): JSX.Element {
  const { runLog } = useBoard();
  return (
    <button type="button" class="btn" onClick={() => runLog.retry()}>
      Try again
    </button>
  );
}

interface EventRowsProps {
  readonly run: OpenRun;
  readonly shown: readonly LogEntry[];
  readonly opened: number | undefined;
  readonly setOpened: (n: number) => void;
}

function EventRows({ run, shown, opened, setOpened }: EventRowsProps): JSX.Element {
  const startedAt = Date.parse(run.view.summary.startedAt);
  return (
    <VirtualRows
      label="Events"
      role="list"
      count={shown.length}
      rowHeight={ROW}
      row={(i, style) => {
        const entry = shown[i];
        if (entry === undefined) return null;
        const { n, at, type, taskId = "" } = entry;
        return (
          <div key={n} role="listitem" style={style}>
            <button
              type="button"
              class="ev-row"
              aria-current={n === opened ? "true" : undefined}
              onClick={() => setOpened(n)}
            >
              <span class="faint num">{n}</span>
              <span class="faint num">{formatDuration(Date.parse(at) - startedAt)}</span>
              <b class="clip">{type}</b>
              <span class="clip muted">
                <Text>{taskId}</Text>
              </span>
              <span class="clip faint mono">
                <Text>{entryLine(entry)}</Text>
              </span>
            </button>
          </div>
        );
      }}
    />
  );
}

interface OpenedEventProps {
  readonly run: OpenRun;
  readonly n: number;
  readonly onClose: () => void;
}

/** One event with all its fields. */
function OpenedEvent({ run, n, onClose }: OpenedEventProps): JSX.Element {
  const numbers = useMemo(() => [n], [n]);
  const { entries, error } = useEntries(run.runId, numbers);
  const entry = entries.find((one) => one.n === n);
  return (
    <section class="ev-open" aria-label={`Event ${n}`}>
      <div class="row">
        <h3 class="grow">Event {n}</h3>
        <button type="button" class="btn bare icon" aria-label="Close the event" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {error !== undefined && <Notice kind="failed">{errorWords(error)}</Notice>}
      {entry === undefined ? <p class="muted">Loading …</p> : <Code value={entry} />}
    </section>
  );
}
