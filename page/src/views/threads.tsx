import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  ConversationInfo,
  ConversationListBody,
  ThreadBody,
  ThreadInfo,
  ThreadListBody,
} from "../../../src/plugins/dashboard/protocol/thread-bodies.js";
import { Empty } from "../components/empty.js";
import { Notice } from "../components/notice.js";
import { Segments } from "../components/segments.js";
import { Text } from "../components/text.js";
import { ThreadMessages } from "../components/thread-messages.js";
import { useFetched, type Fetched } from "../hooks/use-fetched.js";
import { errorWords } from "../lib/api-words.js";
import { counted, formatAgo } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { titleOrName, visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";

export interface ThreadsProps {
  /** Name of the conversation. Default: the first conversation. */
  readonly name: string | undefined;
  readonly threadId: string | undefined;
  readonly owner: string | undefined;
}

/**
 * The threads of the registered conversations, and the messages of one thread:
 * `#/threads/{conversation}/{thread}?owner=`.
 */
export function ThreadsView({ name, threadId, owner }: ThreadsProps): JSX.Element {
  const state = useFetched<ConversationListBody>(["/api/conversations"]);
  const waiting = words(state);
  if (state.kind !== "ready") return <main class="page">{waiting}</main>;
  const all = state.bodies.flatMap(({ conversations }) => conversations);
  const chosen = name === undefined ? all[0] : all.find((one) => one.name === name);
  if (chosen === undefined)
    return (
      <main class="page">
        <h1>Threads</h1>
        <Empty
          icon="chat"
          title={
            all.length === 0 ? "No conversation is registered" : "There is no such conversation"
          }
        >
          <p>The threads of registered conversations are read here.</p>
          <pre>{'board.registerConversation("support", chat)'}</pre>
        </Empty>
      </main>
    );
  return (
    <main class="fill ensembles threads">
      <ThreadList key={chosen.name} all={all} chosen={chosen} threadId={threadId} owner={owner} />
      <div class="scroll" tabIndex={0} role="group" aria-label="Messages">
        {threadId === undefined ? (
          <Empty icon="chat" title="No thread is chosen" />
        ) : (
          <OneThread key={`${owner}/${threadId}`} name={chosen.name} id={threadId} owner={owner} />
        )}
      </div>
    </main>
  );
}

interface ThreadListProps {
  readonly all: readonly ConversationInfo[];
  readonly chosen: ConversationInfo;
  readonly threadId: string | undefined;
  readonly owner: string | undefined;
}

function ThreadList({ all, chosen, threadId, owner }: ThreadListProps): JSX.Element {
  const { clock, route } = useBoard();
  const [pages, setPages] = useState<readonly string[]>([""]);
  const base = `/api/conversations/${encodeURIComponent(chosen.name)}/threads`;
  const paths = pages.map((after) => `${base}?after=${encodeURIComponent(after)}`);
  const state = useFetched<ThreadListBody>(
    paths.map((path) => path.replace(/\?after=$/, "")),
    useChanges(),
  );
  const bodies = state.kind === "ready" ? state.bodies : [];
  const threads = bodies.flatMap((body) => body.threads);
  const next = bodies.at(-1)?.next;
  return (
    <nav aria-label="Threads">
      <h2 class="pane-head">Threads</h2>
      {all.length > 1 && (
        <Segments
          label="Conversation"
          selected={chosen.name}
          options={all.map((one) => ({ id: one.name, title: chatTitle(one) }))}
          onSelect={(one) => route.go(hrefOf(["threads", one]))}
        />
      )}
      {words(state)}
      {state.kind === "ready" && threads.length === 0 && <p class="muted">No thread is stored.</p>}
      {threads.map((thread) => (
        <a
          key={`${thread.owner}/${thread.id}`}
          href={hrefOf(["threads", chosen.name, thread.id], { owner: thread.owner })}
          {...(thread.id === threadId &&
            thread.owner === owner && {
              "aria-current": "page" as const,
            })}
        >
          <b class="clip">
            <Text>{thread.title ?? thread.id}</Text>
          </b>
          <span class="muted clip">
            {`${counted(thread.turns, "turn")} · ${formatAgo(Date.parse(thread.updatedAt), clock.seconds.value)}`}
            {thread.owner !== undefined && ` · ${visibleText(thread.owner)}`}
          </span>
        </a>
      ))}
      {next !== undefined && (
        <button type="button" class="btn bare" onClick={() => setPages([...pages, next])}>
          More threads
        </button>
      )}
    </nav>
  );
}

function chatTitle(chat: ConversationInfo): string {
  const title = visibleText(titleOrName(chat));
  return chat.process === undefined ? title : `${title} · ${visibleText(chat.process)}`;
}

interface OneThreadProps {
  readonly name: string;
  readonly id: string;
  readonly owner: string | undefined;
}

function OneThread({ name, id, owner }: OneThreadProps): JSX.Element {
  const [pages, setPages] = useState<readonly string[]>([]);
  const base = `/api/conversations/${encodeURIComponent(name)}/threads/${encodeURIComponent(id)}`;
  const query = owner === undefined ? "" : `owner=${encodeURIComponent(owner)}`;
  const paths = ["", ...pages.map((before) => `before=${encodeURIComponent(before)}`)].map(
    (page) => {
      const search = [query, page].filter((part) => part !== "").join("&");
      return search === "" ? base : `${base}?${search}`;
    },
  );
  const state = useFetched<ThreadBody>(paths, useChanges());
  if (state.kind !== "ready") return <div class="thread-head">{words(state)}</div>;
  const [latest] = state.bodies;
  const previous = state.bodies.at(-1)?.previous;
  const messages = [...state.bodies].reverse().flatMap((body) => body.messages);
  return (
    <>
      {latest !== undefined && <ThreadHead thread={latest.thread} />}
      {previous !== undefined && (
        <button type="button" class="btn bare" onClick={() => setPages([...pages, previous])}>
          Earlier messages
        </button>
      )}
      <ThreadMessages messages={messages} />
    </>
  );
}

function ThreadHead({ thread }: { readonly thread: ThreadInfo }): JSX.Element {
  const { id, title, owner, turns, agentRole } = thread;
  return (
    <header class="thread-head">
      <h1 class="clip">
        <Text>{title ?? id}</Text>
      </h1>
      <p class="muted">
        {counted(turns, "turn")}
        {owner !== undefined && ` of ${visibleText(owner)}`}
        {agentRole !== undefined && `, last with ${visibleText(agentRole)}`}
      </p>
    </header>
  );
}

/** Returns a value that changes when a run ends: a turn of a thread may have been stored. */
function useChanges(): string {
  const { runs } = useBoard();
  const ended = runs.list.value.filter(({ endedAt }) => endedAt !== undefined);
  return `${ended.length} ${ended[0]?.runId ?? ""}`;
}

function words(state: Fetched<unknown>): JSX.Element | null {
  if (state.kind === "failed") return <Notice kind="failed">{errorWords(state.error)}</Notice>;
  return state.kind === "loading" ? <p class="muted">Loading …</p> : null;
}
