import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { TaskState } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { CallsTable } from "../components/calls-table.js";
import { Chip } from "../components/chip.js";
import { Code } from "../components/code.js";
import { Conversation } from "../components/conversation.js";
import { Empty } from "../components/empty.js";
import { Icon } from "../components/icon.js";
import { Notice } from "../components/notice.js";
import { Sections } from "../components/sections.js";
import { State } from "../components/state.js";
import { Tabs } from "../components/tabs.js";
import { Written } from "../components/written.js";
import { errorWords } from "../lib/api-words.js";
import { conversationOf } from "../lib/conversation.js";
import type { Conversation as ConversationData, PromptTurn } from "../lib/conversation-types.js";
import { hrefOf } from "../lib/route.js";
import { taskTitle, taskWorker } from "../lib/task-words.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import type { TaskDetail } from "../stores/task-detail-store.js";
import type { RunViewProps } from "./run-view-props.js";

const TABS = ["conversation", "input", "output", "calls", "raw"] as const;
type TabName = (typeof TABS)[number];

const TITLES: Readonly<Record<TabName, string>> = {
  conversation: "Conversation",
  input: "Input",
  output: "Output",
  calls: "Calls",
  raw: "Raw",
};

/** The prompts, calls and answers of one task. */
export function Inspector(props: RunViewProps & { readonly taskId: string }): JSX.Element {
  const { run, taskId, onTask } = props;
  const { taskDetail, route, env } = useBoard();
  const [tab, setTab] = useState<TabName>("conversation");
  const [isMarkdown, setMarkdown] = useState(env.local.read("agentensemble.text") !== "plain");
  useEffect(() => {
    taskDetail.watch(run.runId, taskId);
    return () => taskDetail.watch(undefined, undefined);
  }, [run.runId, taskId]);
  const detail = until(taskDetail.current.value, run.untilMs);
  const conversation = useMemo(
    () => conversationOf(detail?.entries ?? []),
    [taskDetail.current.value?.entries, run.untilMs],
  );
  const task = run.view.tasks.get(taskId);
  const { query } = route.current.value;
  const call = Number(query["call"]) || undefined;
  const entry = query["entry"] === undefined ? undefined : Number(query["entry"]);
  useEffect(() => {
    if (entry !== undefined) setTab("conversation");
  }, [taskId, entry]);
  const toggle = (): void => {
    env.local.write("agentensemble.text", isMarkdown ? "plain" : undefined);
    setMarkdown(!isMarkdown);
  };
  return (
    <section class="pane inspector" aria-label="Task">
      {task !== undefined && <TaskHead task={task} onClose={() => onTask(undefined)} />}
      <PartBar
        selected={tab}
        onSelect={setTab}
        calls={task?.calls ?? 0}
        isMarkdown={isMarkdown}
        onToggle={toggle}
      />
      <div id="task-part" class="pane grow" role="tabpanel" aria-label={TITLES[tab]}>
        {detail?.state === "failed" && (
          <Notice kind="failed">{detail.error && errorWords(detail.error)}</Notice>
        )}
        {detail?.state === "loading" && <p class="pane-head muted">Loading …</p>}
        {detail !== undefined && (
          <Part
            {...{ tab, detail, conversation, call, entry, isMarkdown }}
            onCall={(to) => {
              setTab("conversation");
              onTask(taskId, to);
            }}
          />
        )}
      </div>
    </section>
  );
}

interface PartBarProps {
  readonly selected: TabName;
  readonly onSelect: (tab: TabName) => void;
  readonly calls: number;
  readonly isMarkdown: boolean;
  readonly onToggle: () => void;
}

function PartBar(props: PartBarProps): JSX.Element {
  const { selected, onSelect, calls, isMarkdown, onToggle } = props;
  return (
    <div class="row tab-row">
      <Tabs
        label="Parts of the task"
        panel="task-part"
        selected={selected}
        onSelect={onSelect}
        tabs={TABS.map((id) => ({
          id,
          title: TITLES[id],
          extra: id === "calls" && calls > 0 && <span class="count">{calls}</span>,
        }))}
      />
      <button
        type="button"
        class="btn bare"
        aria-label={isMarkdown ? "Markdown" : "Text"}
        title={isMarkdown ? "Markdown is drawn" : "Texts are shown as they are"}
        aria-pressed={isMarkdown}
        onClick={onToggle}
      >
        <span class="only-s">
          <Icon name="doc" />
        </span>
        <span class="hide-s">{isMarkdown ? "Markdown" : "Text"}</span>
      </button>
    </div>
  );
}

function TaskHead({
  task,
  onClose,
}: {
  readonly task: TaskState;
  readonly onClose: () => void;
}): JSX.Element {
  const { route } = useBoard();
  const { path, query } = route.current.value;
  const before = [...task.deps, ...task.after];
  return (
    <div class="pane-head">
      <div class="row">
        <State state={task.state} isIcon />
        <h2 class="grow clip" title={visibleText(task.id)}>
          {taskTitle(task)}
        </h2>
        {task.attempt > 1 && (
          <Chip>{`${task.type === "loop" ? "iteration" : "attempt"} ${task.attempt}`}</Chip>
        )}
        <button
          type="button"
          class="btn bare icon"
          aria-label="Close"
          title="Close (Escape)"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </div>
      <p class="muted">
        {taskWorker({ role: task.role, model: undefined })}
        {task.model !== undefined && ` · ${visibleText(task.model)}`}
        {before.length > 0 && " · after "}
        {before.slice(0, 8).map((id, i) => (
          <span key={id}>
            {i > 0 && ", "}
            <a class="link" href={hrefOf(path, { ...query, task: id, call: undefined })}>
              {visibleText(id)}
            </a>
          </span>
        ))}
        {before.length > 8 && ` and ${before.length - 8} more`}
      </p>
    </div>
  );
}

interface PartProps {
  readonly tab: TabName;
  readonly detail: TaskDetail;
  readonly conversation: ConversationData;
  readonly call: number | undefined;
  readonly entry: number | undefined;
  readonly isMarkdown: boolean;
  readonly onCall: (call: number) => void;
}

function Part(props: PartProps): JSX.Element {
  const { tab, detail, conversation, call, entry, isMarkdown, onCall } = props;
  const { turns, output } = conversation;
  switch (tab) {
    case "conversation":
      return (
        <Conversation key={detail.taskId} {...{ detail, conversation, call, entry, isMarkdown }} />
      );
    case "input":
      return <Input turns={turns} isMarkdown={isMarkdown} />;
    case "calls":
      return <CallsTable turns={turns} onCall={onCall} />;
    case "raw":
      return (
        <div class="scroll pane-head" tabIndex={0} role="group" aria-label="Entries">
          {detail.entries.map((entry) => (
            <details key={entry.n}>
              <summary>
                <code>{entry.n}</code> {entry.type}
              </summary>
              <Code value={entry} />
            </details>
          ))}
        </div>
      );
    case "output":
      if (output === undefined) return <Empty icon="idle" title="No output yet" />;
      return (
        <div class="scroll pane-head" tabIndex={0} role="group" aria-label="Output">
          <Written text={output.text} isMarkdown={isMarkdown} />
          {typeof output.value === "object" && output.value !== null && (
            <details>
              <summary>Value</summary>
              <Code value={output.value} />
            </details>
          )}
        </div>
      );
  }
}

/** Returns the state at an instant. */
function until(detail: TaskDetail | undefined, ms: number | undefined): TaskDetail | undefined {
  if (detail === undefined || ms === undefined) return detail;
  const entries = detail.entries.filter(({ at }) => Date.parse(at) <= ms);
  return { ...detail, entries, writing: "" };
}

/** The prompt of the last attempt. */
function Input({
  turns,
  isMarkdown,
}: {
  readonly turns: ConversationData["turns"];
  readonly isMarkdown: boolean;
}): JSX.Element {
  const prompt = turns.findLast((turn): turn is PromptTurn => turn.kind === "prompt");
  if (prompt === undefined) return <Empty icon="doc" title="No prompt" />;
  return (
    <div class="scroll pane-head" tabIndex={0} role="group" aria-label="Prompt">
      <Sections sections={prompt.sections} system={prompt.system} isOpen isMarkdown={isMarkdown} />
    </div>
  );
}
